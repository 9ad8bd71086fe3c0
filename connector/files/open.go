package files

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"syscall"

	"jkd/conf"
	"jkd/connector"
)

// Name is what the worker of files is called in errors and logs.
const Name = "files"

// Causes of a refusal.
var (
	errType    = errors.New("is not a regular file")
	errName    = errors.New("is not the name of a file")
	errPrivate = errors.New("is the web application's own")
	errApaches = errors.New("is a file of Apache's configuration")
	errDenied  = errors.New("the configuration does not let this client in")
	errLink    = errors.New("is a symbolic link, and Options does not let it be followed")
	errOwner   = errors.New("is a symbolic link of another owner than what it leads to, and Options wants SymLinksIfOwnerMatch")
	errMethod  = errors.New("files can only be read")
	errNoIndex = errors.New("a directory without an index")
	errSlash   = errors.New("a directory, named without a slash at the end")
	errRefused = errors.New("a condition or range of the request cannot be met")
	errArchive = errors.New("is the archive of a web application")
)

// checkName tells why a name, without the slash at its end, cannot be that of
// something that is shown.
func checkName(name string) error {
	switch {
	case !fs.ValidPath(name) || strings.IndexByte(name, 0) >= 0:
		return own(http.StatusNotFound, errName)
	case private(name):
		return own(http.StatusNotFound, errPrivate)
	case apaches(name):
		return own(http.StatusForbidden, errApaches)
	}
	return nil
}

// checkLinks tells why a link on the way to name is not to be followed. Somebody
// who may change the directory could change a link right afterwards, as with
// Apache; it would lead to nothing outside of the directory even so.
func (d *directory) checkLinks(at *os.Root, name string) error {
	if !d.strict || name == "." {
		return nil
	}
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		options := d.of(path.Dir(name[:i]), true).options
		if options&conf.FollowSymLinks != 0 {
			continue
		}
		link, err := at.Lstat(name[:i])
		switch {
		case err != nil:
			return err
		case link.Mode()&fs.ModeSymlink == 0:
			continue
		case options&conf.SymLinksIfOwnerMatch == 0:
			return errLink
		}
		if target, err := at.Stat(name[:i]); err != nil {
			return err
		} else if owner(link) != owner(target) {
			return errOwner
		}
	}
	return nil
}

func owner(info fs.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }

// openFile opens a regular file.
func openFile(at *os.Root, name string) (*os.File, fs.FileInfo, error) {
	// It was looked at before and may be another one by now. O_NONBLOCK, or a
	// FIFO would keep us waiting for a writer.
	f, err := at.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
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
	var e *connector.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
		return &connector.Error{Worker: Name, Op: "open file", Status: http.StatusInternalServerError, Err: err}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG):
		return own(http.StatusNotFound, err)
	}
	return own(http.StatusForbidden, err) // a link out of the directory among them
}

// own is an answer whose page the front writes. Nothing has failed.
func own(status int, err error) *connector.Error {
	return &connector.Error{Worker: Name, Op: "open file", Status: status, Own: true, Err: err}
}

// methods are what files can be asked for with.
var methods = []connector.Field{{Name: []byte("Allow"), Value: []byte("GET, HEAD, OPTIONS")}}

// method answers requests that do not want the content. done is false for those
// that do.
func method(r *connector.Request, w connector.ResponseWriter) (done bool, err error) {
	switch string(r.Method) {
	case http.MethodGet, http.MethodHead:
		return false, nil
	case http.MethodOptions:
		if err = w.Start(http.StatusOK, methods); err == nil {
			err = w.Finish()
		}
		return true, sending(err)
	}
	e := own(http.StatusMethodNotAllowed, errMethod)
	e.Fields = methods
	return true, e
}

// redirect sends the client to the same path with a slash at its end. It is
// made of the resolved path: that begins with one slash, so that it can't name
// another host.
func redirect(r *connector.Request) *connector.Error {
	to := []byte(escape(string(r.MatchPath) + "/"))
	if r.HasQuery {
		to = append(append(to, '?'), r.Query...)
	}
	e := own(http.StatusMovedPermanently, errSlash)
	e.Fields = []connector.Field{{Name: []byte("Location"), Value: to}}
	return e
}
