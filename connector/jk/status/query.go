package status

import (
	"strconv"
	"strings"
)

// Bounds of what a request may say.
const (
	// MaxBody is the most bytes of a form, and of a query, that are read.
	MaxBody   = 64 << 10
	maxParams = 4096
	maxName   = 64   // bytes of a parameter's name
	maxValue  = 2048 // bytes of its value
)

// Cmd is what is asked for (parameter cmd). The zero value is List.
type Cmd uint8

const (
	List Cmd = iota
	Show
	Edit
	Update
	Reset
	Recover
	Version
	Dump
	cmds
)

var cmdNames = [cmds]string{"list", "show", "edit", "update", "reset", "recover", "version", "dump"}

// String returns the value of the parameter.
func (c Cmd) String() string {
	if c < cmds {
		return cmdNames[c]
	}
	return "Cmd(" + strconv.Itoa(int(c)) + ")"
}

// Changes tells whether the command changes anything.
func (c Cmd) Changes() bool { return c == Update || c == Reset || c == Recover }

// Mime is how the answer is written (parameter mime). The zero value is HTML.
type Mime uint8

const (
	HTML Mime = iota
	XML
	Text
	Prop
	mimes
)

var mimeNames = [mimes]string{"html", "xml", "txt", "prop"}

// String returns the value of the parameter.
func (m Mime) String() string {
	if m < mimes {
		return mimeNames[m]
	}
	return "Mime(" + strconv.Itoa(int(m)) + ")"
}

// ContentType is that of an answer.
func (m Mime) ContentType() string {
	switch m {
	case HTML:
		return "text/html; charset=utf-8"
	case XML:
		return "text/xml; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// Options is the bit mask of what is not to be shown (parameter opt).
type Options uint16

const (
	NoMembers Options = 1 << iota
	NoMaps
	NoLegend
	NoBalancers
	NoAJP
	ReadOnly // nothing that changes anything, be it allowed or not
	NoBalancerConf
	NoBalancerSummary
	NoAJPConf
	allOptions = 1<<iota - 1
)

// Query is a parsed request.
type Query struct {
	Cmd  Cmd
	Mime Mime
	W    string // worker
	SW   string // member; in an update a pattern
	// Att is the code of the one attribute to edit in all members.
	Att     string
	Refresh int // seconds, 0: not
	Options Options
	From    Cmd    // List or Show: where to go after a change
	Token   string // proof that the request is not a mere link

	params map[string]string
}

// fault is an error in the words the client is told.
type fault string

func (f fault) Error() string { return string(f) }

const (
	errCmd    = fault("Invalid command.")
	errMime   = fault("Invalid mime type.")
	errParams = fault("Invalid parameters.")
	errMany   = fault("Too many or too long parameters.")
)

// ParseQuery reads the query of a request and, for POST, its form. Names that
// are given twice count as given last, and the form comes last. Unlike mod_jk
// it does not replace any characters: values are made harmless where they are
// shown. The Query is of use even when there is an error, whose text is meant
// for the client: an error about cmd leaves List, one about mime HTML.
func ParseQuery(query, form []byte) (*Query, error) {
	q := &Query{params: map[string]string{}}
	for _, text := range [][]byte{query, form} {
		if err := q.add(text); err != nil {
			return q, err
		}
	}
	q.W, q.SW, q.Att, q.Token = q.params["w"], q.params["sw"], q.params["att"], q.params["token"]
	if n, ok := number(q.params["re"]); ok {
		q.Refresh = min(max(n, 0), 24*60*60)
	}
	if n, ok := number(q.params["opt"]); ok && n > 0 {
		q.Options = Options(n & allOptions)
	}
	if q.params["from"] == Show.String() {
		q.From = Show
	}
	mime, ok := lookup(mimeNames[:], q.params["mime"])
	if !ok {
		return q, errMime
	}
	q.Mime = Mime(mime)
	cmd, ok := lookup(cmdNames[:], q.params["cmd"])
	if !ok {
		return q, errCmd
	}
	q.Cmd = Cmd(cmd)
	return q, nil
}

// lookup is the place of s among names; "" is the first.
func lookup(names []string, s string) (int, bool) {
	if s == "" {
		return 0, true
	}
	for i, n := range names {
		if s == n {
			return i, true
		}
	}
	return 0, false
}

// add reads name=value pairs.
func (q *Query) add(text []byte) error {
	if len(text) > MaxBody {
		return errMany
	}
	for rest, more := string(text), true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, ok1 := unescape(name)
		value, ok2 := unescape(value)
		if !ok1 || !ok2 {
			return errParams
		}
		if len(name) > maxName || len(value) > maxValue || len(q.params) >= maxParams {
			return errMany
		}
		q.params[name] = value
	}
	return nil
}

// unescape decodes %XX and '+'.
func unescape(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			b = append(b, ' ')
		case c != '%':
			b = append(b, c)
		case i+2 >= len(s):
			return "", false
		default:
			n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			b = append(b, byte(n))
			i += 2
		}
	}
	return string(b), true
}

// param is the value of a parameter; ok is false when it was not given.
func (q *Query) param(name string) (value string, ok bool) {
	value, ok = q.params[name]
	return value, ok
}

// number reads a decimal number of 32 bits.
func number(s string) (int, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	return int(n), err == nil
}
