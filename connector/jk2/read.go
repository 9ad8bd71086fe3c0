package jk2

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// readFile reads a regular file of at most limit bytes and returns when it was
// last changed.
func readFile(path string, limit int) ([]byte, time.Time, error) {
	// Opening a FIFO must not wait for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !info.Mode().IsRegular():
		return nil, time.Time{}, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case len(data) > limit:
		return nil, time.Time{}, fmt.Errorf("it is larger than the %d bytes that were set aside for it at the start", limit)
	}
	return data, info.ModTime(), nil
}
