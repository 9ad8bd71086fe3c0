//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const packaging = "../../packaging/"

// sample reads a file of packaging, which only the source tree has.
func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(packaging + name)
	if os.IsNotExist(err) {
		t.Skip("needs the source tree: packaging/", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestUnit has systemd read the unit, with a program that exists, and looks at
// what the unit calls jkd with.
func TestUnit(t *testing.T) {
	unit := sample(t, "linux/jkd.service")
	for line := range strings.Lines(unit) {
		_, command, ok := strings.Cut(line, "=/usr/sbin/jkd ")
		if !ok {
			continue
		}
		var stderr strings.Builder
		f, _, ok := parseFlags(strings.Fields(command), &stderr, &stderr)
		if !ok || f.config != "/etc/jkd/jkd.conf" || f.test == f.foreground {
			t.Errorf("%s: %+v %s", strings.TrimSpace(line), f, stderr.String())
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "jkd.service")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(unit, "/usr/sbin/jkd", self)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput()
	if err != nil || strings.Contains(string(out), "jkd.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestPortList holds the list of the port's files to what its Makefile
// installs and what there is in the source.
func TestPortList(t *testing.T) {
	makefile, list := sample(t, "freebsd/port/Makefile"), sample(t, "freebsd/port/pkg-plist")
	_, confFiles, _ := strings.Cut(makefile, "\nCONFFILES=")
	confFiles, _, _ = strings.Cut(confFiles, "\n")
	samples, err := filepath.Glob("../../conf/*.sample")
	if err != nil || len(samples) != len(strings.Fields(confFiles)) {
		t.Errorf("conf has %q, the port installs %q", samples, confFiles)
	}
	for _, f := range strings.Fields(confFiles) {
		if _, err := os.Stat("../../conf/" + f + ".sample"); err != nil {
			t.Error(err)
		}
		if !strings.Contains(list, "%%ETCDIR%%/"+f+".sample\n") {
			t.Errorf("pkg-plist has no %s", f)
		}
	}
	for word := range strings.FieldsSeq(makefile) {
		if file, ok := strings.CutPrefix(word, "${WRKSRC}/"); ok && !strings.Contains(file, "$") {
			if _, err := os.Stat("../../" + file); err != nil {
				t.Errorf("the port installs what there is not: %v", err)
			}
		}
	}
	if names, _ := filepath.Glob(packaging + "freebsd/port/*"); len(names) != 4 {
		t.Errorf("the port has %q", names)
	}
	for line := range strings.Lines(sample(t, "freebsd/port/pkg-descr")) {
		if len(strings.TrimSpace(line)) > 80 {
			t.Errorf("pkg-descr: too long: %s", line)
		}
	}
}
