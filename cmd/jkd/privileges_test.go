//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/conf"
)

// TestRootChildren: root without User is refused with what to set, unless told
// otherwise; nobody else is.
func TestRootChildren(t *testing.T) {
	for _, tt := range []struct {
		lines string
		euid  int
		ok    bool
	}{
		{"", 0, false},
		{"AllowRootChildren = Off\n", 0, false},
		{"AllowRootChildren = On\n", 0, true},
		{"User = #54321\nGroup = #54322\n", 0, true},
		{"", 1000, true},
	} {
		cfg, _, err := conf.Parse("f", []byte("[server]\nListen = 1\n"+tt.lines), conf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		l := loaded{cfg: cfg}
		switch err := l.checkPrivileges(tt.euid); {
		case (err == nil) != tt.ok:
			t.Errorf("%q as %d: %v", tt.lines, tt.euid, err)
		case err != nil && (!strings.Contains(err.Error(), "f: User:") || !strings.Contains(err.Error(), "AllowRootChildren")):
			t.Errorf("it doesn't say what to set: %v", err)
		}
	}
}

// TestUnsafeDirectories: one warning a directory, with the directive.
func TestUnsafeDirectories(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root's directories are safe")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"safe": 0o755, "group": 0o775, "sticky": 0o777 | os.ModeSticky, "open": 0o777, "open/closed": 0o755, "sticky/closed": 0o755, "his": 0o755} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir+"/his", 54321, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("open", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"safe": "", "none": "", "sticky/closed": "",
		"group": dir + "/group can be written", "sticky": dir + "/sticky can", "open": dir + "/open can",
		"open/closed": dir + "/open can", "link": dir + "/open can", "his": dir + "/his belongs to user 54321",
	} {
		if got := unsafeDirectory(filepath.Join(dir, name)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}

	text := "[server]\nListen = 1\nUser = nobody\nServerRoot = " + dir + "\nPidFile = group/jkd.pid\nErrorLog = safe/error_log\n" +
		"CustomLog = open/access_log common\nCustomLog = open/other_log common\nCustomLog = /dev/null common\n" +
		"[connector.jk]\nJkShmFile = his/jk.shm\n"
	cfg, _, err := conf.Parse("f", []byte(text), conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := loaded{cfg: cfg}
	if err := l.checkPrivileges(0); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range l.warnings {
		got = append(got, w.Key)
	}
	if want := "PidFile JkShmFile CustomLog"; strings.Join(got, " ") != want {
		t.Errorf("warnings of %q, want %s", l.warnings, want)
	}
	l = loaded{cfg: cfg}
	if _ = l.checkPrivileges(1000); len(l.warnings) > 0 {
		t.Errorf("somebody else is told %q", l.warnings)
	}
}
