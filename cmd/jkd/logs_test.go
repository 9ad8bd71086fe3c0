//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"jkd/conf"
)

func TestAccessLogsOfSites(t *testing.T) {
	c := &conf.Config{
		VHosts: []conf.VHost{{Name: "a"}, {Name: "b"}},
		CustomLogs: []conf.CustomLog{
			{Path: "/main", Format: "%h"}, {Path: "/a", Format: "%m", VHost: 1, Env: "!x"}, {Path: "/also", Format: "%U", Env: "y"},
			{Path: "/a", Format: "%s", VHost: 1}, {Path: "/missing", Format: "%s"},
		},
	}
	if got, want := logPaths(c), []string{"/main", "/a", "/also", "/missing"}; !reflect.DeepEqual(got, want) {
		t.Errorf("paths %q", got)
	}
	var main, a, also bytes.Buffer
	list := sites(c)
	if err := addLogs(list, c, map[string]io.Writer{"/main": &main, "/a": &a, "/also": &also}); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || len(list[0].Logs) != 2 || len(list[1].Logs) != 2 || !reflect.DeepEqual(list[2].Logs, list[0].Logs) {
		t.Fatalf("got %+v", list)
	}
	if list[0].Logs[0].W != &main || list[0].Logs[1].W != &also || list[0].Logs[1].Env != "y" || list[1].Logs[0].W != &a || list[1].Logs[0].Env != "!x" ||
		list[1].Logs[1].W != &a {
		t.Errorf("got %+v", list)
	}
	c.CustomLogs[0].Format = "%y"
	if err := addLogs(list, c, nil); err == nil || err.Error() != "CustomLog: column 1: %y: there is no directive %y, did you mean %{%y}t?" {
		t.Errorf("got %v", err)
	}
}

func TestOpenLogs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "log")
	c := &conf.Config{CustomLogs: []conf.CustomLog{{Path: path}, {Path: path}, {Path: filepath.Join(dir, "b")}}}
	fds, done, err := openLogs(c)
	if err != nil || len(fds) != 2 {
		t.Fatal(fds, err)
	}
	if _, err := syscall.Write(fds[0], []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	done()
	if b, err := os.ReadFile(path); err != nil || string(b) != "x\n" {
		t.Errorf("got %q, %v", b, err)
	}
	c.CustomLogs = append(c.CustomLogs, conf.CustomLog{Path: dir})
	if _, _, err := openLogs(c); err == nil || !strings.HasPrefix(err.Error(), "CustomLog: ") {
		t.Errorf("got %v", err)
	}
}

// jkd -t judges formats, each with its line.
func TestFormatsAreChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jkd.conf")
	text := "[server]\nListen = 1\nLogFormat = \"%h %y\" bad\nCustomLog = /dev/null bad\nCustomLog = /dev/null \"%h %{x\"\nCustomLog = /dev/null \"%h %D\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadConfig(flags{config: file})
	want := file + ":4: CustomLog: column 4: %y: there is no directive %y, did you mean %{%y}t?\n" + file + ":5: CustomLog: column 4: %{x: the brace is never closed"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
