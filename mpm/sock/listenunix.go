//go:build unix

package sock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxUnixPath is the length of the longest path of a Unix socket, in bytes, that
// every supported system takes.
const MaxUnixPath = 103

// newSuffix follows the path of a socket that was not published yet.
const newSuffix = ".new"

// ErrUnixInUse: somebody listens there.
var ErrUnixInUse = errors.New("another program listens there already")

// UnixFile is the file by which a listening Unix socket is found. Its exported
// fields tell another process which one that is.
type UnixFile struct {
	Path     string
	Dev, Ino uint64

	tmp string // where it is until Publish, "" for a file that was published
}

// ListenUnix makes a listening socket that [UnixFile.Publish] puts at path. Until
// then it is beside it, so that nobody can connect before mode and owner are what
// they should be, and what is at path goes on until that moment. Where there is
// no room for a longer name the socket is made at path itself, and what was there
// is removed; the caller has looked, see [VacantUnix].
//
// uid and gid are -1 for what the system gives. The process's file mode creation
// mask is another one for a moment. Errors do not name the path.
func ListenUnix(path string, mode fs.FileMode, uid, gid int) (*net.UnixListener, UnixFile, error) {
	f := UnixFile{Path: path, tmp: path + newSuffix}
	if len(f.tmp) > MaxUnixPath {
		f.tmp = path
	} else if err := VacantUnix(f.tmp); err != nil {
		return nil, f, fmt.Errorf("%s: %w", f.tmp, err)
	}
	if info, err := os.Lstat(f.tmp); err == nil && info.Mode().Type() == fs.ModeSocket {
		_ = os.Remove(f.tmp)
	}
	mask := syscall.Umask(int(fs.ModePerm &^ mode))
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.tmp, Net: "unix"})
	syscall.Umask(mask)
	if err != nil {
		return nil, f, Cause(err)
	}
	ln.SetUnlinkOnClose(false)
	if uid >= 0 || gid >= 0 {
		err = os.Lchown(f.tmp, uid, gid)
	}
	if err == nil {
		f.Dev, f.Ino, err = inode(f.tmp)
	}
	if err != nil {
		_ = ln.Close()
		_ = os.Remove(f.tmp)
		return nil, f, Cause(err)
	}
	return ln, f, nil
}

// Publish puts the socket in its place. It is called once.
func (f UnixFile) Publish() error {
	if f.tmp == "" || f.tmp == f.Path {
		return nil
	}
	return Cause(os.Rename(f.tmp, f.Path))
}

// Change gives a socket that was published another mode and owner. See
// [ListenUnix].
func (f UnixFile) Change(mode fs.FileMode, uid, gid int) error {
	if !f.There() {
		return errors.New("it is not what is found there any more")
	}
	// No link that somebody puts there now, where the system can do that.
	err := unix.Fchmodat(unix.AT_FDCWD, f.Path, uint32(mode), unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, errors.ErrUnsupported) {
		err = os.Chmod(f.Path, mode)
	}
	if err == nil && (uid >= 0 || gid >= 0) {
		err = os.Lchown(f.Path, uid, gid)
	}
	return Cause(err)
}

// There tells whether the socket is what is found at Path.
func (f UnixFile) There() bool { return f.at(f.Path) }

// Remove removes the file, published or not, unless another has taken its place.
func (f UnixFile) Remove() {
	for _, path := range []string{f.Path, f.tmp} {
		if f.at(path) {
			_ = os.Remove(path)
		}
	}
}

func (f UnixFile) at(path string) bool {
	dev, ino, err := inode(path)
	return err == nil && dev == f.Dev && ino == f.Ino
}

func inode(path string) (dev, ino uint64, err error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return 0, 0, err
	}
	return uint64(st.Dev), uint64(st.Ino), nil
}

// VacantUnix tells why a listening socket cannot be put at path, if so: what is
// there is no socket, or somebody listens on it (ErrUnixInUse), or it cannot be
// told. Errors do not name the path.
func VacantUnix(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Cause(err)
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something else of this name, which is not a socket")
	}
	c, err := net.Dial("unix", path)
	switch {
	case err == nil:
		_ = c.Close()
		return ErrUnixInUse
	case errors.Is(err, syscall.EAGAIN): // and has no room for us
		return ErrUnixInUse
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ECONNREFUSED):
		if fullRefuses && openUnix(path) {
			return ErrUnixInUse
		}
		return nil
	}
	return Cause(err)
}

// fullRefuses: a socket whose queue is full refuses connections, as one does that
// nobody listens on. Linux has EAGAIN for it.
const fullRefuses = runtime.GOOS != "linux"

// openUnix tells whether some process has the stream socket at path open, in
// whatever state it is: only then the kernel notices that a datagram socket does
// not fit it, and it does before it looks for room.
func openUnix(path string) bool {
	c, err := net.Dial("unixgram", path)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.EPROTOTYPE)
}
