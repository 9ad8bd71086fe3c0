//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"jkd/cmd/jkd/internal/httpd"
	"jkd/cmd/jkd/internal/logformat"
	"jkd/conf"
)

// logPaths are the files of all access logs, none twice, in the order in which
// the master opens them and passes them to its children.
func logPaths(c *conf.Config) []string {
	var out []string
	seen := map[string]bool{}
	for _, l := range c.CustomLogs {
		if !seen[l.Path] {
			out, seen[l.Path] = append(out, l.Path), true
		}
	}
	return out
}

// openLogs opens the access logs; close closes them again.
func openLogs(c *conf.Config) (fds []int, close func(), err error) {
	var files []*os.File
	close = func() {
		for _, f := range files {
			if f != os.Stderr && f != os.Stdout {
				_ = f.Close()
			}
		}
	}
	for _, path := range logPaths(c) {
		f, err := openLog(path)
		if err != nil {
			close()
			return nil, nil, fmt.Errorf("CustomLog: %w", err)
		}
		files, fds = append(files, f), append(fds, int(f.Fd()))
	}
	return fds, close, nil
}

// childLogs are the files of the access logs by path, as a child has them.
func childLogs(c *conf.Config, fds []int) map[string]io.Writer {
	out := map[string]io.Writer{}
	for i, path := range logPaths(c) {
		if i < len(fds) {
			out[path] = os.NewFile(uintptr(fds[i]), path)
		}
	}
	return out
}

// checkLogs reads the formats of all access logs, to find what is wrong with
// them.
func checkLogs(c *conf.Config) error {
	var errs []error
	for _, l := range c.CustomLogs {
		if _, err := logformat.Parse(l.Format); err != nil {
			errs = append(errs, &conf.Error{File: c.Path, Line: l.Line, Key: "CustomLog", Msg: err.Error()})
		}
	}
	return errors.Join(errs...)
}

// addLogs gives each site the access logs of its requests: a virtual host
// without one of its own uses the main server's. files are those of childLogs;
// what is not among them is not written.
func addLogs(list []httpd.Site, c *conf.Config, files map[string]io.Writer) error {
	own := make([][]httpd.AccessLog, len(list))
	for _, l := range c.CustomLogs {
		format, err := logformat.Parse(l.Format)
		if err != nil {
			return fmt.Errorf("CustomLog: %w", err)
		}
		if w := files[l.Path]; w != nil && l.VHost < len(list) {
			own[l.VHost] = append(own[l.VHost], httpd.AccessLog{W: w, Format: format, Env: l.Env})
		}
	}
	for i := range list {
		if list[i].Logs = own[i]; len(own[i]) == 0 {
			list[i].Logs = own[0]
		}
	}
	return nil
}
