package logformat

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/connector"
)

// braces tells whether a directive has an argument in braces.
type braces uint8

const (
	never braces = iota
	perhaps
	always
)

type directive struct {
	braces  braces
	write   writer
	prepare func(*item) *Error // checks the argument; an error without Token is about the directive
	needs   Needs
}

var directives = map[string]directive{
	"a":   {braces: perhaps, prepare: oneOf("", "c"), write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Request.RemoteAddr) }},
	"A":   {write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Request.LocalAddr) }},
	"B":   {write: func(b []byte, _ *item, e *Entry) []byte { return strconv.AppendInt(b, e.Body, 10) }},
	"b":   {write: writeBody},
	"C":   {braces: always, prepare: lower, write: writeCookie},
	"D":   {write: func(b []byte, _ *item, e *Entry) []byte { return duration(b, e, time.Microsecond) }},
	"e":   {braces: always, write: writeEnv},
	"f":   {write: dash},
	"h":   {braces: perhaps, prepare: oneOf("", "c"), write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Request.RemoteAddr) }},
	"H":   {write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Protocol) }},
	"i":   {braces: always, prepare: lower, write: writeRequestField},
	"I":   {write: func(b []byte, _ *item, e *Entry) []byte { return strconv.AppendInt(b, e.In, 10) }},
	"k":   {write: func(b []byte, _ *item, e *Entry) []byte { return strconv.AppendInt(b, int64(e.Earlier), 10) }},
	"l":   {write: dash},
	"L":   {braces: perhaps, prepare: oneOf("", "c"), write: writeID},
	"m":   {write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Method) }},
	"n":   {braces: always, needs: Needs{Notes: true}, write: writeNote},
	"o":   {braces: always, needs: Needs{ResponseFields: true}, prepare: lower, write: writeResponseField},
	"O":   {write: func(b []byte, _ *item, e *Entry) []byte { return strconv.AppendInt(b, e.Out, 10) }},
	"p":   {braces: perhaps, prepare: oneOf("", "canonical", "local", "remote"), write: writePort},
	"P":   {braces: perhaps, prepare: oneOf("", "pid", "tid", "hextid"), write: writePID},
	"q":   {write: writeQuery},
	"r":   {write: writeLine},
	"R":   {write: func(b []byte, _ *item, e *Entry) []byte { return str(b, e.Request.Handler) }},
	"s":   {write: writeStatus},
	"S":   {write: func(b []byte, _ *item, e *Entry) []byte { return strconv.AppendInt(b, e.In+e.Out, 10) }},
	"t":   {braces: perhaps, prepare: prepareTime, write: writeTime},
	"T":   {braces: perhaps, prepare: oneOf("", "s", "ms", "us"), write: writeDuration},
	"u":   {write: writeUser},
	"U":   {write: writePath},
	"v":   {write: writeServer},
	"V":   {write: func(b []byte, _ *item, e *Entry) []byte { return text(b, e.Request.ServerName) }},
	"x":   {braces: always, write: writeTLS},
	"X":   {write: writeConnection},
	"^ti": {braces: always, write: dash},
	"^to": {braces: always, write: dash},
	"^FB": {needs: Needs{FirstByte: true}, write: writeFirstByte},
}

// oneOf admits some arguments, which are in lower case and come in any.
func oneOf(known ...string) func(*item) *Error {
	return func(it *item) *Error {
		it.arg = strings.ToLower(it.arg)
		if slices.Contains(known, it.arg) {
			return nil
		}
		return &Error{Reason: strconv.Quote(it.arg) + " is none of " + strings.Join(known[1:], ", "), Nearest: nearest(it.arg, known[1:])}
	}
}

func lower(it *item) *Error {
	it.arg = strings.ToLower(it.arg)
	return nil
}

func dash(b []byte, _ *item, _ *Entry) []byte { return append(b, '-') }

