package apache

import "fmt"

// Place is where something was written.
type Place struct {
	File string
	Line int // from 1: where the line begins, if it is continued
}

// Directive is a directive, or a section with those in it.
type Directive struct {
	Place
	// Name is as written, of a section without '<'.
	Name string
	// Args is what follows the name, without blanks at its ends and with
	// ${NAME} replaced; of a section without '>'.
	Args string
	// Section tells a section, Children is what it holds.
	Section  bool
	Children []*Directive
	// Skipped tells a conditional section whose condition does not hold. What
	// is in it is as written, and was not acted upon. Those whose condition
	// holds are not in the tree: what they hold stands in their place.
	Skipped bool
}

// Title is the directive as messages name it: a section with its arguments, in
// angle brackets.
func (d *Directive) Title() string {
	switch {
	case !d.Section:
		return d.Name
	case d.Args == "":
		return "<" + d.Name + ">"
	}
	return "<" + d.Name + " " + d.Args + ">"
}

// Note is a fault or a remark.
type Note struct {
	Place
	Key  string // the directive, or "" for none
	Text string
}

// Tree is what was read.
type Tree struct {
	Directives []*Directive
	// Files are those that were read, in the order in which they were first
	// met: the main file, then those that Include names.
	Files []string
	// Faults are errors; Remarks are what is odd, or was left out.
	Faults, Remarks []Note
}

func (t *Tree) fault(at Place, key, format string, args ...any) {
	t.Faults = append(t.Faults, Note{at, key, fmt.Sprintf(format, args...)})
}

func (t *Tree) remark(at Place, key, format string, args ...any) {
	t.Remarks = append(t.Remarks, Note{at, key, fmt.Sprintf(format, args...)})
}
