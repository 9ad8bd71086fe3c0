package conf

// FilesConfig is what the directives say of files on disk.
type FilesConfig struct {
	// Servers are the main server and the virtual hosts, in the order of
	// Config.VHosts. A virtual host has what it inherits.
	Servers []FilesServer
	// Directories are the sections [directory] and [files], in file order. For a
	// file those whose directory holds it apply, the shorter path first, then
	// those of [files], and then the locations of its URL.
	Directories []Directory

	Line int // where the first of them stands
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
	// contain $0 to $9 and then need not be absolute before they are replaced.
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
	Rules        FileRules
	Access       Access
	Line         int
}

// FileRules are what a server, a directory or a location says about files. What
// a nearer one says counts.
type FileRules struct {
	Options FileOptions
	// Index is DirectoryIndex: names or paths, in the order in which they are
	// looked for; "disabled" alone for none. Nil says nothing.
	Index []string
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
