//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"jkd/conf"
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
		if !ok || strings.HasPrefix(command, "-k ") && !slices.Contains(asks, strings.Fields(command)[1]) {
			continue
		}
		var stderr strings.Builder
		f, _, ok := parseFlags(strings.Fields(command), &stderr, &stderr)
		if !ok || f.config != "/etc/jkd/jkd.conf" || f.ask == "" && f.test == f.foreground {
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
		if !regexp.MustCompile(`(?m)^@sample(\(,,600\))? %%ETCDIR%%/` + regexp.QuoteMeta(f) + `\.sample$`).MatchString(list) {
			t.Errorf("pkg-plist has no @sample of %s", f)
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

// TestPortSample makes the port's first configuration, as its Makefile does,
// and holds it to what rc.d/jkd and newsyslog go by.
func TestPortSample(t *testing.T) {
	makefile := sample(t, "freebsd/port/Makefile")
	var edits []string
	for _, m := range regexp.MustCompile(`-e '([^']*)'`).FindAllStringSubmatch(makefile, -1) {
		if !strings.Contains(m[1], "${PREFIX}") {
			edits = append(edits, "-e", m[1])
		}
	}
	if len(edits) != 8 {
		t.Fatalf("the Makefile has these edits: %q", edits)
	}
	dir := t.TempDir()
	for _, f := range []string{"workers.properties", "uriworkermap.properties"} {
		data, err := os.ReadFile("../../conf/" + f + ".sample")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, f), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command("sed", append(edits, "../../conf/jkd.conf.sample")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "jkd.conf")
	// There need be no www here.
	text = bytes.Replace(text, []byte("\nUser = www\n"), []byte("\nUser = nobody\n"), 1)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := conf.Load(path, conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Server
	if s.User != "nobody" || s.ErrorLog != "/var/log/jkd/error_log" {
		t.Errorf("User %q, ErrorLog %q", s.User, s.ErrorLog)
	}
	script, err := os.ReadFile("../../rc.d/jkd")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(script), `"${jkd_pidfile:="`+s.PidFile+`"}"`) {
		t.Errorf("PidFile %s is not the pid file of rc.d/jkd", s.PidFile)
	}

	// What newsyslog renames and signals is that one.
	lines := fieldsOf(sample(t, "freebsd/newsyslog.conf"))
	if len(lines) != 1 || len(lines[0]) != 9 {
		t.Fatalf("newsyslog.conf: %q", lines)
	}
	l := lines[0]
	if ok, _ := filepath.Match(l[0], s.ErrorLog); !ok {
		t.Errorf("newsyslog renames %s, which is not %s", l[0], s.ErrorLog)
	}
	if l[7] != s.PidFile || l[8] != "SIGUSR1" {
		t.Errorf("newsyslog sends %s to the process of %s", l[8], l[7])
	}
	// p: the generation before still writes into the newest one.
	if !strings.Contains(l[6], "p") || !strings.Contains(l[6], "G") || strings.ContainsAny(l[6], "NRU") {
		t.Errorf("newsyslog's flags are %s", l[6])
	}
}

// fieldsOf are the words of the lines that are no comments.
func fieldsOf(text string) (lines [][]string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
			lines = append(lines, words)
		}
	}
	return lines
}

// TestLogrotate: what the sample calls jkd with, and that it keeps its hands
// off the newest archive.
func TestLogrotate(t *testing.T) {
	text := sample(t, "linux/jkd.logrotate")
	words := map[string]bool{}
	command := ""
	for _, line := range fieldsOf(text) {
		words[line[0]] = true
		if line[0] == "/usr/sbin/jkd" {
			command, _, _ = strings.Cut(strings.Join(line[1:], " "), " >")
		}
	}
	for _, w := range []string{"delaycompress", "nocreate", "sharedscripts", "postrotate", "endscript"} {
		if !words[w] {
			t.Errorf("no %s", w)
		}
	}
	if command != "-k graceful -f /etc/jkd/jkd.conf" {
		t.Errorf("jkd is called with %q", command)
	}
	if slices.Contains(asks, "graceful") {
		var stderr strings.Builder
		if _, _, ok := parseFlags(strings.Fields(command), &stderr, &stderr); !ok {
			t.Errorf("jkd %s: %s", command, stderr.String())
		}
	}
}
