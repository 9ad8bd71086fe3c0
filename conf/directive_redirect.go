package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Redirect is one Redirect, RedirectMatch, RedirectTemp or RedirectPermanent of
// mod_alias: a path that is elsewhere, or nowhere any more.
type Redirect struct {
	// Path is what the path of a request begins with, up to a slash or its end;
	// with Match a regular expression; "" in a location for all of it, which then
	// is at URL whatever follows.
	Path  string
	Match bool
	// Status is 300 to 399 with a URL, or 400 to 599 without one.
	Status int
	// URL is absolute or begins with '/'. With Match it may contain $0 to $9.
	URL  string
	Line int
}

// addRedirects adds what the main server, a virtual host and a location may say.
func addRedirects(t table) {
	for _, d := range []struct {
		name   string
		status int
		match  bool
	}{{"Redirect", 302, false}, {"RedirectTemp", 302, false}, {"RedirectPermanent", 301, false}, {"RedirectMatch", 302, true}} {
		t.add(directive{name: d.name, many: true, set: func(p *parser, g given) error {
			args, err := words(g.Value)
			if err != nil {
				return err
			}
			r, err := redirect(args, d.status, d.match, g.in.location != nil)
			if err != nil {
				return err
			}
			r.Line = g.Line
			if l := g.in.location; l != nil {
				l.Redirects = append(l.Redirects, r)
			} else {
				g.in.server.redirects = append(g.in.server.redirects, r)
			}
			return nil
		}})
	}
}

var redirectStatuses = map[string]int{"permanent": 301, "temp": 302, "seeother": 303, "gone": 410}

// hasScheme tells a URL that names its scheme.
var hasScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// redirect reads [STATUS] PATH [URL], and in a location [STATUS] [URL] too.
func redirect(args []string, status int, match, inLocation bool) (Redirect, error) {
	r := Redirect{Status: status, Match: match}
	if n, named := redirectStatuses[strings.ToLower(args[0])]; named {
		r.Status, args = n, args[1:]
	} else if args[0] != "" && '0' <= args[0][0] && args[0][0] <= '9' {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 300 || n > 599 {
			return r, fmt.Errorf("%q is no status from 300 to 599", args[0])
		}
		r.Status, args = n, args[1:]
	} else if len(args) == 3 {
		return r, fmt.Errorf("%q is no status: there are permanent, temp, seeother, gone and numbers%s", args[0], DidYouMean(args[0], []string{"permanent", "temp", "seeother", "gone"}))
	}
	urls := 0
	if r.Status < 400 {
		urls = 1
	}
	whole := inLocation && !match && len(args) == urls
	if !whole {
		if len(args) == 0 {
			return r, errors.New("needs a path")
		}
		r.Path, args = args[0], args[1:]
	}
	switch {
	case len(args) < urls:
		return r, errors.New("the URL to redirect to is missing")
	case urls == 0 && len(args) > 0:
		return r, fmt.Errorf("the status %d has no URL", r.Status)
	case len(args) > urls:
		return r, errors.New("needs at most a status, a path and a URL; what contains blanks must be quoted")
	case whole:
	case match:
		if err := regularExpression(r.Path); err != nil {
			return r, err
		}
	case !strings.HasPrefix(r.Path, "/"):
		return r, fmt.Errorf("the path %q does not begin with '/'", r.Path)
	}
	if urls == 0 {
		return r, nil
	}
	r.URL = args[0]
	switch {
	case strings.ContainsFunc(r.URL, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return r, errors.New("the URL contains control characters")
	case whole && strings.Contains(r.URL, "%{"):
		return r, errors.New("there are no expressions: %{ can't stand in the URL")
	case r.URL == "" || !match && r.URL[0] != '/' && !hasScheme.MatchString(r.URL):
		return r, fmt.Errorf("%q is no URL: it begins with a scheme or with '/'", r.URL)
	}
	return r, nil
}
