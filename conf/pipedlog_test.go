package conf

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestPipedLog(t *testing.T) {
	for value, want := range map[string][]string{
		"|/bin/cat -u":              {"/bin/cat", "-u"},
		"||/bin/cat -u":             {"/bin/cat", "-u"},
		`| /bin/cat "a b" 'c"d'`:    {"/bin/cat", "a b", `c"d`},
		"|$ cat | tee x":            {"/bin/sh", "-c", "cat | tee x"},
		"|":                         nil,
		"|$ ":                       nil,
		`|"" x`:                     nil,
		`|/bin/cat "a`:              nil,
		"|| rotatelogs /l/%Y 86400": {"rotatelogs", "/l/%Y", "86400"},
	} {
		if got, ok := PipedLog(value); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %t", value, got, ok)
		}
	}
	if _, ok := PipedLog("/var/log/a|b"); ok {
		t.Error("a path with a bar is a program")
	}
}

// shInPath makes a directory that is all of PATH, with a program sh.
func shInPath(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sh"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return dir
}

// A program is looked for when the configuration is read, in PATH or from where
// it will run, and its arguments stay what they were.
func TestCheckPipedLog(t *testing.T) {
	dir := shInPath(t)
	for name, mode := range map[string]os.FileMode{"program": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for value, want := range map[string]string{
		"/a/path":                 "",
		"|sh x":                   "",
		"||" + dir + "/program x": "",
		"|./program x":            "",
		"|$no-such-program":       "", // the shell's business
		"|":                       "'|' is followed by a program and its arguments",
		"|no-such-program x":      "the program no-such-program: executable file not found in $PATH",
		"|./text":                 "the program " + dir + "/text: permission denied",
		"|" + dir + "/none -a":    "the program " + dir + "/none: no such file or directory",
	} {
		got := ""
		if err := CheckPipedLog(value, dir); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}

func TestLogPrograms(t *testing.T) {
	shInPath(t)
	c, warnings := parse(t, "ErrorLog = \"|sh -c 'cat >> \\\"a b\\\"'\"\nCustomLog = \"|$sh | cat\" combined\n[connector.jk]\nJkLogFile = |sh x\n")
	if len(warnings) > 0 {
		t.Errorf("warnings %q", warnings)
	}
	if got := c.Server.ErrorLog; got != `|sh -c 'cat >> "a b"'` {
		t.Errorf("ErrorLog: %q", got)
	}
	if len(c.CustomLogs) != 1 || c.CustomLogs[0].Path != "|$sh | cat" || c.CustomLogs[0].Format != CombinedFormat {
		t.Errorf("CustomLogs %+v", c.CustomLogs)
	}
	if got := c.Jk.Main().LogFile; got != "|sh x" {
		t.Errorf("JkLogFile: %q", got)
	}
}
