package headers

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/connector"
)

// Action is what an [Edit] does.
type Action uint8

// The actions.
const (
	Set        Action = iota // replaces what is there
	Append                   // adds to the value, behind a comma
	Merge                    // Append, if the value does not have it yet
	Add                      // adds a field
	Unset                    // removes the fields
	SetIfEmpty               // Set, if there is none
	Replace                  // edit: the first place that Match is found in
	ReplaceAll               // edit*
)

// Actions are their names in the configuration.
var Actions = [...]string{"set", "append", "merge", "add", "unset", "setifempty", "edit", "edit*"}

// Edit is one Header or RequestHeader. It is not changed once made and may be
// shared.
type Edit struct {
	Action Action
	Name   string
	Value  Format // of all but Unset; of edits the replacement
	Match  *regexp.Regexp
	// Env, if not "", is a variable that must be set, or with Unless must not.
	Env    string
	Unless bool
}

// Context is what formats and conditions look at.
type Context struct {
	Env   *connector.Env
	Start time.Time // when the request came
	Now   time.Time
}

// Apply returns fields as list leaves them; fields itself stays as it is.
func Apply(list []Edit, fields []connector.Field, c *Context) []connector.Field {
	if len(list) == 0 {
		return fields
	}
	out := slices.Clone(fields)
	for i := range list {
		if e := &list[i]; e.counts(c) {
			out = e.apply(out, c)
		}
	}
	return out
}

func (e *Edit) counts(c *Context) bool {
	if e.Env == "" {
		return true
	}
	_, set := c.Env.Get(e.Env)
	return set != e.Unless
}

func (e *Edit) is(f connector.Field) bool { return strings.EqualFold(string(f.Name), e.Name) }

func (e *Edit) apply(fields []connector.Field, c *Context) []connector.Field {
	at := slices.IndexFunc(fields, e.is)
	field := func() connector.Field {
		return connector.Field{Name: []byte(e.Name), Value: e.Value.Append(nil, c)}
	}
	switch e.Action {
	case Set:
		if at < 0 {
			return append(fields, field())
		}
		fields[at] = field()
		rest := slices.DeleteFunc(fields[at+1:], e.is)
		return fields[:at+1+len(rest)]
	case SetIfEmpty:
		if at < 0 {
			return append(fields, field())
		}
	case Add:
		return append(fields, field())
	case Append, Merge:
		if at < 0 {
			return append(fields, field())
		}
		f := field()
		if e.Action == Merge && slices.ContainsFunc(fields, func(o connector.Field) bool { return e.is(o) && has(o.Value, f.Value) }) {
			return fields
		}
		fields[at].Value = slices.Concat(fields[at].Value, []byte(", "), f.Value)
	case Unset:
		return slices.DeleteFunc(fields, e.is)
	case Replace, ReplaceAll:
		var edited []connector.Field // which go to the end, as in Apache
		for _, f := range fields {
			if e.is(f) {
				edited = append(edited, connector.Field{Name: f.Name, Value: e.replace(f.Value, c)})
			}
		}
		return append(slices.DeleteFunc(fields, e.is), edited...)
	}
	return fields
}

// has tells whether a list has an element.
func has(list, element []byte) bool {
	for part := range bytes.SplitSeq(list, []byte{','}) {
		if bytes.Equal(bytes.Trim(part, " \t"), element) {
			return true
		}
	}
	return false
}

// maxValue bounds what an edit makes of a value, in bytes.
const maxValue = 64 << 10

// replace puts the replacement, in which $0 to $9 are what was found, in the
// place of it.
func (e *Edit) replace(value []byte, c *Context) []byte {
	text := string(value)
	to := string(e.Value.Append(nil, c))
	var out []byte
	from := 0
	for from <= len(text) {
		m := e.Match.FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		out = append(append(out, text[from:from+m[0]]...), connector.Fill(to, text[from:], m)...)
		next := from + m[1]
		if m[1] == m[0] { // nothing: the byte behind it stays
			if next < len(text) {
				out = append(out, text[next])
			}
			next++
		}
		from = next
		if e.Action == Replace || len(out) > maxValue {
			break
		}
	}
	if from < len(text) {
		out = append(out, text[from:]...)
	}
	return out
}

// Format is a value with what a '%' stands for taken apart.
type Format []piece

type piece struct {
	text string
	what byte   // 0: text itself; 't', 'D' or 'e'
	name string // of 'e'
}

// ParseFormat reads a value: %t is when the request came and %D how long it took, in
// microseconds and behind "t=" and "D="; %{NAME}e is a variable, "(null)" if it is not
// set; %% is a '%'.
func ParseFormat(s string) (Format, error) {
	var f Format
	for s != "" {
		text, rest, found := strings.Cut(s, "%")
		if text != "" {
			f = append(f, piece{text: text})
		}
		if !found {
			break
		}
		switch {
		case strings.HasPrefix(rest, "%"):
			f, s = append(f, piece{text: "%"}), rest[1:]
		case strings.HasPrefix(rest, "t"), strings.HasPrefix(rest, "D"):
			f, s = append(f, piece{what: rest[0]}), rest[1:]
		case strings.HasPrefix(rest, "{") && strings.Contains(rest, "}"):
			name, behind, _ := strings.Cut(rest[1:], "}")
			if !strings.HasPrefix(behind, "e") {
				return nil, formatError("%{" + name + "}" + behind[:min(len(behind), 1)])
			}
			f, s = append(f, piece{what: 'e', name: name}), behind[1:]
		default:
			return nil, formatError("%" + rest[:min(len(rest), 1)])
		}
	}
	return f, nil
}

type formatError string

func (e formatError) Error() string {
	return string(e) + " is not known in a value: there are %t, %D, %{NAME}e and %%"
}

// Append appends the value.
func (f Format) Append(b []byte, c *Context) []byte {
	for i := range f {
		switch p := &f[i]; p.what {
		case 't':
			b = strconv.AppendInt(append(b, "t="...), c.Start.UnixMicro(), 10)
		case 'D':
			b = strconv.AppendInt(append(b, "D="...), c.Now.Sub(c.Start).Microseconds(), 10)
		case 'e':
			v, set := c.Env.Get(p.name)
			if !set {
				v = "(null)"
			}
			b = appendClean(b, v)
		default:
			b = append(b, p.text...)
		}
	}
	return b
}

// appendClean appends a text from elsewhere without the bytes that would end the
// line.
func appendClean(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= ' ' && c != 0x7f || c == '\t' {
			b = append(b, c)
		} else {
			b = append(b, ' ')
		}
	}
	return b
}
