// Package peertest is what the starters of real programs for tests, such as
// tomcattest and apachetest, have in common: finding out whether the programs
// are there, and a port.
package peertest

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// RequireEnv is the environment variable that, set to "require", makes
// [Require] fail a test where it would skip it.
const RequireEnv = "JKD_INTEGRATION"

// File is a file and the package it comes with.
type File struct{ Path, Package string }

// Available tells whether all files are there and all tools in the PATH, and
// if not, what is missing.
func Available(files []File, tools ...string) (ok bool, why string) {
	var missing []string
	for _, f := range files {
		if _, err := os.Stat(f.Path); err != nil {
			missing = append(missing, "package "+f.Package+" ("+f.Path+")")
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

// Require skips t, or fails it if [RequireEnv] says so, unless available
// returns true. With -short it always skips; what is the peer, for the message.
func Require(t testing.TB, what string, available func() (ok bool, why string)) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs " + what + ": left out with -short")
	}
	if ok, why := available(); !ok {
		if os.Getenv(RequireEnv) == "require" {
			t.Fatalf("%s=require, but %s", RequireEnv, why)
		}
		t.Skip(why)
	}
}

// FreePort is a TCP port of 127.0.0.1 that was free a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
