//go:build unix

package main_test

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestAcceptFilterServes: with any filter requests are answered, and a kernel
// that has no such filter is a warning.
func TestAcceptFilterServes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	for _, filter := range []string{"httpready", "dataready", "none"} {
		t.Run(filter, func(t *testing.T) {
			s := start(t, bin, config{mpm: "worker", server: []string{"AcceptFilter = http " + filter},
				workers: properties(addrOf(freePort(t)), nil)})
			for _, method := range []string{"GET", "POST"} {
				if r, _ := fetch(t, method, s.url("/")); r.StatusCode != 404 {
					t.Errorf("%s: status %d, want 404", method, r.StatusCode)
				}
			}
			warned := strings.Contains(s.log(), "AcceptFilter http "+filter)
			if want := filter != "none" && !kernelHas(filter); warned != want {
				t.Errorf("the log warns of AcceptFilter: %t, want %t\n%s", warned, want, s.log())
			}
		})
	}
}

// kernelHas tells whether the kernel has the filter.
func kernelHas(filter string) bool {
	if runtime.GOOS == "linux" {
		return true
	}
	module := map[string]string{"httpready": "accf_http", "dataready": "accf_data"}[filter]
	return exec.Command("kldstat", "-q", "-m", module).Run() == nil
}
