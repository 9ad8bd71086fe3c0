package proxy

import (
	"bytes"
	"strconv"
	"strings"

	"jkd/conf"
	"jkd/connector"
)

// reverse turns what a container says of itself into what the client can use:
// the ProxyPassReverse directives of one server.
type reverse struct {
	urls           []reverseURL
	paths, domains []conf.ProxyRewrite
}

type reverseURL struct{ path, url string }

// newReverse is nil if there is nothing to do.
func newReverse(s *Setup, server *Server) *reverse {
	r := &reverse{paths: server.CookiePaths, domains: server.CookieDomains}
	for _, x := range server.Reverses {
		t, err := split(x.URL)
		if err != nil || t.scheme != "balancer" {
			r.urls = append(r.urls, reverseURL{x.Path, x.URL})
			continue
		}
		// A container knows nothing of the balancer: the members count.
		r.urls = append(r.urls, reverseURL{x.Path, x.URL})
		for i := range s.Workers {
			w := &s.Workers[i]
			if w.Balancer != t.host {
				continue
			}
			host := w.host
			if strings.Contains(host, ":") {
				host = "[" + host + "]"
			}
			path := string(join(join([]byte{}, 0, w.path), 0, t.path))
			u := w.scheme + "://" + host + ":" + strconv.Itoa(int(w.port)) + path
			r.urls = append(r.urls, reverseURL{x.Path, u})
			if w.scheme == "http" && w.port == 80 {
				r.urls = append(r.urls, reverseURL{x.Path, "http://" + host + path})
			}
			if w.scheme == "ajp" { // what Tomcat says is http
				r.urls = append(r.urls, reverseURL{x.Path, "http://" + host + path})
			}
		}
	}
	if len(r.urls)+len(r.paths)+len(r.domains) == 0 {
		return nil
	}
	return r
}

// apply changes fields in place. q tells what the client calls this server.
func (r *reverse) apply(fields []connector.Field, q *connector.Request) {
	for i := range fields {
		f := &fields[i]
		switch len(f.Name) {
		case 3, 8, 16, 11:
		case 10:
			if len(r.paths)+len(r.domains) > 0 && connector.EqualFold(f.Name, "set-cookie") {
				f.Value = r.cookie(f.Value)
			}
			continue
		default:
			continue
		}
		if connector.EqualFold(f.Name, "location") || connector.EqualFold(f.Name, "content-location") || connector.EqualFold(f.Name, "uri") || connector.EqualFold(f.Name, "destination") {
			f.Value = r.location(f.Value, q)
		}
	}
}

// location is what becomes of a URL.
func (r *reverse) location(v []byte, q *connector.Request) []byte {
	for i := range r.urls {
		u := &r.urls[i]
		if len(v) < len(u.url) || !strings.EqualFold(string(v[:len(u.url)]), u.url) {
			continue
		}
		rest := v[len(u.url):]
		// http://app must not take http://app.example.org or http://app:8080.
		if !strings.HasSuffix(u.url, "/") && len(rest) > 0 && bytes.IndexByte([]byte("/?#;"), rest[0]) < 0 {
			continue
		}
		out := q.AppendOrigin(nil)
		out = append(out, u.path...)
		if strings.HasSuffix(u.path, "/") && len(rest) > 0 && rest[0] == '/' {
			rest = rest[1:]
		}
		return append(out, rest...)
	}
	return v
}

// cookie changes the attributes Path and Domain of a Set-Cookie.
func (r *reverse) cookie(v []byte) []byte {
	var out []byte
	for i, part := range bytes.Split(v, []byte{';'}) {
		if i > 0 {
			out = append(out, ';')
			name, value, ok := bytes.Cut(part, []byte{'='})
			text := bytes.TrimSpace(value)
			switch trimmed := bytes.TrimSpace(name); {
			case !ok:
			case connector.EqualFold(trimmed, "path"):
				for _, x := range r.paths {
					if rest, ok := bytes.CutPrefix(text, []byte(x.Internal)); ok {
						part = append(append(append(bytes.Clone(name), '='), x.Public...), rest...)
						break
					}
				}
			case connector.EqualFold(trimmed, "domain"):
				for _, x := range r.domains {
					if strings.EqualFold(strings.TrimPrefix(string(text), "."), strings.TrimPrefix(x.Internal, ".")) {
						part = append(append(bytes.Clone(name), '='), x.Public...)
						break
					}
				}
			}
		}
		out = append(out, part...)
	}
	return out
}
