package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// filesSettings are the directives about files of one server as they were read.
type filesSettings struct {
	root    string
	aliases []Alias
	rules   FileRules
}

func (s *filesSettings) over(base FilesServer) FilesServer {
	if s.root != "" {
		base.DocumentRoot = s.root
	}
	base.Aliases = slices.Concat(s.aliases, base.Aliases)
	base.Rules = s.rules.over(base.Rules)
	return base
}

// over is what counts where r is said below base.
func (r FileRules) over(base FileRules) FileRules {
	switch o := r.Options; {
	case o.Reset:
		base.Options = o
	default:
		base.Options.Add = base.Options.Add&^o.Remove | o.Add
		base.Options.Remove = base.Options.Remove&^o.Add | o.Remove
	}
	if r.Index != nil {
		base.Index = r.Index
	}
	if r.Precompressed != nil {
		base.Precompressed = r.Precompressed
	}
	base.Types = r.Types.over(base.Types)
	return base
}

// addFiles adds what the main server and a virtual host may say.
func addFiles(t table) {
	t.add(directive{name: "DocumentRoot", set: func(p *parser, g given) error {
		dir, err := unquote(g.Value)
		if err == nil && dir == "" {
			err = errors.New("the path is empty")
		}
		if err != nil {
			return err
		}
		if dir = p.path(dir); !isDir(p.chrooted(dir)) {
			p.warn(g.Line, g.Key, "the directory %s does not exist", dir)
		}
		p.aboutFiles(g)
		g.in.server.files.root = dir
		return nil
	}})
	t.add(directive{name: "Alias", many: true, set: setAlias(false)})
	t.add(directive{name: "AliasMatch", many: true, set: setAlias(true)})
	addFileRules(t, func(g given) *FileRules { return &g.in.server.files.rules })
}

// aboutFiles notes the first directive about files.
func (p *parser) aboutFiles(g given) {
	if p.file1.Line == 0 {
		p.file1 = g
	}
}

func setAlias(match bool) func(*parser, given) error {
	return func(p *parser, g given) error {
		args, err := arguments(g, 2, "needs the path of URLs and the path of a directory or file")
		if err != nil {
			return err
		}
		a := Alias{Path: args[0], Match: match, File: args[1], Line: g.Line}
		switch {
		case match:
			if err := regularExpression(a.Path); err != nil {
				return err
			}
			if strings.HasPrefix(a.File, "$") {
				return errors.New("the file must begin with the path of a directory: nothing outside of that is served")
			}
		case !strings.HasPrefix(a.Path, "/"):
			return fmt.Errorf("the path %q does not begin with '/'", a.Path)
		}
		slash := strings.HasSuffix(a.File, "/")
		if a.File = p.path(a.File); slash && a.File != "/" {
			a.File += "/" // which the path of URLs then has too
		}
		p.aboutFiles(g)
		g.in.server.files.aliases = append(g.in.server.files.aliases, a)
		return nil
	}
}

// addFileRules adds what a directory and a location may say too.
func addFileRules(t table, where func(given) *FileRules) {
	addFileTypes(t, where)
	t.add(directive{name: "DirectoryIndex", many: true, set: func(p *parser, g given) error {
		args, err := words(g.Value)
		if err != nil {
			return err
		}
		p.aboutFiles(g)
		if slices.Contains(args, "") {
			return errors.New("a name is empty")
		}
		r := where(g)
		if len(args) == 1 && strings.EqualFold(args[0], "disabled") {
			r.Index = []string{"disabled"}
			return nil
		}
		if slices.Equal(r.Index, []string{"disabled"}) {
			r.Index = nil
		}
		r.Index = append(r.Index, args...) // several lines add up, as in Apache
		return nil
	}})
	t.add(directive{name: "Options", many: true, set: func(p *parser, g given) error {
		args, err := words(g.Value)
		if err != nil {
			return err
		}
		signs := 0
		o := FileOptions{}
		for _, a := range args {
			word := strings.TrimLeft(a, "+-")
			if len(word) < len(a) {
				signs++
			}
			bits, err := p.fileOption(g, word)
			if err != nil {
				return err
			}
			if strings.HasPrefix(a, "-") {
				o.Add, o.Remove = o.Add&^bits, o.Remove|bits
			} else {
				o.Add, o.Remove = o.Add|bits, o.Remove&^bits
			}
		}
		if signs > 0 && signs < len(args) {
			return errors.New("either all words have a sign or none")
		}
		o.Reset = signs == 0
		p.aboutFiles(g)
		r := where(g)
		r.Options = FileRules{Options: o}.over(FileRules{Options: r.Options}).Options
		return nil
	}})
	t.add(directive{name: "AllowOverride", set: func(p *parser, g given) error {
		args, err := words(g.Value)
		if err != nil {
			return err
		}
		if len(args) != 1 || !strings.EqualFold(args[0], "none") {
			p.info(g.Line, g.Key, "has no effect: .htaccess is never read")
		}
		return nil
	}})
}

// fileOption reads one word of Options. Those that concern what jkd does not do
// are remarked upon.
func (p *parser) fileOption(g given, word string) (FileOption, error) {
	known := map[string]FileOption{"indexes": Indexes, "followsymlinks": FollowSymLinks, "symlinksifownermatch": SymLinksIfOwnerMatch}
	lower := strings.ToLower(word)
	if bits, ok := known[lower]; ok {
		return bits, nil
	}
	switch lower {
	case "none":
		return 0, nil
	case "all":
		return Indexes | FollowSymLinks, nil
	case "multiviews", "includes", "includesnoexec", "execcgi":
		p.info(g.Line, g.Key, "%s has no effect: jkd negotiates nothing and runs neither includes nor CGI programs", word)
		return 0, nil
	}
	return 0, fmt.Errorf("unknown option %q%s", word, DidYouMean(word, []string{"Indexes", "FollowSymLinks", "SymLinksIfOwnerMatch", "None", "All"}))
}

// directorySettings is a section [directory] or [files] in the making.
type directorySettings struct {
	Directory
	vhost string
	title string
}

func directoryTable() table {
	t := table{}
	addFileRules(t, func(g given) *FileRules { return &g.in.directory.Rules })
	addAccess(t, func(s *scope) *Access { return &s.directory.Access })
	addErrorDocument(t)
	addHeader(t, "Header")
	return t
}

// files makes Config.Files when all sections are read.
func (p *parser) files() {
	if p.file1.Line == 0 && len(p.directories) > 0 {
		d := p.directories[0]
		p.file1 = given{Pair: Pair{Key: d.title, Line: d.Line}}
	}
	if p.file1.Line == 0 {
		return
	}
	f := &FilesConfig{Line: p.file1.Line, Types: FileTypes{Types: p.types}, Servers: []FilesServer{p.servers[0].files.over(FilesServer{})}}
	for _, s := range p.servers[1:] {
		f.Servers = append(f.Servers, s.files.over(f.Servers[0]))
	}
	for _, d := range p.directories {
		if d.VHost = p.belongs(d.vhost, d.title, d.Line); d.VHost < 0 {
			continue
		}
		f.Directories = append(f.Directories, d.Directory)
	}
	p.cfg.Files = f
}
