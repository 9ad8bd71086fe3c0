package conf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Options are what the command line says over the file.
type Options struct {
	// MPM replaces directive MPM when it is not empty.
	MPM string
}

// MaxFile is the largest configuration file that is read, in bytes.
const MaxFile = 8 << 20

// Load reads a configuration file and the connector files it names. It returns
// a usable configuration or [Errors]; the warnings are valid in both cases.
// The configuration that comes with Errors is nil, or, if none of them is in
// the syntax or about the connector's workers, one whose Jk can be judged:
// nothing may be run with it, but the connector can report its faults too.
// Nothing is written, created, resolved over the network or listened on.
func Load(path string, o Options) (*Config, []Warning, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, Errors{{File: path, Msg: err.Error()}}
	}
	return Parse(path, data, o)
}

// Parse is [Load] with the text of the file given. path tells where relative
// paths start and is used in messages; it need not exist.
func Parse(path string, data []byte, o Options) (*Config, []Warning, error) {
	cfg, _, warnings, err := parseSections(path, data, o)
	return cfg, warnings, err
}

// parseSections is [Parse] with the sections that the configuration was read from.
func parseSections(path string, data []byte, o Options) (*Config, *Sections, []Warning, error) {
	p := &parser{file: path, cfg: Defaults(), first: map[string]given{}, servers: []*server{{}}}
	abs, err := filepath.Abs(path)
	if err == nil && !utf8.ValidString(abs) {
		err = errors.New("the path of the file is not UTF-8 text")
	}
	if err != nil {
		return nil, nil, nil, Errors{{File: path, Msg: err.Error()}}
	}
	p.cfg.Path = abs
	sections := p.readSections(path, data, o)
	p.root(sections)
	p.jail(sections)
	for i := range sections.Sections {
		p.section(&sections.Sections[i])
	}
	p.finish(o)
	p.cfg.Locate(p.errs, p.warnings)
	SortWarnings(p.warnings)
	if err := p.errs.Err(); err != nil {
		if p.syntax || p.connector || p.cfg.Jk == nil {
			p.cfg = nil
		}
		return p.cfg, sections, p.warnings, err
	}
	return p.cfg, sections, p.warnings, nil
}

// readSections reads the file in the language it is in.
func (p *parser) readSections(path string, data []byte, o Options) *Sections {
	if InApache(data) {
		return p.readHTTPD(path, data, o)
	}
	sections, errs := ReadSections(path, data)
	p.errs, p.syntax = errs, len(errs) > 0
	return sections
}

// given is a pair together with the directive it is for.
type given struct {
	Pair
	in  *scope
	dir *directive
}

// parser fills one Config.
type parser struct {
	file string
	cfg  *Config
	// syntax: there are lines nobody could read.
	syntax bool
	// connector: there are faults in what tells the connector of its workers.
	// What it would say of the rest could follow from these alone.
	connector bool
	errs      Errors
	warnings  []Warning
	// first is the latest pair of each directive, by section and current
	// name.
	first map[string]given

	// jk2From is the pair that names workers2.properties.
	jk2From given

	// servers are the main server and the virtual hosts.
	servers     []*server
	locations   []*location
	directories []*directorySettings
	file1       given             // the first directive about files
	types       map[string]string // of TypesConfig
	// titles are the names of sections that are not those of their headers, by
	// line.
	titles  map[int]string
	httpd   bool // the file is in Apache's language
	logs    []customLog
	formats map[string]int // where each nickname of LogFormat is
}

func (p *parser) fail(g given, format string, args ...any) {
	p.connector = p.connector || g.in != nil && needed(g)
	p.errs = append(p.errs, &Error{File: p.file, Line: g.Line, Key: g.Key, Msg: fmt.Sprintf(format, args...)})
}

// needed tells whether the connector misses a line: a mount that could not be
// read is none, and an unsupported directive means nothing, but what tells of
// workers does, and an unknown name in its section may be any.
func needed(g given) bool {
	if g.dir == nil {
		_, known := unsupported[strings.ToLower(g.Key)]
		return g.in.section == jkSection && !known
	}
	switch g.dir.name {
	case "JkWorkersFile", "JkWorkerProperty", "JkMountFile":
		return true
	}
	return false
}

