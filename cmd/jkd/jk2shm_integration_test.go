//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk2/jk2shm"
	"jkd/shm"
)

// jk2Counts adds up what a jk2.shm says. torn is how many records were in the
// middle of a change.
func jk2Counts(t *testing.T, path string) (requests, errors uint64, torn int) {
	t.Helper()
	mem, err := shm.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	seg, err := jk2shm.AttachAny(mem.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var v jk2shm.View
	seg.View(&v)
	for _, s := range v.Slots {
		for _, r := range s.Records {
			requests, errors = requests+uint64(r.Requests), errors+uint64(r.Errors)
			if r.Torn {
				torn++
			}
		}
	}
	return requests, errors, torn
}

// TestJk2Shm: eight children write the file at full load, others read it,
// among them jkd -shm, and what it says adds up. JKD_SHM_SECONDS=10 makes it
// last as long as anybody wants.
func TestJk2Shm(t *testing.T) {
	bin := binary(t)
	seconds := 2 * time.Second
	if d, err := time.ParseDuration(os.Getenv("JKD_SHM_SECONDS") + "s"); err == nil {
		seconds = d
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		back := ajptest.New(t, func(e *ajptest.Exchange) { _ = e.Respond(200, "here") })
		path := filepath.Join(openDir(t), "jk2.shm")
		// What a jkd that was killed has left is no obstacle.
		if err := os.WriteFile(path, []byte("left behind"), 0o600); err != nil {
			t.Fatal(err)
		}
		limits := []string{"StartServers = 8", "MinSpareServers = 8", "MaxSpareServers = 8", "ServerLimit = 8", "MaxRequestWorkers = 8"}
		if mpm == "worker" {
			limits = []string{"StartServers = 8", "ServerLimit = 8", "ThreadsPerChild = 2", "MaxRequestWorkers = 16", "MinSpareThreads = 16", "MaxSpareThreads = 16"}
		}
		s := start(t, bin, config{
			mpm: mpm, limits: limits,
			jk2: []string{"File = workers2.properties"},
			files: map[string]string{"workers2.properties": fmt.Sprintf(
				"[shm:]\nfile=%s\n[workerEnv:]\ntiming=1\n[channel.socket:127.0.0.1:%d]\n[uri:/x/*]\n", path, back.Port())},
		})
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Fatal(info, err)
		}

		var sent atomic.Uint64
		stop := make(chan struct{})
		var clients, readers sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
				defer c.CloseIdleConnections()
				for {
					select {
					case <-stop:
						return
					default:
					}
					r, err := c.Get(s.url("/x/page"))
					if err != nil || r.StatusCode != 200 {
						t.Error(r, err)
						return
					}
					r.Body.Close()
					sent.Add(1)
				}
			})
		}
		dumps := 0
		for range 2 {
			readers.Go(func() {
				for last := uint64(0); ; {
					select {
					case <-stop:
						return
					default:
					}
					n, errs, torn := jk2Counts(t, path)
					if errs != 0 || torn != 0 || n < last {
						t.Errorf("%d requests after %d, %d errors, %d torn records", n, last, errs, torn)
						return
					}
					last = n
				}
			})
		}
		for end := time.Now().Add(seconds); time.Now().Before(end); dumps++ {
			out, err := exec.Command(bin, "-shm", path).CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("epStat.7")) || bytes.Contains(out, []byte("torn")) {
				t.Errorf("jkd -shm: %v, %s", err, out)
				break
			}
		}
		close(stop)
		clients.Wait()
		readers.Wait()
		s.eventually("every request is counted", func() bool { n, errs, _ := jk2Counts(t, path); return n == sent.Load() && errs == 0 })
		t.Logf("%d requests, %d dumps", sent.Load(), dumps)

		// A child that is killed leaves its slot to the next one of its number.
		kids := s.children()
		if err := syscall.Kill(kids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.gone(kids[:1])
		for range 50 {
			if r, body := fetch(t, "GET", s.url("/x/")); r.StatusCode != 200 || body != "here" {
				t.Errorf("after a child was killed: %d, %s", r.StatusCode, body)
			}
		}
		if _, _, torn := jk2Counts(t, path); torn != 0 {
			t.Errorf("%d torn records are left", torn)
		}
		if r, body := fetch(t, "GET", s.url("/x/../x/")); r.StatusCode != 200 {
			t.Errorf("%d %s", r.StatusCode, body)
		}
	})
}

// TestJk2ShmRefused: what is no place for the file, and what is none.
func TestJk2ShmRefused(t *testing.T) {
	bin := binary(t)
	dir := openDir(t)
	link, other := filepath.Join(dir, "link"), filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: "link", other: "jk2shm", filepath.Join(dir, "nothing"): "no such file", dir: dir} {
		out, err := exec.Command(bin, "-shm", path).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("jkd -shm %s: %v, %s", path, err, out)
		}
	}
	conf := filepath.Join(dir, "jkd.conf")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("workers2.properties", "[shm:]\nfile="+link+"\n[channel.socket:127.0.0.1:1]\n[uri:/x]\n")
	write("jkd.conf", fmt.Sprintf("[server]\nListen = 127.0.0.1:%d\n", freePort(t))+"[connector.jk2]\nFile = workers2.properties\n")
	out, err := exec.Command(bin, "-foreground", "-f", conf).CombinedOutput()
	if err == nil || !strings.Contains(string(out), link) {
		t.Errorf("a link in the place of jk2.shm: %v, %s", err, out)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "precious" {
		t.Errorf("what the link leads to: %q, %v", text, err)
	}
}
