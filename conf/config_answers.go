package conf

import "slices"

// Answers is what the main server, a virtual host, a directory or a location says
// of answers, in the order of the file. Those of the main server come first, then
// those of its virtual host, of directories and files from the farthest to the
// nearest, and of locations.
type Answers struct {
	ErrorDocuments []ErrorDocument // the last one for a status counts
	Headers        []HeaderEdit
}

// Says tells whether anything is said.
func (a *Answers) Says() bool { return len(a.ErrorDocuments)+len(a.Headers) > 0 }

// over is what a place says that inherits base.
func (a *Answers) over(base *Answers) Answers {
	return Answers{
		ErrorDocuments: append(slices.Clone(base.ErrorDocuments), a.ErrorDocuments...),
		Headers:        append(slices.Clone(base.Headers), a.Headers...),
	}
}
