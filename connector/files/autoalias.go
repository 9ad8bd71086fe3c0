package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"jkd/connector"
)

// Site is JkAutoAlias and JkStripSession of one server.
type Site struct {
	// Dir is the directory of the web applications, absolute; "" for none.
	Dir string
	// Session is the name of the session id that is cut off a path before the
	// file is looked for, up to the next ';' or '/'; "" for none. A name that
	// begins with ';' need not be given: path parameters are never looked at.
	Session string
	// Directories serves directories without index.html (ForwardDirectories),
	// nil: they are 404.
	Directories connector.Worker
}

// AutoAlias maps requests to the files beside the servlets, as mod_jk's
// JkAutoAlias does: /context/file is that file below the directory of the web
// applications, where there is a directory context. It is to be asked for
// requests that no mount maps, and leaves those with the variable no-jk or a
// handler alone. As in mod_jk there is neither a ROOT nor a context of several
// levels, and the archive beside its directory (/context.war) is 403.
//
// Two things are stricter: elements called WEB-INF or META-INF, in any case,
// are 404 at every depth, and so are JSP sources that no mount has.
//
// It may be used concurrently.
type AutoAlias struct{ sites []*webapps }

var _ connector.Connector = (*AutoAlias)(nil)

// NewAutoAlias makes the connector of sites, by Request.VHost. Nil when none of
// them has a directory.
func NewAutoAlias(sites []Site) *AutoAlias {
	a := &AutoAlias{}
	any := false
	for _, s := range sites {
		if s.Dir == "" {
			a.sites = append(a.sites, nil)
			continue
		}
		any = true
		a.sites = append(a.sites, &webapps{s})
	}
	if !any {
		return nil
	}
	return a
}

// Match implements connector.Connector.
func (a *AutoAlias) Match(r *connector.Request) connector.Worker {
	if r.VHost < 0 || r.VHost >= len(a.sites) || a.sites[r.VHost] == nil || r.Handler != "" {
		return nil
	}
	if _, never := r.Env.Get("no-jk"); never {
		return nil
	}
	s := a.sites[r.VHost]
	if len(r.MatchPath) < 2 || r.MatchPath[0] != '/' {
		return nil
	}
	if c := s.context(r); !isArchive(c) && !s.has(c) {
		return nil
	}
	return s
}

// Close implements connector.Connector. There is nothing to close.
func (a *AutoAlias) Close() error { return nil }

// webapps is the worker of one site.
type webapps struct{ Site }

// Name implements connector.Worker.
func (s *webapps) Name() string { return Name }

// Service implements connector.Worker.
func (s *webapps) Service(r *connector.Request, w connector.ResponseWriter) error {
	if c := s.context(r); isArchive(c) && !s.has(c) {
		return own(403, errArchive)
	}
	name := s.name(r)
	if hasEscapedSlash(r.Path) {
		return own(404, errName)
	}
	if private(name) {
		return own(404, errPrivate)
	}
	err := Serve(s.Dir, name, r, w)
	if s.Directories != nil && errors.Is(err, errNoIndex) {
		return s.Directories.Service(r, w)
	}
	return err
}

var (
	errArchive = errors.New("is the archive of a web application")
	errPrivate = errors.New("is the web application's own")
)

// name is the name of the file that r is for.
func (s *webapps) name(r *connector.Request) string {
	path := r.MatchPath
	if i := bytes.Index(path, []byte(s.Session)); s.Session != "" && i >= 0 {
		rest := path[i+len(s.Session):]
		path = append([]byte(nil), path[:i]...)
		if end := bytes.IndexAny(rest, ";/"); end >= 0 {
			path = append(path, rest[end:]...)
		}
	}
	return strings.TrimPrefix(string(path), "/")
}

// context is the first element of r's file.
func (s *webapps) context(r *connector.Request) string {
	context, _, _ := strings.Cut(s.name(r), "/")
	return context
}

// has tells whether there is a directory of a context.
func (s *webapps) has(context string) bool {
	if context == "" || context == "." || context == ".." || strings.IndexByte(context, 0) >= 0 {
		return false
	}
	info, err := os.Stat(filepath.Join(s.Dir, context))
	return err == nil && info.IsDir()
}

// isArchive tells whether a context's name is that of a packed application.
func isArchive(context string) bool { return hasSuffixFold(context, ".war") }

// private tells whether name is something of a web application that is not for
// clients, or is in such a directory.
func private(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(element, "WEB-INF") || strings.EqualFold(element, "META-INF") {
			return true
		}
	}
	return hasSuffixFold(name, ".jsp") || hasSuffixFold(name, ".jspx") || hasSuffixFold(name, ".jspf")
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// hasEscapedSlash tells whether a path as the client wrote it has a %2F, which
// is no separator and in no file's name.
func hasEscapedSlash(raw []byte) bool {
	return bytes.Contains(raw, []byte("%2F")) || bytes.Contains(raw, []byte("%2f"))
}
