package jk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// stamp tells one state of a file from another. Two states may have the same
// stamp when they follow each other faster than the file system's clock ticks.
type stamp struct {
	dev, ino          uint64 // a file that was renamed into place has another inode
	size              int64
	modified, changed int64 // Unix nanoseconds; changed is the inode's, or else modified
}

// statRegular returns the stamp of a regular file. Opening anything else may
// block, or do something.
func statRegular(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, bare(err)
	}
	return stampOf(info)
}

func stampOf(info fs.FileInfo) (stamp, error) {
	switch {
	case info.IsDir():
		return stamp{}, errors.New("is a directory, not a file")
	case !info.Mode().IsRegular():
		return stamp{}, errors.New("is not a regular file")
	}
	s := stamp{size: info.Size(), modified: info.ModTime().UnixNano(), changed: info.ModTime().UnixNano()}
	s.inode(info)
	return s, nil
}

// readStable reads a regular file of at most limit bytes. The stamp is that of
// the file when it had been read; stable tells that it was the same before.
func readStable(path string, limit int) (data []byte, s stamp, stable bool, err error) {
	// A FIFO may have taken the place of the file since somebody looked.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, stamp{}, false, bare(err)
	}
	defer f.Close()
	look := func() (stamp, error) {
		info, err := f.Stat()
		if err != nil {
			return stamp{}, bare(err)
		}
		return stampOf(info)
	}
	before, err := look()
	if err != nil {
		return nil, stamp{}, false, err
	}
	data, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, stamp{}, false, bare(err)
	}
	if len(data) > limit {
		return nil, stamp{}, false, errNoRoom(limit)
	}
	after, err := look()
	return data, after, before == after, err
}

func errNoRoom(limit int) error {
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
