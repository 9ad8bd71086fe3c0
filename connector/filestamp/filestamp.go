// Package filestamp reads configuration files that may change while jkd runs,
// and tells whether they have.
package filestamp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Stamp tells one state of a file from another. Two states may have the same
// stamp when they follow each other faster than the file system's clock ticks.
type Stamp struct {
	Dev, Ino          uint64 // a file that was renamed into place has another inode
	Size              int64
	Modified, Changed int64 // Unix nanoseconds; Changed is the inode's, or else Modified
}

// Stat returns the stamp of a regular file. Opening anything else may
// block, or do something.
func Stat(path string) (Stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Stamp{}, bare(err)
	}
	return stampOf(info)
}

func stampOf(info fs.FileInfo) (Stamp, error) {
	switch {
	case info.IsDir():
		return Stamp{}, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return Stamp{}, errors.New("is not a regular file")
	}
	s := Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: info.ModTime().UnixNano()}
	s.inode(info)
	return s, nil
}

// Read reads a regular file of at most limit bytes. The stamp is that of
// the file when it had been read; stable tells that it was the same before.
func Read(path string, limit int) (data []byte, s Stamp, stable bool, err error) {
	// A FIFO may have taken the place of the file since somebody looked.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Stamp{}, false, bare(err)
	}
	defer f.Close()
	look := func() (Stamp, error) {
		info, err := f.Stat()
		if err != nil {
			return Stamp{}, bare(err)
		}
		return stampOf(info)
	}
	before, err := look()
	if err != nil {
		return nil, Stamp{}, false, err
	}
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, Stamp{}, false, bare(err)
	}
	if len(data) > limit {
		return nil, Stamp{}, false, TooLarge(limit)
	}
	after, err := look()
	return data, after, before == after, err
}

// TooLarge is the error of a file that has more than limit bytes.
func TooLarge(limit int) error {
	return fmt.Errorf("it is larger than the %d bytes that were set aside for it at the start", limit)
}

// bare strips the operation and the path from an error of package os.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
