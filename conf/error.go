package conf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Error is one fault in a configuration file. Its text is
// "file:line: key: what is wrong". Parts that are empty are left out.
type Error struct {
	File string
	Line int    // from 1; 0 when the fault belongs to no line
	Key  string // directive, property or section as written
	Msg  string
}

func (e *Error) Error() string { return position(e.File, e.Line, e.Key) + e.Msg }

func position(file string, line int, key string) string {
	var b strings.Builder
	if file != "" {
		b.WriteString(file)
		if line > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(line))
		}
		b.WriteString(": ")
	}
	if key != "" {
		b.WriteString(Printable(key))
		b.WriteString(": ")
	}
	return b.String()
}

// Errors is every fault of a configuration, at least one. Its text has one
// fault a line.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults for errors.As.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, f := range e {
		out[i] = f
	}
	return out
}

// Err returns e as an error, ordered by file (in the order the files were
// first complained about) and line, or nil when e is empty.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	e.sort()
	return e
}

func (e Errors) sort() {
	byLine(e, func(f *Error) (string, int) { return f.File, f.Line })
}

// SortWarnings orders warnings by file, in the order the files are first
// spoken of, and line.
func SortWarnings(w []Warning) {
	byLine(w, func(x Warning) (string, int) { return x.File, x.Line })
}

func byLine[T any](list []T, at func(T) (file string, line int)) {
	rank := map[string]int{}
	for _, x := range list {
		file, _ := at(x)
		if _, ok := rank[file]; !ok {
			rank[file] = len(rank)
		}
	}
	slices.SortStableFunc(list, func(a, b T) int {
		fa, la := at(a)
		fb, lb := at(b)
		return cmp.Or(cmp.Compare(rank[fa], rank[fb]), cmp.Compare(la, lb))
	})
}

// Severity tells a [Warning] somebody should act upon from a remark.
type Severity uint8

const (
	// Warn is for values that were corrected, ignored or look like a mistake.
	Warn Severity = iota
	// Info is for remarks that ask for nothing.
	Info
)

// String returns "warning" or "info".
func (s Severity) String() string {
	if s == Info {
		return "info"
	}
	return "warning"
}

// Warning is something worth saying about a file that is nevertheless usable.
// Its text has the shape of [Error]'s.
type Warning struct {
	Severity Severity
	File     string
	Line     int
	Key      string
	Msg      string
}

func (w Warning) String() string { return position(w.File, w.Line, w.Key) + w.Msg }

// Printable returns s fit for a message on one line: control bytes and bytes
// that are not UTF-8 are escaped, and text beyond 200 bytes is cut.
func Printable(s string) string {
	const most = 200
	cut := ""
	if len(s) > most {
		s, cut = s[:most], "..."
	}
	q := strconv.Quote(s)
	q = q[1 : len(q)-1]
	q = strings.ReplaceAll(q, `\"`, `"`)
	return strings.ReplaceAll(q, `\\`, `\`) + cut
}
