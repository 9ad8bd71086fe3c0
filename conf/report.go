package conf

import "fmt"

// Place is where something was written.
type Place struct {
	File string
	Line int // from 1; 0 when it belongs to no line
}

// String returns "file:line", or the file alone.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Report collects what is wrong and what is odd with files, each only once:
// what one component takes over from another is often looked at twice. The
// zero value is empty. It belongs to one goroutine.
type Report struct {
	Errs     Errors
	Warnings []Warning
	seen     map[string]bool
}

func (r *Report) once(text string) bool {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	before := r.seen[text]
	r.seen[text] = true
	return !before
}

// Fail enters an [Error].
func (r *Report) Fail(at Place, key, format string, args ...any) {
	e := &Error{File: at.File, Line: at.Line, Key: key, Msg: fmt.Sprintf(format, args...)}
	if r.once("e" + e.Error()) {
		r.Errs = append(r.Errs, e)
	}
}

// Note enters a [Warning] and returns its index, or -1 when it is there
// already.
func (r *Report) Note(s Severity, at Place, key, format string, args ...any) int {
	w := Warning{Severity: s, File: at.File, Line: at.Line, Key: key, Msg: fmt.Sprintf(format, args...)}
	if !r.once(s.String() + w.String()) {
		return -1
	}
	r.Warnings = append(r.Warnings, w)
	return len(r.Warnings) - 1
}

// Warn is Note with severity [Warn].
func (r *Report) Warn(at Place, key, format string, args ...any) int {
	return r.Note(Warn, at, key, format, args...)
}

// Info is Note with severity [Info].
func (r *Report) Info(at Place, key, format string, args ...any) {
	r.Note(Info, at, key, format, args...)
}
