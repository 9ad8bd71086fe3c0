package logformat

import (
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

// Parse reads a format. The error is an *[Error].
func Parse(s string) (*Format, error) { return parse(s, (*Format).directive) }

// parse splits s into literal text and what read takes: it reads the directive
// that begins at s[at] and returns its length.
func parse(s string, read func(f *Format, s string, at int) (int, *Error)) (*Format, error) {
	f := &Format{}
	var text []byte
	flush := func() {
		if len(text) > 0 {
			f.items = append(f.items, item{arg: string(text)})
			text = text[:0]
		}
	}
	for at := 0; at < len(s); {
		switch {
		case s[at] == '\\' && at+1 < len(s) && s[at+1] != '%':
			text = appendUnescaped(text, s[at+1])
			at += 2
		case s[at] == '%':
			flush()
			n, err := read(f, s, at)
			if err != nil {
				return nil, err
			}
			at += n
		default:
			text = append(text, s[at])
			at++
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

// directive reads one of LogFormat.
func (f *Format) directive(s string, at int) (int, *Error) {
	s = s[at:]
	if strings.HasPrefix(s, "%%") {
		f.items = append(f.items, item{arg: "%"})
		return 2, nil
	}
	it, i := item{}, 1
	braced, brace, not := false, 0, false
	fail := func(reason string) (int, *Error) {
		return 0, &Error{Column: at + 1, Token: s[:min(i+1, len(s))], Reason: reason}
	}
scan:
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '<' || c == '>' || c == ',':
		case c == '!':
			not = !not
		case c >= '0' && c <= '9':
			digits := i
			for i < len(s) && s[i] >= '0' && s[i] <= '9' {
				i++
			}
			n, err := strconv.Atoi(s[digits:i])
			i--
			if err != nil || n < 100 || n > 999 {
				return fail(s[digits:i+1] + " is not a status")
			}
			it.status = append(it.status, n)
		case c == '{':
			if braced {
				return fail("there are two arguments in braces")
			}
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				i = len(s)
				return fail("the brace is never closed")
			}
			it.arg, braced, brace = s[i+1:i+end], true, i+1
			i += end
		default:
			break scan
		}
	}
	if i >= len(s) {
		return fail("the format ends within a directive")
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
		_, err := fail("there is no directive %" + name)
		err.Nearest = meant(name, braced)
		return 0, err
	case d.braces == never && it.arg != "":
		return fail("takes no argument in braces")
	case d.braces == always && it.arg == "":
		return fail("needs an argument in braces")
	}
	it.write = d.write
	if d.prepare != nil {
		if err := d.prepare(&it); err != nil {
			if err.Token == "" {
				err.Column, err.Token = at+1, s[:i+1]
			} else {
				// Of the time, whose columns count from its own beginning.
				err.Column += at + brace + len(it.arg) - len(timeOf(it.arg))
			}
			return 0, err
		}
	}
	f.needs = f.needs.Or(d.needs)
	f.items = append(f.items, it)
	return i + 1, nil
}

// meant is what somebody who wrote a directive that does not exist was
// probably after: its other case, a directive of JkRequestLogFormat, a
// conversion of strftime. braced tells that it has an argument.
func meant(name string, braced bool) string {
	switch {
	case name == "w":
		return "%{JK_WORKER_NAME}n"
	case name[0] == '^':
		if n := nearest(name, []string{"^FB", "^ti", "^to"}); n != "" {
			return "%" + n
		}
	case name == "c" && !braced:
		return "%X"
	}
	if c := otherCase(name[0], func(c string) bool { d, ok := directives[c]; return ok && (braced || d.braces != always) }); c != "" {
		return "%" + c
	}
	if !braced && isConversion(name) {
		return "%{%" + name + "}t"
	}
	return ""
}
