package conf

import "fmt"

// A configuration may come from several files, while a line is one number
// wherever it is kept: those of the second file and the others begin at
// multiples of 1<<fileShift. Config.Place takes them apart.
const fileShift = 24

// Place tells where a line of the configuration is: Line of a Mount, a VHost
// and so on.
func (c *Config) Place(line int) Place {
	if n := line >> fileShift; n > 0 && n <= len(c.Included) {
		return Place{c.Included[n-1], line & (1<<fileShift - 1)}
	}
	return Place{c.Path, line}
}

// Locate turns lines of the configuration into lines of files, in faults and
// remarks about it.
func (c *Config) Locate(errs Errors, warnings []Warning) {
	for _, e := range errs {
		if e.Line>>fileShift > 0 {
			at := c.Place(e.Line)
			e.File, e.Line = at.File, at.Line
		}
	}
	for i := range warnings {
		if w := &warnings[i]; w.Line>>fileShift > 0 {
			at := c.Place(w.Line)
			w.File, w.Line = at.File, at.Line
		}
	}
}

// at is a line as messages name it beside another one.
func (p *parser) at(line int) string {
	if at := p.cfg.Place(line); line>>fileShift > 0 {
		return fmt.Sprintf("line %d of %s", at.Line, at.File)
	}
	return fmt.Sprintf("line %d", line)
}
