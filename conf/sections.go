package conf

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/ini.v1"
)

// MaxLine is the longest line of a configuration file in bytes, its end not
// counted.
const MaxLine = 8192

// Pair is one "key = value" line.
type Pair struct {
	Key, Value string // blanks at both ends removed, otherwise as written
	Line       int    // from 1
}

// Section is one section header and the pairs below it. A section that is
// opened twice appears twice.
type Section struct {
	// Name is what stands between the brackets: a word, which further words
	// may follow behind blanks, as written.
	Name  string
	Line  int
	Pairs []Pair
}

// Sections is a file in ini syntax, in its own order.
type Sections struct {
	File     string
	Sections []Section
}

// Get returns the pairs of every section of that name, in file order, compared
// without regard to case.
func (s *Sections) Get(name string) []Pair {
	var out []Pair
	for i := range s.Sections {
		if strings.EqualFold(s.Sections[i].Name, name) {
			out = append(out, s.Sections[i].Pairs...)
		}
	}
	return out
}

// ReadSections splits data into sections. file is used in messages only. The
// lines it understands are returned even when there are errors, so that the
// caller can report its own faults together with these.
//
// The values are those of the ini library. It keeps no line numbers, so the
// lines are indexed here, and a file for which the two do not agree is an
// error: neither reading is then taken for what was meant.
func ReadSections(file string, data []byte) (*Sections, Errors) {
	x := &index{out: &Sections{File: file}}
	switch {
	case bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.HasPrefix(data, []byte("\xff\xfe")):
		x.fail(1, "", "the file is UTF-16; save it as UTF-8")
		return x.out, x.errs
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(data) {
		x.line++
		x.add(line)
	}
	if len(x.errs) == 0 {
		x.compare(data)
	}
	return x.out, x.errs
}

// index is the reading of one file, line by line.
type index struct {
	out  *Sections
	errs Errors
	line int
	// orphan is set once a pair before the first section was reported.
	orphan bool
}

func (x *index) fail(line int, key, format string, args ...any) {
	x.errs = append(x.errs, &Error{File: x.out.File, Line: line, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// blanks are the bytes removed from both ends of names and values.
const blanks = " \t\r\v\f"

func (x *index) add(raw []byte) {
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	if len(raw) > MaxLine {
		x.fail(x.line, "", "the line is %d bytes long, at most %d are allowed", len(raw), MaxLine)
		return
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		x.fail(x.line, "", "the line contains a NUL byte")
		return
	}
	text := strings.Trim(string(raw), blanks)
	if text == "" || text[0] == '#' || text[0] == ';' {
		return
	}
	if !utf8.ValidString(text) {
		x.fail(x.line, "", "the line is not UTF-8 text")
		return
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }); i >= 0 {
		x.fail(x.line, "", "the line contains the control byte 0x%02x", text[i])
		return
	}
	if text[0] == '[' {
		x.header(text)
		return
	}
	x.pair(text)
}

func (x *index) header(text string) {
	end := strings.LastIndexByte(text, ']') // a regular expression may contain others
	switch name := strings.Trim(text[1:max(end, 1)], blanks); {
	case end < 0:
		x.fail(x.line, text, "the section header has no closing bracket")
	case end != len(text)-1:
		x.fail(x.line, text[:end+1], "nothing may follow a section header on its line")
	case name == "" || len(name) != end-1 || !plain(firstWord(name)):
		x.fail(x.line, text, "a section name is letters, digits, '.', '-' and '_'")
	default:
		x.out.Sections = append(x.out.Sections, Section{Name: name, Line: x.line})
		return
	}
	// What follows belongs to a section nobody can name: keep it apart.
	x.out.Sections = append(x.out.Sections, Section{Line: x.line})
}

func (x *index) pair(text string) {
	key, value, found := strings.Cut(text, "=")
	if !found {
		x.fail(x.line, firstWord(text), "the line is no section, comment or \"key = value\" (it has no '=')")
		return
	}
	key, value = strings.Trim(key, blanks), strings.Trim(value, blanks)
	switch {
	case key == "":
		x.fail(x.line, "", "there is no name before '='")
		return
	case !plain(key):
		x.fail(x.line, key, "a directive's name is letters, digits, '.', '-' and '_'")
		return
	case strings.TrimSpace(value) != value:
		x.fail(x.line, key, "the value begins or ends with a blank that is not ASCII")
		return
	case strings.HasPrefix(value, "`"), strings.HasPrefix(value, `"""`):
		x.fail(x.line, key, "a value cannot begin with %s (use \" or ')", value[:1])
		return
	case len(x.out.Sections) == 0:
		if !x.orphan {
			x.fail(x.line, key, "no section is open: [server] or another must come first")
		}
		x.orphan = true
		return
	}
	s := &x.out.Sections[len(x.out.Sections)-1]
	s.Pairs = append(s.Pairs, Pair{Key: key, Value: value, Line: x.line})
}

func firstWord(text string) string {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i]
	}
	return text
}

// plain tells a name that means the same to everybody: no quotes, no lone "-"
// (which numbers keys), no text of another alphabet.
func plain(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '-' || c == '_'):
		default:
			return false
		}
	}
	return name != ""
}

// loadOptions is every option of the library that changes what a line means.
func loadOptions() ini.LoadOptions {
	return ini.LoadOptions{
		KeyValueDelimiters:         "=",    // ':' is part of addresses
		ChildSectionDelimiter:      "\x00", // no section inherits from another
		IgnoreInlineComment:        true,   // '#' and ';' are part of rules
		IgnoreContinuation:         true,   // a final '\' is part of the value
		AllowPythonMultilineValues: false,
		AllowNestedValues:          false,
		AllowBooleanKeys:           false,
		SkipUnrecognizableLines:    false,
		PreserveSurroundedQuote:    true, // quoting is the directive's matter
		UnescapeValueDoubleQuotes:  false,
		AllowShadows:               true, // repeated keys are all kept
		AllowDuplicateShadowValues: true, // equal ones too
		PreserveEmptyShadowValues:  true,
	}
}

// compare has the library read the same bytes and requires the same values
// under the same names in the same order. Values are taken raw: the library's
// String would replace %(name)s.
func (x *index) compare(data []byte) {
	f, err := ini.LoadSources(loadOptions(), data)
	if err != nil {
		x.fail(0, "", "the ini reader refuses the file: %s", Printable(err.Error()))
		return
	}
	type name struct{ section, key string }
	theirs := map[name][]string{}
	for _, s := range f.Sections() {
		for _, k := range s.Keys() {
			theirs[name{s.Name(), k.Name()}] = k.ValueWithShadows()
		}
	}
	for i := range x.out.Sections {
		s := &x.out.Sections[i]
		for _, p := range s.Pairs {
			n := name{s.Name, p.Key}
			values := theirs[n]
			if len(values) == 0 || values[0] != p.Value {
				x.fail(p.Line, p.Key, "the line can be read in more than one way; write it plainly")
				return
			}
			theirs[n] = values[1:]
		}
	}
	for n, values := range theirs {
		if len(values) > 0 {
			x.fail(0, n.key, "the section [%s] can be read in more than one way; write it plainly", Printable(n.section))
			return
		}
	}
}
