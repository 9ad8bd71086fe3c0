package conf

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jkd/conf/apache"
)

// apacheVersion is what IfVersion is told.
const apacheVersion = "2.4.62"

// InApache tells whether a file is in Apache's language: its first line that
// says something is neither a [section] nor "key = value".
func InApache(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		line = bytes.Trim(line, blanks+"\n")
		if len(line) == 0 || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, _, pair := bytes.Cut(line, []byte("="))
		return line[0] != '[' && !(pair && plain(string(bytes.Trim(key, blanks)))) && utf16Mark(line) == ""
	}
	return false
}

func utf16Mark(line []byte) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return mark
		}
	}
	return ""
}

// httpd turns a tree of Apache's directives into the sections of jkd.conf.
type httpd struct {
	p     *parser
	tree  *apache.Tree
	files map[string]int // the place of a file in tree.Files

	server, prefork, worker, jk, jk2, proxy, status *Section
	proxies                                         []*Section // [proxy URL]
	hosts                                           []*host
	places                                          []*Section // locations and directories, in file order

	mpm     string                      // Prefork or Worker
	numbers []*apache.Directive         // of the MPM, outside of IfModule
	formats map[*host]map[string]string // LogFormat of each server
	plain   map[*host]string            // LogFormat without a nickname, for TransferLog
	said    map[string]bool             // remarks that one is enough of
	noted   map[string]*notedAt
	extra   []*apache.Directive          // ExtendedStatus
	modules map[string]*apache.Directive // LoadModule by module
	taken   map[string]*apache.Directive // virtual hosts by NAME:PORT
}

// host is a virtual host; the main server is nil.
type host struct {
	*Section
	name string // NAME[:PORT]
	port int
	at   *apache.Directive
}

// context is where a directive stands.
type context struct {
	kind    contextKind
	host    *host             // nil for the main server
	at      *Section          // of a location, directory or proxy
	path    string            // of a location
	match   bool              // it is a regular expression
	section *apache.Directive // nil outside of all
	status  bool              // SetHandler server-status
}

type contextKind uint8

const (
	inServer contextKind = iota
	inVHost
	inLocation
	inDirectory // and Files
	inProxy     // <Proxy URL>
	inNothing   // a section that is of no use
)

func (k contextKind) String() string {
	return [...]string{"the server", "<VirtualHost>", "<Location>", "<Directory>", "<Proxy>", "nothing"}[k]
}

// readHTTPD is ReadSections for Apache's language.
func (p *parser) readHTTPD(path string, data []byte, o Options) *Sections {
	h := &httpd{
		p: p, files: map[string]int{}, formats: map[*host]map[string]string{}, plain: map[*host]string{},
		said: map[string]bool{}, noted: map[string]*notedAt{}, modules: map[string]*apache.Directive{}, taken: map[string]*apache.Directive{},
		server: &Section{Name: serverSection}, prefork: &Section{Name: "mpm.prefork"}, worker: &Section{Name: "mpm.worker"},
		jk: &Section{Name: jkSection}, jk2: &Section{Name: jk2Section}, proxy: &Section{Name: proxySection}, status: &Section{Name: statusSection},
	}
	p.titles, p.httpd = map[int]string{}, true
	root := "."
	if abs, err := filepath.Abs(path); err == nil {
		root = filepath.Dir(abs)
	}
	h.tree = apache.Read(path, data, root, apache.Options{
		Env: os.LookupEnv,
		Leave: func(directive, name string) bool {
			return name == "serverRoot" && strings.HasPrefix(strings.ToLower(directive), "jkset")
		},
		Module:    apacheModule,
		MPM:       mpmModule(o.MPM, Prefork),
		FixMPM:    o.MPM != "",
		Version:   apacheVersion,
		Directive: func(name string) bool { return knownDirective(strings.ToLower(name)) },
		Section:   func(name string) bool { return slices.Contains(apacheSections, strings.ToLower(name)) },
		Find:      findIncluded,
		Read:      readFile,
	})
	for i, file := range h.tree.Files {
		h.files[file] = i
		if i > 0 {
			p.cfg.Included = append(p.cfg.Included, file)
		}
	}
	for _, n := range h.tree.Faults {
		p.errs = append(p.errs, &Error{File: p.file, Line: h.line(n.Place), Key: n.Key, Msg: n.Text})
	}
	p.syntax = len(p.errs) > 0
	for _, n := range h.tree.Remarks {
		p.warn(h.line(n.Place), n.Key, "%s", n.Text)
	}
	h.modulesOf(h.tree.Directives)
	h.chooseMPM(o)
	h.walk(h.tree.Directives, context{})
	return h.sections()
}

