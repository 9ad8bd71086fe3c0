//go:build unix

package apachetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Modules is the directory of Apache's modules.
const Modules = modules

var directive = regexp.MustCompile(`(?m)^(<?[A-Za-z0-9_]+) \(.*\.c\)$`)

// Directives are the names of all directives of Apache and of the modules that
// are installed, sections with '<' before their names. It skips or fails as
// [Require] does.
func Directives(t testing.TB) (names []string) {
	t.Helper()
	Require(t)
	files, err := filepath.Glob(modules + "/mod_*.so")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lines := []string{"ServerRoot " + dir, "ServerName localhost", "ErrorLog error.log"}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "mod_"), ".so")
		if name != "mpm_worker" && name != "mpm_event" { // one MPM at a time
			lines = append(lines, "LoadModule "+name+"_module "+file)
		}
	}
	conf := filepath.Join(dir, "httpd.conf")
	if err := os.WriteFile(conf, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-f", conf, "-L").Output()
	if err != nil {
		t.Fatalf("%s -L: %v", program, err)
	}
	for _, m := range directive.FindAllStringSubmatch(string(out), -1) {
		names = append(names, m[1])
	}
	return names
}
