//go:build unix

package apachetest

import (
	"testing"

	"jkd/cmd/jkd/internal/peertest"
)

const (
	program = "/usr/sbin/apache2"
	modules = "/usr/lib/apache2/modules"
)

// Available tells whether [Start] can work on this machine and, if not, what
// is missing. tools are further programs the caller needs in its PATH.
func Available(tools ...string) (ok bool, why string) {
	return peertest.Available([]peertest.File{
		{Path: program, Package: "apache2"},
		{Path: modules + "/mod_mpm_prefork.so", Package: "apache2"},
		{Path: modules + "/mod_jk.so", Package: "libapache2-mod-jk"},
	}, tools...)
}

// Require skips t, or fails it if [peertest.RequireEnv] says so, unless Apache,
// mod_jk and the named tools are there. With -short it always skips.
func Require(t testing.TB, tools ...string) {
	t.Helper()
	peertest.Require(t, "Apache and mod_jk", func() (bool, string) { return Available(tools...) })
}
