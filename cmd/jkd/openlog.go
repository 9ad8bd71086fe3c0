//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

var (
	errLogKind  = errors.New("is neither a file nor a device: a program that is to read a log is named with '|'")
	errLogNames = errors.New("has more than one name, and what is logged would get into the other file too")
)

// openLog opens a log file for appending. The master may be the superuser and
// the directory may not be his, so a symbolic link in its place is refused, and
// a file with other names too. Neither is a FIFO a log file, for which the start
// would wait until somebody reads it, and every child whenever nobody does.
func openLog(path string) (*os.File, error) {
	switch path {
	case "/dev/stderr":
		return os.Stderr, nil
	case "/dev/stdout":
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0o640)
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EOPNOTSUPP) { // a FIFO without a reader, or a socket
		err = errLogKind
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if err := checkLog(fd); err != nil {
		_ = syscall.Close(fd)
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// checkLog looks at what was opened, and has writes to it wait.
func checkLog(fd int) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return fmt.Errorf("fstat: %w", err)
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		if st.Nlink > 1 {
			return errLogNames
		}
	case syscall.S_IFCHR:
	default:
		return errLogKind
	}
	return syscall.SetNonblock(fd, false)
}
