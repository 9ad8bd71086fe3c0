package files

import (
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"syscall"

	"jkd/connector"
)

// Name is what the worker of files is called in errors and logs.
const Name = "files"

// index is the file that stands for its directory.
const index = "index.html"

// Causes of a refusal.
var (
	errType    = errors.New("is not a regular file")
	errName    = errors.New("is not the name of a file")
	errMethod  = errors.New("files can only be read")
	errNoIndex = errors.New("a directory without " + index)
	errSlash   = errors.New("a directory, named without a slash at the end")
	errRefused = errors.New("a condition or range of the request cannot be met")
)

// Serve answers r with the file called name below the directory dir. name is
// made of elements with slashes between them, none of them empty, "." or "..";
// a slash at its end, or name "", asks for index.html in that directory. A
// directory without the slash is answered with a redirect to r's path with it.
//
// What is not there, or no regular file, is a 404, what may not be read a 403,
// another method than GET and HEAD a 405: an *connector.Error with Own set, so
// that the page is the front's. It fails with 500 where the machine does.
// dir must be absolute. Serve may be called concurrently.
func Serve(dir, name string, r *connector.Request, w connector.ResponseWriter) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		// Whoever configured it should hear of it.
		return &connector.Error{Worker: Name, Op: "open directory", Status: 404, Err: err}
	}
	defer root.Close()
	f, info, err := open(root, name)
	switch {
	case err == errSlash:
		return redirect(r)
	case err != nil:
		return failure(err)
	}
	defer f.Close()
	if m := string(r.Method); m != http.MethodGet && m != http.MethodHead {
		e := own(http.StatusMethodNotAllowed, errMethod)
		e.Fields = []connector.Field{{Name: []byte("Allow"), Value: []byte("GET, HEAD")}}
		return e
	}
	return send(f, info, r, w)
}

// open opens the regular file that name asks for.
func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	name, asDir := strings.CutSuffix(name, "/")
	if name == "" {
		name, asDir = ".", true
	}
	if !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0 {
		return nil, nil, errName
	}
	// Looked at before it is opened: opening is enough to disturb some devices.
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir() && !asDir:
		return nil, nil, errSlash
	case info.IsDir():
		name = path.Join(name, index)
		if info, err = root.Stat(name); errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			return nil, nil, errNoIndex
		} else if err != nil {
			return nil, nil, err
		}
	case asDir:
		return nil, nil, syscall.ENOTDIR
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errType
	}
	// And again: it may be another one by now. O_NONBLOCK, or a FIFO would keep
	// us waiting for a writer.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errType
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// failure is the answer to a file that can't be opened.
func failure(err error) *connector.Error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return own(http.StatusForbidden, err)
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return &connector.Error{Worker: Name, Op: "open file", Status: http.StatusInternalServerError, Err: err}
	}
	return own(http.StatusNotFound, err)
}

// own is an answer whose page the front writes. Nothing has failed.
func own(status int, err error) *connector.Error {
	return &connector.Error{Worker: Name, Op: "open file", Status: status, Own: true, Err: err}
}

// redirect sends the client to the same path with a slash at its end. It is
// made of the resolved path: that begins with one slash, so that it can't name
// another host.
func redirect(r *connector.Request) *connector.Error {
	to := []byte((&url.URL{Path: string(r.MatchPath) + "/"}).EscapedPath())
	if r.HasQuery {
		to = append(append(to, '?'), r.Query...)
	}
	e := own(http.StatusMovedPermanently, errSlash)
	e.Fields = []connector.Field{{Name: []byte("Location"), Value: to}}
	return e
}
