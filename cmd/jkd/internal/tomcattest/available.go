package tomcattest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	home     = "/usr/share/tomcat10"
	examples = "/usr/share/tomcat10-examples/examples"
)

// RequireEnv is the environment variable that, set to "require", makes
// [Require] fail a test where it would skip it.
const RequireEnv = "JKD_INTEGRATION"

// Available tells whether [Start] can work on this machine and, if not, what
// is missing. tools are further programs the caller needs in its PATH.
func Available(tools ...string) (ok bool, why string) {
	var missing []string
	for _, f := range []struct{ path, pkg string }{
		{home + "/bin/bootstrap.jar", "tomcat10"},
		{examples + "/WEB-INF/web.xml", "tomcat10-examples"},
	} {
		if _, err := os.Stat(f.path); err != nil {
			missing = append(missing, "package "+f.pkg+" ("+f.path+")")
		}
	}
	for _, tool := range append([]string{"java"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			missing = append(missing, "program "+tool)
		}
	}
	if missing != nil {
		return false, "missing: " + strings.Join(missing, ", ")
	}
	return true, ""
}

// Require skips t, or fails it if [RequireEnv] says so, unless Tomcat and the
// named tools are there. With -short it always skips.
func Require(t testing.TB, tools ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Tomcat: left out with -short")
	}
	if ok, why := Available(tools...); !ok {
		if os.Getenv(RequireEnv) == "require" {
			t.Fatalf("%s=require, but %s", RequireEnv, why)
		}
		t.Skip(why)
	}
}
