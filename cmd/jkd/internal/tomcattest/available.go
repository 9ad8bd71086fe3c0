package tomcattest

import (
	"testing"

	"jkd/cmd/jkd/internal/peertest"
)

const (
	home = "/usr/share/tomcat10"
	// Examples is the directory of the application at /examples.
	Examples = "/usr/share/tomcat10-examples/examples"
)

// Available tells whether [Start] can work on this machine and, if not, what
// is missing. tools are further programs the caller needs in its PATH.
func Available(tools ...string) (ok bool, why string) {
	return peertest.Available([]peertest.File{
		{Path: home + "/bin/bootstrap.jar", Package: "tomcat10"},
		{Path: Examples + "/WEB-INF/web.xml", Package: "tomcat10-examples"},
	}, append([]string{"java"}, tools...)...)
}

// Require skips t, or fails it if [peertest.RequireEnv] says so, unless Tomcat
// and the named tools are there. With -short it always skips.
func Require(t testing.TB, tools ...string) {
	t.Helper()
	peertest.Require(t, "a Tomcat", func() (bool, string) { return Available(tools...) })
}
