package connectortest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Browse opens an address in a browser without a screen and returns the
// document as it is when nothing happens any more, and what the browser says.
// Without a browser the test is skipped, or fails where JKD_INTEGRATION is
// "require". Flags are the browser's, such as --screenshot=FILE.
func Browse(t *testing.T, size, url string, flags ...string) (dom, messages string) {
	t.Helper()
	missing := t.Skipf
	if os.Getenv("JKD_INTEGRATION") == "require" {
		missing = t.Fatalf
	} else if testing.Short() {
		t.Skip("starts a browser")
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		missing("chromium (Debian: chromium) is not there")
	}
	profile, err := os.MkdirTemp("", "jkd-browser-")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir: the browser's own children may write there for a moment
	// after it has ended.
	defer os.RemoveAll(profile)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--user-data-dir=" + profile, "--enable-logging=stderr",
		"--window-size=" + size, "--virtual-time-budget=2000", "--dump-dom"}, flags...)
	cmd := exec.CommandContext(ctx, program, append(args, url)...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		missing("chromium does not run here: %v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}
