package logformat

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Format is a format that was read. It does not change and may be used
// concurrently.
type Format struct {
	items []item
	needs Needs
}

// Needs tells what a format wants to know that costs something to find out.
type Needs struct {
	Notes          bool // %{NAME}n: Request.Notes must keep notes
	FirstByte      bool // %^FB: Entry.FirstByte
	ResponseFields bool // %{NAME}o: Entry.ResponseField
}

// Or returns the needs of both.
func (n Needs) Or(o Needs) Needs {
	return Needs{n.Notes || o.Notes, n.FirstByte || o.FirstByte, n.ResponseFields || o.ResponseFields}
}

// Needs returns what Append looks at.
func (f *Format) Needs() Needs { return f.needs }

// item is one directive, or literal text.
type item struct {
	write writer // nil for literal text
	arg   string // the text, or what stood in braces
	// status are the statuses of a condition; not tells that they are those
	// for which "-" is written.
	status []int
	not    bool
	clock  *clock // of %t
}

// writer appends the value of a directive.
type writer func(b []byte, it *item, e *Entry) []byte

func (it *item) applies(status int) bool {
	return len(it.status) == 0 || slices.Contains(it.status, status) != it.not
}

// Append appends the line of a request, without a line end. What exceeds
// MaxLine is cut.
func (f *Format) Append(b []byte, e *Entry) []byte {
	from := len(b)
	for i := range f.items {
		it := &f.items[i]
		switch {
		case it.write == nil:
			b = append(b, it.arg...)
		case !it.applies(e.Status):
			b = append(b, '-')
		default:
			b = it.write(b, it, e)
		}
		if len(b)-from > MaxLine {
			return append(b[:from+MaxLine], "..."...)
		}
	}
	return b
}

// Parse reads a format.
func Parse(s string) (*Format, error) {
	f := &Format{}
	var text []byte
	flush := func() {
		if len(text) > 0 {
			f.items = append(f.items, item{arg: string(text)})
			text = text[:0]
		}
	}
	for len(s) > 0 {
		switch {
		case s[0] == '\\' && len(s) > 1:
			text = appendUnescaped(text, s[1])
			s = s[2:]
		case strings.HasPrefix(s, "%%"):
			text = append(text, '%')
			s = s[2:]
		case s[0] == '%':
			flush()
			n, err := f.directive(s)
			if err != nil {
				return nil, err
			}
			s = s[n:]
		default:
			text = append(text, s[0])
			s = s[1:]
		}
	}
	flush()
	return f, nil
}

// appendUnescaped appends what a backslash and c mean in literal text.
func appendUnescaped(text []byte, c byte) []byte {
	switch c {
	case 'n':
		return append(text, '\n')
	case 'r':
		return append(text, '\r')
	case 't':
		return append(text, '\t')
	case '\\', '"', '\'':
		return append(text, c)
	}
	return append(text, '\\', c)
}

// directive reads the one that s begins with and returns its length.
func (f *Format) directive(s string) (int, error) {
	it, i := item{}, 1
	braced, not, digits := false, false, 0
	fail := func(format string, args ...any) (int, error) {
		return 0, fmt.Errorf("%s: %s", s[:min(i+1, len(s))], fmt.Sprintf(format, args...))
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<' || c == '>' || c == ',':
			continue
		case c == '!':
			not = true
			continue
		case c >= '0' && c <= '9':
			digits = i
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			n, err := strconv.Atoi(s[digits:i])
			i--
			if err != nil || n < 100 || n > 999 {
				return fail("%s is not a status", s[digits:i+1])
			}
			it.status = append(it.status, n)
			continue
		case c == '{':
			if braced {
				return fail("there are two arguments in braces")
			}
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return 0, fmt.Errorf("%s: the brace is never closed", s)
			}
			it.arg, braced = s[i+1:i+end], true
			i += end
			continue
		}
		break
	}
	if i >= len(s) {
		return 0, fmt.Errorf("%s: the format ends within a directive", s)
	}
	name := s[i : i+1]
	if name == "^" {
		name = s[i:min(i+3, len(s))]
		i += len(name) - 1
	}
	if it.not = not; not && len(it.status) == 0 {
		return fail("no status follows the '!'")
	}
	d, ok := directives[name]
	switch {
	case !ok:
		return fail("there is no directive %%%s", name)
	case d.braces == never && it.arg != "":
		return fail("takes no argument in braces")
	case d.braces == always && it.arg == "":
		return fail("needs an argument in braces")
	}
	it.write = d.write
	if d.prepare != nil {
		if err := d.prepare(&it); err != nil {
			return fail("%s", err)
		}
	}
	f.needs = f.needs.Or(d.needs)
	f.items = append(f.items, it)
	return i + 1, nil
}