// sections returns what was found, in the order in which a person would write
// it.
func (h *httpd) sections() *Sections {
	h.countNotes()
	h.addNumbers()
	h.addStatus()
	h.dropAliases()
	h.addDefaultHosts()
	out := &Sections{File: h.p.file}
	for _, s := range []*Section{h.server, h.prefork, h.worker, h.jk, h.jk2, h.proxy} {
		if s == h.jk && len(s.Pairs) == 0 && h.anyJk() {
			s.Line = h.firstJk()
		}
		if len(s.Pairs) > 0 || s.Line > 0 {
			if s.Line == 0 {
				s.Line = s.Pairs[0].Line
			}
			// The title is that of a line, and there is a directive in it.
			out.Sections = append(out.Sections, *s)
		}
	}
	for _, s := range h.proxies {
		out.Sections = append(out.Sections, *s)
	}
	if len(h.status.Pairs) > 0 {
		out.Sections = append(out.Sections, *h.status)
	}
	for _, v := range h.hosts {
		out.Sections = append(out.Sections, *v.Section)
	}
	for _, s := range h.places {
		out.Sections = append(out.Sections, *s)
	}
	return out
}

// anyJk tells whether a virtual host or a location has a directive of mod_jk,
// which needs the section that mod_jk's others would be in.
func (h *httpd) anyJk() bool { return h.firstJk() > 0 }

func (h *httpd) firstJk() int {
	jk := func(s *Section) int {
		for _, p := range s.Pairs {
			if key := strings.ToLower(p.Key); strings.HasPrefix(key, "jk") && key != "jkuriset" {
				return p.Line
			}
		}
		return 0
	}
	for _, v := range h.hosts {
		if n := jk(v.Section); n > 0 {
			return n
		}
	}
	for _, s := range h.places {
		if n := jk(s); n > 0 {
			return n
		}
	}
	return 0
}

// walk goes through the directives of a context.
func (h *httpd) walk(list []*apache.Directive, in context) {
	for _, d := range list {
		switch {
		case d.Skipped:
			h.skipped(d, in)
		case d.Section:
			h.section(d, in)
		default:
			h.directive(d, in)
		}
	}
}

// words are the arguments of a directive; ok is false when they are faulty,
// which is then reported.
func (h *httpd) words(d *apache.Directive) (args []string, ok bool) {
	args, err := apache.Words(d.Args)
	if err != nil {
		h.fail(d, "%s", err)
	}
	return args, err == nil
}

// add puts a directive into a section, its arguments written as that wants them.
func (h *httpd) add(s *Section, d *apache.Directive) {
	if args, ok := h.words(d); ok {
		h.put(s, d, d.Name, args...)
	}
}

// put adds a pair with these arguments.
func (h *httpd) put(s *Section, d *apache.Directive, key string, args ...string) {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quoteIni(a)
	}
	h.pair(s, d, key, strings.Join(quoted, " "))
}

func (h *httpd) pair(s *Section, d *apache.Directive, key, value string) {
	s.Pairs = append(s.Pairs, Pair{Key: key, Value: value, Line: h.line(d.Place)})
}

// quoteIni writes an argument so that a value of jkd.conf has it again.
func quoteIni(s string) string {
	if s != "" && s[0] != '`' && strings.TrimSpace(s) == s && !strings.ContainsAny(s, blanks+`"'`) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