// text appends what was received, or "-".
func text(b, s []byte) []byte {
	if len(s) == 0 {
		return append(b, '-')
	}
	return escape(b, s)
}

func str(b []byte, s string) []byte {
	if s == "" {
		return append(b, '-')
	}
	return escape(b, s)
}

// value is text for what may be there and empty.
func value(b, s []byte) []byte {
	if s == nil {
		return append(b, '-')
	}
	return escape(b, s)
}

func writeBody(b []byte, _ *item, e *Entry) []byte {
	if e.Body == 0 {
		return append(b, '-')
	}
	return strconv.AppendInt(b, e.Body, 10)
}

// writeCookie finds a cookie among all Cookie fields there are; the front
// keeps several of them apart. As in Apache the name is in any case, the value
// is what follows its '=', quotes and all, and one without a value is none.
func writeCookie(b []byte, it *item, e *Entry) []byte {
	for i := range e.Request.Fields {
		f := &e.Request.Fields[i]
		if !connector.EqualFold(f.Name, "cookie") {
			continue
		}
		for rest := f.Value; len(rest) > 0; {
			var pair []byte
			pair, rest, _ = bytes.Cut(rest, []byte{';'})
			name, v, _ := bytes.Cut(pair, []byte{'='})
			if len(v) > 0 && connector.EqualFold(bytes.Trim(name, " \t"), it.arg) {
				return escape(b, bytes.Trim(v, " \t"))
			}
		}
	}
	return append(b, '-')
}

func writeEnv(b []byte, it *item, e *Entry) []byte {
	v, ok := e.Request.Env.Get(it.arg)
	if !ok {
		return append(b, '-')
	}
	return escape(b, v)
}

func writeNote(b []byte, it *item, e *Entry) []byte {
	v, ok := e.Request.Notes.Get(it.arg)
	if !ok {
		return append(b, '-')
	}
	return escape(b, v)
}

// writeRequestField writes a field that came several times as one list.
func writeRequestField(b []byte, it *item, e *Entry) []byte {
	found := false
	for i := range e.Request.Fields {
		f := &e.Request.Fields[i]
		if !connector.EqualFold(f.Name, it.arg) {
			continue
		}
		if found {
			b = append(b, ", "...)
		}
		b, found = escape(b, f.Value), true
	}
	switch {
	case found:
		return b
	case e.RequestField == nil:
		return append(b, '-')
	}
	return value(b, e.RequestField(it.arg))
}

// writeResponseField writes, as Apache does, the type of the content without
// its parameters.
func writeResponseField(b []byte, it *item, e *Entry) []byte {
	if e.ResponseField == nil {
		return append(b, '-')
	}
	v := e.ResponseField(it.arg)
	if it.arg == "content-type" {
		if end := bytes.IndexByte(v, ';'); end >= 0 {
			v = bytes.TrimRight(v[:end], " \t")
		}
	}
	return value(b, v)
}

func writePort(b []byte, it *item, e *Entry) []byte {
	switch it.arg {
	case "local":
		return strconv.AppendInt(b, int64(e.LocalPort), 10)
	case "remote":
		return text(b, e.Request.RemotePort)
	}
	return strconv.AppendInt(b, int64(e.Request.ServerPort), 10)
}

// writePID writes the process for its threads too: a request has no thread of
// its own.
func writePID(b []byte, it *item, e *Entry) []byte {
	if it.arg == "hextid" {
		return strconv.AppendInt(b, int64(e.PID), 16)
	}
	return strconv.AppendInt(b, int64(e.PID), 10)
}

// writePath writes the path for mapping, which is what mod_jk makes Apache's %U
// of a request that it maps: decoded, and without dot segments and parameters.
// A path that was refused is written as it came.
func writePath(b []byte, _ *item, e *Entry) []byte {
	if len(e.Request.MatchPath) == 0 {
		return text(b, e.Request.Path)
	}
	return text(b, e.Request.MatchPath)
}

