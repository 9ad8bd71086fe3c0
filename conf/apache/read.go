package apache

import (
	"path/filepath"
	"slices"
	"strings"
)

// Options is what a file is read with. Every function may be nil: then there is
// nothing of its kind.
type Options struct {
	// Env looks up a variable of the environment.
	Env func(name string) (string, bool)
	// Leave tells a ${NAME} that is somebody else's, in the directive of that
	// name.
	Leave func(directive, name string) bool
	// Module is what is known of a module by any of its names: jk_module,
	// mod_jk.c.
	Module func(name string) Module
	// MPM is the ID of the MPM in use unless LoadModule names another; with
	// FixMPM it is in use whatever LoadModule says.
	MPM    string
	FixMPM bool
	// Version is that of Apache for IfVersion.
	Version string
	// Directive and Section are for IfDirective and IfSection.
	Directive, Section func(name string) bool
	// Find returns the regular files that a path means, which may hold
	// wildcards or name a directory, in order. Its error is fs.ErrNotExist for
	// a path without wildcards that is not there.
	Find func(pattern string) ([]string, error)
	// Read returns a file of those that Find found, of at most MaxBytes.
	Read func(path string) ([]byte, error)
}

// maxNesting bounds sections in sections.
const maxNesting = 64

type reader struct {
	o       Options
	tree    *Tree
	root    string
	defined map[string]string
	loaded  map[string]bool
	mpm     string
	stack   []string // files that are being read
	depth   int      // sections that are open, in all files
	dead    int      // of them, those in a section that is skipped
	size    int      // bytes read
	full    bool     // a bound was reported
}

// Read reads the text of a file. Relative paths start at ServerRoot, before it
// is set at root.
func Read(file string, data []byte, root string, o Options) *Tree {
	r := &reader{o: o, tree: &Tree{}, root: root, defined: map[string]string{}, loaded: map[string]bool{}, mpm: o.MPM}
	r.file(file, data, &r.tree.Directives)
	return r.tree
}

// file reads one file; into is where its directives go.
func (r *reader) file(file string, data []byte, into *[]*Directive) {
	if !slices.Contains(r.tree.Files, file) {
		r.tree.Files = append(r.tree.Files, file)
	}
	if r.size += len(data); r.size > MaxBytes {
		if !r.full {
			r.tree.fault(Place{File: file}, "", "the files of the configuration hold more than %d bytes together", MaxBytes)
		}
		r.full = true
		return
	}
	name := file
	if abs, err := filepath.Abs(file); err == nil {
		name = abs
	}
	r.stack = append(r.stack, name)
	f := &openFile{reader: r, name: file, into: []*[]*Directive{into}}
	lines(data, f.line, func(line int, text string) { r.tree.fault(Place{file, line}, "", "%s", text) })
	for i := len(f.open) - 1; i >= 0; i-- {
		d := f.open[i]
		r.tree.fault(d.Place, d.Title(), "is never closed: </%s> is missing in this file", d.Name)
		f.pop()
	}
	r.stack = r.stack[:len(r.stack)-1]
}

// openFile is a file that is being read. A section ends in the file it begins
// in.
type openFile struct {
	*reader
	name string
	open []*Directive
	into []*[]*Directive // where directives go, for each section that is open and outside
	lost int             // sections that are too deep
}

func (f *openFile) line(line int, text string) {
	at := Place{f.name, line}
	if text[0] != '<' {
		name, args := cutWord(text)
		f.directive(&Directive{Place: at, Name: name, Args: args})
		return
	}
	inner, after, closed := cutLast(text[1:])
	switch {
	case !closed:
		f.tree.fault(at, text, "the section has no closing '>'")
		return
	case after != "":
		f.tree.remark(at, "<"+inner+">", "what follows on the line is ignored: %s", after)
	}
	if name, ok := strings.CutPrefix(inner, "/"); ok {
		f.close(at, strings.Trim(name, blanks))
		return
	}
	name, args := cutWord(inner)
	f.section(&Directive{Place: at, Name: name, Args: args, Section: true})
}

// cutLast takes "section>" apart from what follows.
func cutLast(s string) (inner, after string, ok bool) {
	i := strings.LastIndexByte(s, '>')
	if i < 0 {
		return s, "", false
	}
	return strings.Trim(s[:i], blanks), strings.Trim(s[i+1:], blanks), true
}

func (f *openFile) keep(d *Directive) {
	into := f.into[len(f.into)-1]
	*into = append(*into, d)
}

func (f *openFile) directive(d *Directive) {
	if f.dead > 0 {
		f.keep(d)
		return
	}
	if name := strings.ToLower(d.Name); name != "define" {
		d.Args = f.expand(d.Place, d.Name, d.Args)
		switch name {
		case "undefine", "undef":
			d.Name = "UnDefine"
			f.define(d)
			return
		case "include", "includeoptional":
			f.include(d, f.into[len(f.into)-1])
			return
		case "error":
			f.tree.fault(d.Place, d.Name, "%s", d.Args)
			return
		case "serverroot":
			if args, err := Words(d.Args); err == nil && len(args) == 1 && args[0] != "" {
				f.root = f.path(args[0])
			}
		case "loadmodule":
			f.load(d)
		}
		f.keep(d)
		return
	}
	d.Args = f.expand(d.Place, d.Name, d.Args)
	f.define(d)
}

// load notes a LoadModule for the conditions that follow.
func (f *openFile) load(d *Directive) {
	name, _ := cutWord(d.Args)
	m := f.module(name)
	if m.ID == "" {
		m.ID = name
	}
	f.loaded[m.ID] = true
	if m.Kind == MPM && !f.o.FixMPM {
		f.mpm = m.ID
	}
}

func (f *openFile) section(d *Directive) {
	if d.Name == "" {
		f.tree.fault(d.Place, "", "the section has no name")
		f.lost++
		return
	}
	if f.depth >= maxNesting || f.lost > 0 {
		if f.lost++; f.depth >= maxNesting && f.lost == 1 {
			f.tree.fault(d.Place, d.Title(), "more than %d sections in one another", maxNesting)
		}
		return
	}
	into := &d.Children
	if f.dead == 0 {
		d.Args = f.expand(d.Place, d.Title(), d.Args)
		if _, conditional := conditions[strings.ToLower(d.Name)]; conditional {
			if f.holds(d) {
				into = f.into[len(f.into)-1]
			} else {
				d.Skipped = true
			}
		}
	}
	if f.dead > 0 || d.Skipped {
		f.dead++
	}
	if into == &d.Children {
		f.keep(d)
	}
	f.depth++
	f.open, f.into = append(f.open, d), append(f.into, into)
}

func (f *openFile) close(at Place, name string) {
	if f.lost > 0 {
		f.lost--
		return
	}
	n := len(f.open)
	switch {
	case n == 0:
		f.tree.fault(at, "</"+name+">", "closes a section that is not open")
		return
	case !strings.EqualFold(f.open[n-1].Name, name):
		last := f.open[n-1]
		f.tree.fault(at, "</"+name+">", "stands where the section %s of line %d is to be closed first", last.Title(), last.Line)
		// Whatever was meant, one of those that are open may be what it closes.
		if !slices.ContainsFunc(f.open, func(d *Directive) bool { return strings.EqualFold(d.Name, name) }) {
			return
		}
		for !strings.EqualFold(f.open[len(f.open)-1].Name, name) {
			f.pop()
		}
	}
	f.pop()
}

func (f *openFile) pop() {
	n := len(f.open) - 1
	if f.dead > 0 {
		f.dead--
	}
	f.open, f.into = f.open[:n], f.into[:len(f.into)-1]
	f.depth--
}
