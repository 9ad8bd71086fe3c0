package conf

import (
	"bytes"
	"strings"
)

// TextLine is a line of a properties file without its comment and without
// blanks at its ends. It is not empty.
type TextLine struct {
	Place
	Text string
	// Cut tells that the comment began right behind a byte that is no blank:
	// the '#' may have been meant.
	Cut bool
}

// Pair splits the line at its first '=' and removes the blanks around the two
// parts. Lines that are no pair mean nothing to mod_jk and mod_jk2; they are
// remarked upon, and ok is false.
func (l TextLine) Pair(r *Report) (key, value string, ok bool) {
	key, value, found := strings.Cut(l.Text, "=")
	key, value = strings.Trim(key, blanks), strings.Trim(value, blanks)
	switch {
	case !found:
		r.Info(l.Place, "", "the line has no '=': ignored")
	case key == "":
		r.Info(l.Place, "", "the line has no name before '=': ignored")
	case value == "":
		r.Info(l.Place, key, "has no value: ignored")
	default:
		return key, value, true
	}
	return "", "", false
}

// Lines calls yield for each line of a properties file in the style of mod_jk
// and mod_jk2 that says something: '#' begins a comment anywhere. Lines that
// are too long or hold a NUL byte, and files in UTF-16, are errors.
func (r *Report) Lines(file string, data []byte, yield func(TextLine)) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		r.Fail(Place{file, 1}, "", "the file is UTF-16; save it as UTF-8")
		return
	}
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		r.Info(Place{file, 1}, "", "the byte order mark is skipped")
		data = rest
	}
	at := Place{File: file}
	for raw := range bytes.Lines(data) {
		at.Line++
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		if len(raw) > MaxLine {
			r.Fail(at, "", "the line is %d bytes long, at most %d are allowed", len(raw), MaxLine)
			continue
		}
		if bytes.IndexByte(raw, 0) >= 0 {
			r.Fail(at, "", "the line contains a NUL byte")
			continue
		}
		text, _, commented := strings.Cut(string(raw), "#")
		cut := commented && text != "" && strings.IndexByte(blanks, text[len(text)-1]) < 0
		if text = strings.Trim(text, blanks); text != "" {
			yield(TextLine{Place: at, Text: text, Cut: cut})
		}
	}
}

// Macros is how a kind of file writes the names that are replaced in values:
// $(name) or ${name}.
type Macros struct{ Open, Close string }

// mostMacros is how many macros of one value are replaced.
const mostMacros = 20

// Expand replaces each macro of value that lookup knows; what is put in is not
// looked at again. Unknown ones are left as they are, with a warning: note is
// its index in r.Warnings, or -1. A value that would become longer than a line
// may be is a fault, and stays as it is.
func (m Macros) Expand(r *Report, at Place, key, value string, lookup func(name string) (string, bool)) (out string, note int) {
	note = -1
	if !strings.Contains(value, m.Open) {
		return value, note
	}
	var b strings.Builder
	rest := value
	for n := 0; ; {
		before, after, ok := strings.Cut(rest, m.Open)
		if !ok {
			break
		}
		name, after, closed := strings.Cut(after, m.Close)
		if !closed {
			r.Warn(at, key, "%s is never closed: the text is left as it is", m.Open)
			break
		}
		b.WriteString(before)
		if n == mostMacros {
			r.Warn(at, key, "has more than %d %sname%s: those after them are left as they are", mostMacros, m.Open, m.Close)
			rest = rest[len(before):]
			break
		}
		if text, ok := lookup(name); ok {
			// Each of a few lines could repeat the one before twenty times.
			if b.Len()+len(text) > MaxLine {
				r.Fail(at, key, "is longer than %d bytes once %sname%s is replaced", MaxLine, m.Open, m.Close)
				return value, note
			}
			b.WriteString(text)
			n++
		} else {
			b.WriteString(m.Open + name + m.Close)
			w := r.Warn(at, key, "%s%s%s is defined neither above nor in the environment: left as it is", m.Open, Printable(name), m.Close)
			if w >= 0 {
				note = w
			}
		}
		rest = after
	}
	b.WriteString(rest)
	return b.String(), note
}

// LeadingInt is the number that s begins with, "" for none: what C's atoi
// reads of it.
func LeadingInt(s string) string {
	n := 0
	if strings.HasPrefix(s, "-") {
		n = 1
	}
	start := n
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == start {
		return ""
	}
	return s[:n]
}
