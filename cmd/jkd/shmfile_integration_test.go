//go:build unix

package main_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// TestShmFile: the file of JkShmFile is private, there as long as jkd serves,
// and one jkd's at a time, whatever became of the one before.
func TestShmFile(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		arrived, release := make(chan struct{}), make(chan struct{})
		back := ajptest.New(t, func(e *ajptest.Exchange) {
			if e.Request.URI == "/slow" {
				close(arrived)
				<-release
			}
			e.Respond(200, "hello\n")
		})
		shared := openDir(t)
		shmFile, board := filepath.Join(shared, "jk-runtime-status"), filepath.Join(shared, "board")
		c := config{
			mpm:     mpm,
			workers: properties(addrOf(back.Port()), nil),
			mounts:  []string{"/* tomcat"},
			server:  []string{"ScoreBoardFile = " + board},
			jk:      []string{"JkShmFile = " + shmFile},
		}
		// What a jkd left behind that lost its power.
		for _, path := range []string{shmFile, board} {
			if err := os.WriteFile(path, []byte("stale"), 0o640); err != nil {
				t.Fatal(err)
			}
		}
		s := start(t, bin, c)
		serves := func(s *server) {
			t.Helper()
			if status, body, err := dial(t, s.addr).get("/"); status != 200 || body != "hello\n" {
				t.Fatalf("%d %q, %v", status, body, err)
			}
		}
		serves(s)
		var before fs.FileInfo
		for _, path := range []string{shmFile, board} {
			info, err := os.Lstat(path)
			if err != nil || info.Mode() != 0o600 || info.Size() < 1000 {
				t.Errorf("%s: %v, %v", path, info, err)
			}
			if path == shmFile {
				before = info
			}
		}

		// A second one by mistake, with an address and a pid file of its own.
		other := openDir(t)
		text, err := os.ReadFile(filepath.Join(s.dir, "jkd.conf"))
		if err != nil {
			t.Fatal(err)
		}
		conf := strings.ReplaceAll(strings.ReplaceAll(string(text), s.dir, other), s.addr, addrOf(freePort(t)))
		for _, tt := range []struct{ directive, line, path string }{
			{"JkShmFile", "ScoreBoardFile = " + board, shmFile}, {"scoreboard", "JkShmFile = " + shmFile, board},
		} {
			for name, text := range map[string]string{
				"jkd.conf": strings.Replace(conf, tt.line+"\n", "\n", 1), "workers.properties": c.workers,
			} {
				if err := os.WriteFile(filepath.Join(other, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(bin, "-foreground", "-f", filepath.Join(other, "jkd.conf")).CombinedOutput()
			log, _ := os.ReadFile(filepath.Join(other, "error.log"))
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out)+string(log), tt.directive+": shm: create "+tt.path+": is in use by another process") {
				t.Errorf("second jkd: %v\n%s\n%s", err, out, log)
			}
		}
		if after, err := os.Lstat(shmFile); err != nil || !os.SameFile(before, after) {
			t.Fatalf("the second jkd has taken the file away: %v", err)
		}

		// A graceful stop gives the place to a successor at once.
		slow := dial(t, s.addr)
		if err := slow.send("GET /slow"); err != nil {
			t.Fatal(err)
		}
		<-arrived
		if err := syscall.Kill(s.pid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		s.eventually("the names to be free", func() bool {
			_, err1 := os.Lstat(shmFile)
			_, err2 := os.Lstat(board)
			return errors.Is(err1, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist)
		})
		next := start(t, bin, c)
		serves(next)
		close(release)
		if r, err := slow.response("GET"); err != nil || r.StatusCode != 200 {
			t.Errorf("the request of the old one: %v, %v", r, err)
		}
		s.ended(nil)
		serves(next)

		// A master that is killed leaves the file, its children leave too, and
		// the next one begins anew.
		kids := next.children()
		if err := syscall.Kill(next.pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-next.doneC
		next.gone(kids)
		if _, err := os.Lstat(shmFile); err != nil {
			t.Errorf("a killed master has removed the file: %v", err)
		}
		last := start(t, bin, c)
		serves(last)
		last.stop()
		for _, path := range []string{shmFile, board} {
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s after a stop: %v", path, err)
			}
		}
	})
}
