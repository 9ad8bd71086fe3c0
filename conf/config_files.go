package conf

import "slices"

// FilesConfig is what the directives say of files on disk.
type FilesConfig struct {
	// Servers are the main server and the virtual hosts, in the order of
	// Config.VHosts. A virtual host has what it inherits.
	Servers []FilesServer
	// Directories are the sections [directory] and [files], in file order. For a
	// file those whose directory holds it apply, the shorter path first, then
	// those of [files], and then the locations of its URL.
	Directories []Directory
	// Types is what TypesConfig's file says, the farthest of all.
	Types FileTypes

	Line int // where the first of the directives stands
}

// Any tells whether a file is served at all: there is a DocumentRoot or an Alias.
func (f *FilesConfig) Any() bool {
	return f != nil && slices.ContainsFunc(f.Servers, func(s FilesServer) bool { return s.DocumentRoot != "" || len(s.Aliases) > 0 })
}

// FilesServer is what the main server or a virtual host says.
type FilesServer struct {
	DocumentRoot string // absolute, "" for none
	// Aliases are Alias and AliasMatch in the order in which they are tried:
	// those of a virtual host, then those of the main server.
	Aliases []Alias
	Rules   FileRules
}

// Alias is one Alias or AliasMatch: what a URL path stands for on disk.
type Alias struct {
	Path  string // or, with Match, a regular expression
	Match bool
	// File is the absolute path that Path is replaced by. With Match it may
	// contain $0 to $9 behind a directory that is the same for all.
	File string
	Line int
}

// Directory is a section [directory PATH] or [files NAME].
type Directory struct {
	VHost int // 0: of every server, else the place in Config.VHosts plus 1
	// Path is an absolute path in which '*' and '?' do not stand for a '/', or
	// with Files the pattern of a file's name, or with Match a regular
	// expression for either.
	Path         string
	Files, Match bool
	// Within is the directory, absolute and with '*' and '?' as in Path, that the
	// files are in, or below; "" for everywhere.
	Within string
	Rules  FileRules
	Access Access
	Answers
	Line int
}

// FileRules are what a server, a directory or a location says about files. What
// a nearer one says counts.
type FileRules struct {
	Options FileOptions
	// Index is DirectoryIndex: names or paths, in the order in which they are
	// looked for; "disabled" alone for none. Nil says nothing.
	Index []string
	Types FileTypes
	// Precompressed is PrecompressedFiles: "br", "gzip" and "zstd" in the order
	// in which they are preferred; NotPrecompressed alone for none. Nil says
	// nothing.
	Precompressed []string
}

// FileTypes is what is said of the content of files. What a nearer section says
// counts. Extensions are in lower case and have no dot.
type FileTypes struct {
	Types    map[string]string // AddType, by extension
	Charsets map[string]string // AddCharset, by extension
	Codings  map[string]string // AddEncoding, by extension
	Force    string            // ForceType; "none" takes back a farther one
	Default  string            // DefaultType, of unknown extensions; "none" sends no type
	// DefaultCharset is AddDefaultCharset, of text/plain and text/html without a
	// character set; NoCharset for none.
	DefaultCharset string
}

// NoCharset is AddDefaultCharset Off, and NotPrecompressed PrecompressedFiles Off.
const (
	NoCharset        = "off"
	NotPrecompressed = "off"
)

// Empty tells that nothing is said.
func (t *FileTypes) Empty() bool {
	return len(t.Types) == 0 && len(t.Charsets) == 0 && len(t.Codings) == 0 && t.Force == "" && t.Default == "" && t.DefaultCharset == ""
}

// Empty tells that nothing is said.
func (r *FileRules) Empty() bool {
	return r.Options == FileOptions{} && r.Index == nil && r.Precompressed == nil && r.Types.Empty()
}

// FileOption is a set of the words of Options.
type FileOption uint8

const (
	Indexes FileOption = 1 << iota
	FollowSymLinks
	SymLinksIfOwnerMatch
)

// FileOptions is directive Options. The zero value says nothing.
type FileOptions struct {
	// Reset tells that what was inherited does not count: the words had no
	// signs.
	Reset       bool
	Add, Remove FileOption
}

// Over returns the options of what inherits base.
func (o FileOptions) Over(base FileOption) FileOption {
	if o.Reset {
		base = 0
	}
	return (base | o.Add) &^ o.Remove
}
