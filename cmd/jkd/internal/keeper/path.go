//go:build unix

package keeper

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is the absolute path of what this process was called by. Symbolic
// links in it are kept: an upgrade may consist in changing one.
func Program(argv0 string) (string, error) {
	path := argv0
	if !strings.Contains(path, "/") {
		var err error
		if path, err = exec.LookPath(path); err != nil {
			// Whoever has started us has made a name up.
			return os.Executable()
		}
	}
	return filepath.Abs(path)
}
