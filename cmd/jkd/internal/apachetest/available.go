//go:build unix

package apachetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	program = "/usr/sbin/apache2"
	modules = "/usr/lib/apache2/modules"
)

// RequireEnv is the environment variable that, set to "require", makes
// [Require] fail a test where it would skip it.
const RequireEnv = "JKD_INTEGRATION"

// Available tells whether [Start] can work on this machine and, if not, what
// is missing. tools are further programs the caller needs in its PATH.
func Available(tools ...string) (ok bool, why string) {
	var missing []string
	for _, f := range []struct{ path, pkg string }{
		{program, "apache2"},
		{modules + "/mod_mpm_prefork.so", "apache2"},
		{modules + "/mod_jk.so", "libapache2-mod-jk"},
	} {
		if _, err := os.Stat(f.path); err != nil {
			missing = append(missing, "package "+f.pkg+" ("+f.path+")")
		}
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, "program "+tool)
		}
	}
	if missing != nil {
		return false, "missing: " + strings.Join(missing, ", ")
	}
	return true, ""
}

// Require skips t, or fails it if [RequireEnv] says so, unless Apache, mod_jk
// and the named tools are there. With -short it always skips.
func Require(t testing.TB, tools ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Apache and mod_jk: left out with -short")
	}
	if ok, why := Available(tools...); !ok {
		if os.Getenv(RequireEnv) == "require" {
			t.Fatalf("%s=require, but %s", RequireEnv, why)
		}
		t.Skip(why)
	}
}