func (p *parser) warn(line int, key, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{File: p.file, Line: line, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// info is a remark that asks for nothing.
func (p *parser) info(line int, key, format string, args ...any) {
	p.warnings = append(p.warnings, Warning{Severity: Info, File: p.file, Line: line, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// root settles ServerRoot before anything that depends on it is read.
func (p *parser) root(s *Sections) {
	p.cfg.Server.ServerRoot = filepath.Dir(p.cfg.Path)
	for _, pair := range s.Get("server") {
		if !strings.EqualFold(pair.Key, "ServerRoot") {
			continue
		}
		if dir, err := unquote(pair.Value); err == nil && dir != "" {
			p.cfg.Server.ServerRoot = p.path(dir)
		}
	}
}

// path makes a path of the file absolute.
func (p *parser) path(s string) string {
	if filepath.IsAbs(s) {
		return filepath.Clean(s)
	}
	return filepath.Join(p.cfg.Server.ServerRoot, s)
}

func (p *parser) section(s *Section) {
	if s.Name == "" {
		return // its header is reported already
	}
	name, args, err := splitHeader(s.Name)
	table, ok := directives()[name]
	switch {
	case !ok:
		p.header(s, errors.New(unknownSection(name)))
		return
	case err != nil:
		p.header(s, err)
		return
	}
	if name == jkSection && p.cfg.Jk == nil {
		p.cfg.Jk = &Jk{}
	}
	if name == jk2Section && p.cfg.Jk2 == nil {
		p.cfg.Jk2 = &Jk2{Line: s.Line}
	}
	if name == statusSection && p.cfg.Status == nil {
		p.cfg.Status = &Status{AuthName: DefaultAuthName, ExtendedStatus: true, Line: s.Line}
	}
	in := p.open(name, args, s)
	id := name
	switch name {
	case vhostSection, locationSection, directorySection, filesSection:
		id = fmt.Sprintf("%s %d", s.Name, s.Line) // no two of them are one section
	}
	for _, pair := range s.Pairs {
		d, ok := table[strings.ToLower(pair.Key)]
		g := given{Pair: pair, in: in, dir: d}
		switch {
		case !ok:
			p.fail(g, "%s", unknownDirective(in, pair.Key))
			continue
		case pair.Value == "":
			p.fail(g, "the value is missing")
			continue
		}
		key := id + " " + d.name
		if before, again := p.first[key]; again && !d.many {
			if d.once {
				p.fail(g, "may be given once only; it is in %s too", p.at(before.Line))
				continue
			}
			p.warn(g.Line, g.Key, "given again: this one counts, not %s of %s", Printable(before.Value), p.at(before.Line))
		}
		p.first[key] = g
		if err := d.set(p, g); err != nil {
			p.fail(g, "%s", err)
		}
	}
}

func unknownSection(name string) string {
	var all []string
	for _, s := range sectionNames {
		all = append(all, sectionTitle(s))
	}
	return "unknown section" + DidYouMean(name, sectionNames) + " (there are " + strings.Join(all, ", ") + ")"
}

// sectionTitle is the header of a section with what must follow its name.
func sectionTitle(section string) string {
	switch section {
	case vhostSection:
		return "[vhost NAME]"
	case locationSection:
		return "[location PATH]"
	case directorySection:
		return "[directory PATH]"
	case filesSection:
		return "[files NAME]"
	}
	return "[" + section + "]"
}

func unknownDirective(in *scope, key string) string {
	lower := strings.ToLower(key)
	if in.section == vhostSection && lower == "servername" {
		return "stands in the header of the section: [vhost NAME]; further names are ServerAlias"
	}
	var at []string
	for _, other := range sectionNames {
		if _, ok := directives()[other][lower]; ok {
			at = append(at, sectionTitle(other))
		}
	}
	if len(at) > 0 {
		return "does not belong in " + in.title + " but in " + strings.Join(at, " or ")
	}
	if why, ok := unsupported[lower]; ok {
		return "is not supported: " + why
	}
	return "unknown directive" + DidYouMean(key, namesOf(in.section))
}

// finish sets what depends on several directives.
func (p *parser) finish(o Options) {
	s := &p.cfg.Server
	if o.MPM != "" {
		name, err := parseMPM(o.MPM)
		if err != nil {
			p.errs = append(p.errs, &Error{Key: "-mpm", Msg: err.Error()})
		} else {
			s.MPM = name
		}
	}
	if len(s.Listen)+len(s.ListenUnix) == 0 && !p.has("server", "Listen") && !p.syntax {
		p.errs = append(p.errs, &Error{File: p.file, Key: "Listen", Msg: "at least one is needed" + p.inServer()})
	}
	p.vhosts()
	p.places()
	p.proxies()
	p.files()
	p.jk2()
	p.merge()
	p.customLogs()
	p.status()
	p.identity()
	p.confinement()
	if s.PidFile == "" {
		s.PidFile = p.path(defaultPidFile)
	}
	if s.ErrorLog == "" {
		s.ErrorLog = p.path("logs/error_log")
	}
	p.slots()
	if len(p.errs) == 0 {
		p.correct()
	}
}

// inServer tells where a directive of the server stands, in the language that
// has sections for it.
func (p *parser) inServer() string {
	if p.httpd {
		return ""
	}
	return " in [" + serverSection + "]"
}

func (p *parser) has(section, name string) bool {
	_, ok := p.first[section+" "+name]
	return ok
}

// correct applies Apache's corrections and gives each warning the line of its
// directive, or of the one it had to give way to.
func (p *parser) correct() {
	section := "mpm." + p.cfg.Server.MPM
	line := func(name string) (string, int) {
		in := section
		if name == "KeepAliveTimeout" {
			in = "server"
		}
		g := p.first[in+" "+name]
		return g.Key, g.Line
	}
	for _, f := range p.cfg.correct() {
		key, at := line(f.name)
		if at == 0 {
			key = f.name
			_, at = line(f.because)
		}
		p.warn(at, key, "%s", f.text())
	}
}

// MaxSlots bounds ServerLimit times ThreadLimit: there is a record in shared
// memory for each.
const MaxSlots = 1 << 20

// slots refuses limits that are each within their range but not together.
func (p *parser) slots() {
	w := &p.cfg.Worker
	if p.cfg.Server.MPM != Worker {
		return
	}
	servers, threads := min(max(w.ServerLimit, 1), MaxWorkerServers), min(max(w.ThreadLimit, 1), MaxThreads)
	if servers*threads <= MaxSlots {
		return
	}
	g, ok := p.first["mpm.worker ServerLimit"]
	if !ok {
		g = p.first["mpm.worker ThreadLimit"]
	}
	p.fail(g, "ServerLimit %d times ThreadLimit %d is more than %d", servers, threads, MaxSlots)
}

func (p *parser) identity() {
	s := &p.cfg.Server
	u, hasUser := p.first["server User"]
	g, hasGroup := p.first["server Group"]
	if !hasUser {
		if hasGroup {
			p.fail(g, "needs directive User beside it")
		}
		return
	}
	if s.User == "" || hasGroup && s.Group == "" {
		return // the value could not be read
	}
	id, known, err := lookupUser(s.User)
	if err != nil {
		p.fail(u, "%s", err)
	}
	if hasGroup {
		gid, err := lookupGroup(s.Group)
		if err != nil {
			p.fail(g, "%s", err)
		}
		id = id.withGroup(gid)
	} else if !known && err == nil {
		p.fail(u, "the system has no user with this number: directive Group is needed too")
	}
	s.Identity = &id
}

// readFile reads a regular file of bounded size. Its errors name no path.
func readFile(path string) ([]byte, error) {
	// Opening a FIFO would wait for its writer, so look first.
	info, err := os.Stat(path)
	if err != nil {
		return nil, reason(err)
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the file is larger than %d bytes", MaxFile)
	}
	return data, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	}
	return nil
}

// reason strips the operation and the path from an error of package os.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
