package conf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrorDocument is what is sent instead of jkd's own page for an error. At most
// one of Path, URL and Text is set; none is the word default: jkd's page.
type ErrorDocument struct {
	Status int // 400 to 599
	// Path is a path of the same server, encoded, and the query.
	Path string
	URL  string // absolute: the client is sent there
	Text string // HTML
	Line int
}

// addErrorDocument adds what the main server, a virtual host, a location and a
// directory may say.
func addErrorDocument(t table) {
	t.add(directive{name: "ErrorDocument", many: true, set: func(p *parser, g given) error {
		e, err := errorDocument(g.Value)
		switch {
		case err != nil:
			return err
		case e.URL != "" && e.Status == 401:
			p.warn(g.Line, g.Key, "has no effect: who is sent elsewhere for 401 is never asked for a password")
			return nil
		}
		e.Line = g.Line
		a := g.in.answers()
		a.ErrorDocuments = append(a.ErrorDocuments, e)
		return nil
	}})
}

// errorDocument reads STATUS and a path, a URL, a text or the word default, which
// Apache tells apart by their looks.
func errorDocument(value string) (e ErrorDocument, err error) {
	status, rest, err := nextWord(value)
	if err != nil {
		return e, err
	}
	if e.Status, err = strconv.Atoi(status); err != nil || e.Status < 400 || e.Status > 599 {
		return e, fmt.Errorf("%s is no status from 400 to 599", Printable(status))
	}
	if rest == "" {
		return e, errors.New("needs a path, a URL, a text or the word default behind the status")
	}
	what, more, err := nextWord(rest)
	switch {
	case err != nil:
		return e, err
	case more != "":
		return e, errors.New("needs one argument behind the status; a text with blanks must be quoted")
	case strings.EqualFold(what, "default"):
	case strings.ContainsAny(what, " \t") || what != "" && what[0] != '/' && !absoluteURL(what):
		e.Text = what
	case strings.ContainsFunc(what, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return e, errors.New("the path or URL contains control characters")
	case what == "":
		return e, errors.New("the argument is empty; the word default is for jkd's own page")
	case what[0] == '/':
		if badEscape(what) {
			return e, fmt.Errorf("in the path %s a '%%' is not followed by two hexadecimal digits other than 00", Printable(what))
		}
		e.Path = what
	default:
		e.URL = what
	}
	return e, nil
}

// absoluteURL tells a scheme and "://" at the beginning.
func absoluteURL(s string) bool {
	scheme := hasScheme.FindString(s)
	return scheme != "" && strings.HasPrefix(s[len(scheme):], "//")
}

// badEscape tells a '%' that is not the beginning of an escape, or is one of NUL.
func badEscape(path string) bool {
	for {
		_, rest, found := strings.Cut(path, "%")
		if !found {
			return false
		}
		if len(rest) < 2 {
			return true
		}
		if n, err := strconv.ParseUint(rest[:2], 16, 8); err != nil || n == 0 {
			return true
		}
		path = rest
	}
}
