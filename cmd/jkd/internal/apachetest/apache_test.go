//go:build unix

package apachetest

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestApache(t *testing.T) {
	for _, mpm := range []string{"prefork", "worker"} {
		t.Run(mpm, func(t *testing.T) {
			a := StartT(t, Options{
				MPM:     mpm,
				Modules: []string{"env"},
				Config:  "JkWorkersFile workers.properties\nJkShmFile shm\nJkLogFile jk.log\nJkMount /app/* w\n",
				Files: map[string]string{
					"workers.properties": "worker.list=w\nworker.w.port=1\nworker.w.host=127.0.0.1\n",
					"htdocs/page.html":   "a page\n",
				},
			})
			for path, want := range map[string]int{"/page.html": 200, "/nothing": 404, "/app/x": 503} {
				r, err := (&http.Client{Timeout: time.Minute}).Get("http://" + a.Addr() + path)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(r.Body)
				r.Body.Close()
				if r.StatusCode != want || want == 200 && string(body) != "a page\n" {
					t.Errorf("%s: status %d, %q; want %d", path, r.StatusCode, body, want)
				}
			}
			if log := a.Log(); !strings.Contains(log, "== error.log") || !strings.Contains(log, "== jk.log") {
				t.Errorf("Log lacks a file: %s", log)
			}
			pid, dir := a.PID(), a.Dir
			a.Stop()
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("process %d after Stop: %v", pid, err)
			}
			if err := syscall.Kill(-pid, 0); err != syscall.ESRCH {
				t.Errorf("the group of process %d after Stop: %v", pid, err)
			}
			if _, err := os.Stat(dir); !os.IsNotExist(err) {
				t.Errorf("directory after Stop: %v", err)
			}
		})
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	Require(t)
	a, err := Start(Options{Config: "NoSuchDirective 1\n"})
	if err == nil {
		a.Stop()
		t.Fatal("started with a directive that does not exist")
	}
	if !strings.Contains(err.Error(), "NoSuchDirective") {
		t.Errorf("the error does not say why: %v", err)
	}
}

func TestAvailableNamesWhatIsMissing(t *testing.T) {
	ok, why := Available("no-such-program-here")
	if ok || !strings.Contains(why, "no-such-program-here") {
		t.Errorf("Available = %v, %q", ok, why)
	}
}
