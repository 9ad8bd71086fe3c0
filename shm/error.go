//go:build unix

package shm

import "errors"

// Causes that are not the kernel's. They are found in an [Error] with
// [errors.Is].
var (
	ErrSize    = errors.New("size is not positive")           // asked for no bytes
	ErrResized = errors.New("object has another size")        // other than the size expected
	ErrSymlink = errors.New("is a symbolic link")             // at the last element of the path
	ErrType    = errors.New("is not a regular file")          // directory, FIFO, socket, device
	ErrOwner   = errors.New("belongs to another user")        // neither ours nor, to read, root's
	ErrMode    = errors.New("is writable by other users")     // group or others may write
	ErrLinks   = errors.New("has more or less than one name") // hard links
	ErrInUse   = errors.New("is in use by another process")   // its segment is open
	ErrClosed  = errors.New("segment is closed")

	// ErrTruncated: see [Segment.Guard].
	ErrTruncated = errors.New("object has become shorter")
)

// Error tells which operation failed on which object. Its text reads
// "shm: create /path: cause".
type Error struct {
	Op   string // "create", "attach", "open", "read", "publish", "close" or "remove"
	Name string // path, name given to Create, or "descriptor N"
	Err  error
}

func (e *Error) Error() string { return "shm: " + e.Op + " " + e.Name + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
