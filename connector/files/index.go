package files

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"jkd/connector"
)

// index looks for the first index of the directory that r asks for. It is
// another path, to which somebody else may be mapped: to a JSP a container. As
// in Apache it has to be a file even so, but for what mod_proxy's directives
// forward, and if there is no other index. refused is the answer where there is one that is not to be seen, and
// no other.
func (c *Connector) index(names []string, r *connector.Request) (to *connector.Redirect, refused *connector.Error) {
	var mapped *connector.Redirect // the first that is no file
	for _, name := range names {
		if name == "disabled" {
			break
		}
		sub := *r
		sub.Path = indexPath(r, name)
		var err error
		if sub.MatchPath, err = connector.CleanPath(nil, sub.Path); err != nil {
			continue
		}
		if c.o.Forwarded != nil && c.o.Forwarded.Match(&sub) != nil {
			return &connector.Redirect{Path: sub.Path}, nil
		}
		forwarded := c.o.Mapped != nil && c.o.Mapped.Match(&sub) != nil
		if forwarded && mapped == nil {
			mapped = &connector.Redirect{Path: sub.Path}
		}
		p, name := c.lookup(&sub)
		if p == nil || isSource(name) && !forwarded {
			continue
		}
		switch f, err := p.find(name, &sub); {
		case err == nil && !f.info.IsDir():
			return &connector.Redirect{Path: sub.Path}, nil
		case err != nil:
			if e := failure(err); e.Status == http.StatusForbidden {
				refused = e
			}
		}
	}
	if refused != nil {
		return nil, refused
	}
	return mapped, nil
}

// indexPath is the path of an index as a client would ask for it. Parameters at
// the end of the directory's, most likely the id of a session, stay at the end.
func indexPath(r *connector.Request, name string) []byte {
	escaped := escape(name)
	if strings.HasPrefix(name, "/") {
		return []byte(escaped)
	}
	path, params := r.Path, []byte(nil)
	if i := bytes.LastIndexByte(path, '/') + 1; i < len(path) && path[i] == ';' {
		path, params = path[:i], path[i:]
	}
	if !bytes.HasSuffix(path, []byte("/")) { // /a/b/..
		path = []byte(escape(string(r.MatchPath)))
	}
	return append(append(bytes.Clone(path), escaped...), params...)
}

// escape writes a path as a client would. A ';' in it begins no parameter.
func escape(path string) string {
	return strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), ";", "%3B")
}
