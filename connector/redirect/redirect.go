// Package redirect serves the Redirect directives of Apache's mod_alias: it tells
// clients where a path is, or that it is gone.
package redirect

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/forwarduri"
)

// New makes what one process needs: early is to be asked before anybody asks who
// the client is, and has the directives of the main server and the virtual hosts
// and those that take whole locations; late, asked of clients that may, has all
// of locations. Either is nil if there are none. As in Apache, early is not for
// requests that forwarded (mod_proxy's directives; nil: nobody) maps. Both may be
// used concurrently.
func New(cfg *conf.Config, forwarded connector.Connector) (early, late connector.Connector) {
	s := &servers{forwarded: forwarded, lists: [][]*rule{rules(cfg.Redirects)}}
	any := len(cfg.Redirects) > 0
	for i := range cfg.VHosts {
		list := rules(cfg.VHosts[i].Redirects)
		s.lists, any = append(s.lists, list), any || len(list) > 0
	}
	located := false
	for i := range cfg.Locations {
		list := rules(cfg.Locations[i].Redirects)
		s.located, located = append(s.located, list), located || len(list) > 0
	}
	if any || located {
		early = s
	}
	if located {
		late = s.located
	}
	return early, late
}

func rules(list []conf.Redirect) (out []*rule) {
	for _, r := range list {
		x := &rule{Redirect: r}
		if r.Match {
			x.match = regexp.MustCompile("(?s:" + r.Path + ")") // conf has judged it; as in Apache a dot is a line feed too
		}
		out = append(out, x)
	}
	return out
}

type servers struct {
	lists     [][]*rule // by virtual host
	located   locations
	forwarded connector.Connector
}

// Match implements connector.Connector.
func (s *servers) Match(r *connector.Request) connector.Worker {
	if r.VHost >= len(s.lists) || len(r.MatchPath) == 0 || r.MatchPath[0] != '/' {
		return nil
	}
	x := s.located.find(r, true)
	for _, own := range s.lists[r.VHost] {
		if x != nil {
			break
		}
		if own.covers(r.MatchPath) {
			x = own
		}
	}
	if x == nil || s.forwarded != nil && s.forwarded.Match(r) != nil {
		return nil
	}
	return x
}

// Close implements connector.Connector.
func (s *servers) Close() error { return nil }

type locations [][]*rule // by their place in the configuration

// Match implements connector.Connector. What a later location says counts.
func (l locations) Match(r *connector.Request) connector.Worker {
	for _, whole := range []bool{true, false} {
		if x := l.find(r, whole); x != nil {
			return x
		}
	}
	return nil
}

func (l locations) find(r *connector.Request, whole bool) *rule {
	for i := len(r.Locations) - 1; i >= 0; i-- {
		for _, x := range l[r.Locations[i]] {
			if (x.Path == "") == whole && x.covers(r.MatchPath) {
				return x
			}
		}
	}
	return nil
}

// Close implements connector.Connector.
func (l locations) Close() error { return nil }

// rule is one directive, and the worker of the requests that it is for.
type rule struct {
	conf.Redirect
	match *regexp.Regexp
}

func (x *rule) covers(path []byte) bool {
	if x.match != nil {
		return x.match.Match(path)
	}
	return x.Path == "" || forwarduri.Under(path, x.Path) > 0
}

// Name implements connector.Worker.
func (x *rule) Name() string { return "Redirect" }

var errTarget = errors.New("what the expression makes of the path is no URL")

// Service implements connector.Worker.
func (x *rule) Service(r *connector.Request, _ connector.ResponseWriter) error {
	e := &connector.Error{Worker: x.Name(), Op: "redirect", Status: x.Status, Own: true}
	if x.Status >= 400 {
		return e
	}
	to := x.target(r)
	if to == nil {
		return &connector.Error{Worker: x.Name(), Op: "redirect", Status: 500, Err: errTarget}
	}
	if r.HasQuery && !strings.Contains(string(to), "?") {
		to = append(append(to, '?'), r.Query...)
	}
	e.Fields = []connector.Field{{Name: []byte("Location"), Value: to}}
	return e
}

// target is where a request is to go, nil for nowhere.
func (x *rule) target(r *connector.Request) []byte {
	var to []byte
	switch {
	case x.match != nil:
		path := string(r.MatchPath)
		text := connector.Fill(x.URL, path, x.match.FindStringSubmatchIndex(path))
		if text == "" {
			return nil
		}
		// The query and the fragment are as the configuration has them.
		end := strings.IndexAny(text, "?#")
		if end < 0 {
			end = len(text)
		}
		to = append(escape(nil, text[:end]), escapeControls(text[end:])...)
	case x.Path == "":
		to = []byte(x.URL)
	default:
		n := forwarduri.Under(r.MatchPath, x.Path)
		to = append([]byte(x.URL), rest(r, n)...)
	}
	if to[0] == '/' {
		return append(r.AppendOrigin(nil), to...)
	}
	if !scheme.Match(to) {
		return nil
	}
	return to
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// rest is what stands behind MatchPath[:n] in the path of a request, with its
// parameters.
func rest(r *connector.Request, n int) []byte {
	if canon, err := forwarduri.Append(nil, r.Path, conf.ForwardURIProxy); err == nil {
		if rest, ok := forwarduri.Behind(canon, r.MatchPath, n); ok {
			return lower(rest)
		}
	}
	return escape(nil, string(r.MatchPath[n:]))
}

// lower writes escapes as Apache does here.
func lower(s []byte) []byte {
	for i := range len(s) - min(len(s), 2) {
		if s[i] == '%' {
			copy(s[i+1:], bytes.ToLower(s[i+1:i+3]))
		}
	}
	return s
}

const hex = "0123456789abcdef"

// escape is Apache's escaping of local paths.
func escape(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("$-_.+!*'(),:;@&=/~", c) >= 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// escapeControls escapes what could end a line, which groups may have brought
// into a query.
func escapeControls(s string) (dst []byte) {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
