package files

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"jkd/connector"
)

// webapps is JkAutoAlias of one server: /context/file is that file below the
// directory of the web applications, where there is a directory context. As in
// mod_jk there is neither a ROOT nor a context of several levels, and the
// archive beside its directory (/context.war) is 403. Requests with the variable
// no-jk are left alone.
type webapps struct {
	place
	// session is the name of the session id that is cut off a path before the
	// file is looked for, up to the next ';' or '/'; "" for none. A name that
	// begins with ';' need not be given: path parameters are never looked at.
	session string
}

// maps tells whether r is for a web application.
func (s *webapps) maps(r *connector.Request) bool {
	if _, never := r.Env.Get("no-jk"); never || len(r.MatchPath) < 2 {
		return false
	}
	c := s.context(r)
	return isArchive(c) || s.has(c)
}

// Name implements connector.Worker.
func (s *webapps) Name() string { return Name }

// Service implements connector.Worker.
func (s *webapps) Service(r *connector.Request, w connector.ResponseWriter) error {
	if c := s.context(r); isArchive(c) && !s.has(c) {
		return own(http.StatusForbidden, errArchive)
	}
	return s.serve(s.name(r), r, w)
}

// name is the name of the file that r is for.
func (s *webapps) name(r *connector.Request) string {
	path := r.MatchPath
	if i := bytes.Index(path, []byte(s.session)); s.session != "" && i >= 0 {
		rest := path[i+len(s.session):]
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
	info, err := os.Stat(filepath.Join(s.root.path, context))
	return err == nil && info.IsDir()
}

// isArchive tells whether a context's name is that of a packed application.
func isArchive(context string) bool { return hasSuffixFold(context, ".war") }