func writeQuery(b []byte, _ *item, e *Entry) []byte {
	if !e.Request.HasQuery {
		return b
	}
	return escape(append(b, '?'), e.Request.Query)
}

// writeLine writes the request line, but no password in it.
func writeLine(b []byte, _ *item, e *Entry) []byte {
	if len(e.Target) == 0 {
		return append(b, '-')
	}
	b = append(escape(b, e.Method), ' ')
	if from, to := password(e.Target); from < to {
		b = append(escape(b, e.Target[:from]), "XXXXXXXX"...)
		b = escape(b, e.Target[to:])
	} else {
		b = escape(b, e.Target)
	}
	if len(e.Protocol) > 0 {
		b = escape(append(b, ' '), e.Protocol)
	}
	return b
}

// password finds the one in an absolute target: between the first ':' of the
// authority and its last '@'.
func password(target []byte) (from, to int) {
	at := bytes.Index(target, []byte("://"))
	if at < 0 || bytes.IndexByte(target[:at], '/') >= 0 {
		return 0, 0
	}
	at += 3
	end := len(target)
	if i := bytes.IndexAny(target[at:], "/?#"); i >= 0 {
		end = at + i
	}
	to = bytes.LastIndexByte(target[at:end], '@')
	if to < 0 {
		return 0, 0
	}
	from = bytes.IndexByte(target[at:at+to], ':')
	if from < 0 {
		return 0, 0
	}
	return at + from + 1, at + to
}

func writeID(b []byte, it *item, e *Entry) []byte {
	if it.arg == "c" {
		return append(b, '-')
	}
	return text(b, e.Request.ID)
}

func writeStatus(b []byte, _ *item, e *Entry) []byte {
	if e.Status == 0 {
		return append(b, '-')
	}
	return strconv.AppendInt(b, int64(e.Status), 10)
}

func duration(b []byte, e *Entry, unit time.Duration) []byte {
	return strconv.AppendInt(b, int64(max(e.End.Sub(e.Start), 0)/unit), 10)
}

func writeDuration(b []byte, it *item, e *Entry) []byte {
	switch it.arg {
	case "ms":
		return duration(b, e, time.Millisecond)
	case "us":
		return duration(b, e, time.Microsecond)
	}
	return duration(b, e, time.Second)
}

func writeFirstByte(b []byte, _ *item, e *Entry) []byte {
	if e.FirstByte.IsZero() {
		return append(b, '-')
	}
	return strconv.AppendInt(b, max(e.FirstByte.Sub(e.Start), 0).Microseconds(), 10)
}

// writeUser tells a user with an empty name from none, as Apache does.
func writeUser(b []byte, _ *item, e *Entry) []byte {
	switch u := e.Request.RemoteUser; {
	case u == nil:
		return append(b, '-')
	case len(u) == 0:
		return append(b, `""`...)
	default:
		return escape(b, u)
	}
}

func writeServer(b []byte, _ *item, e *Entry) []byte {
	if e.Server == "" {
		return text(b, e.Request.ServerName)
	}
	return escape(b, e.Server)
}

func writeTLS(b []byte, it *item, e *Entry) []byte {
	if t := e.Request.TLS; t != nil {
		switch it.arg {
		case "HTTPS":
			return append(b, "on"...)
		case "SSL_PROTOCOL":
			return str(b, t.Protocol)
		case "SSL_CIPHER":
			return str(b, t.Cipher)
		case "SSL_SESSION_ID":
			return str(b, t.SessionID)
		case "SSL_CIPHER_USEKEYSIZE":
			return strconv.AppendInt(b, int64(t.KeySize), 10)
		}
	}
	return append(b, '-')
}

func writeConnection(b []byte, _ *item, e *Entry) []byte {
	switch {
	case e.Aborted:
		return append(b, 'X')
	case e.Kept:
		return append(b, '+')
	}
	return append(b, '-')
}
