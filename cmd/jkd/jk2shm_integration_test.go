//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// jk2View is what a jk2.shm says, none of it in the middle of a change. changing
// is how often it had to look again, because a child had been interrupted in one
// for long.
func jk2View(t *testing.T, path string) (v jk2shm.View, changing int) {
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
	for deadline := time.Now().Add(patience); ; changing++ {
		seg.View(&v)
		if !slices.ContainsFunc(v.Slots, func(s jk2shm.Slot) bool {
			return slices.ContainsFunc(s.Records, func(r jk2shm.Record) bool { return r.Torn })
		}) {
			return v, changing
		}
		if time.Now().After(deadline) {
			t.Fatal("a record does not come to rest")
		}
	}
}

// jk2Counts is the requests of each child. What contradicts itself in a record
// is a fault.
func jk2Counts(t *testing.T, v *jk2shm.View) (all uint64, each map[string]uint64) {
	each = map[string]uint64{}
	for _, s := range v.Slots {
		for _, r := range s.Records {
			each[s.Name] += uint64(r.Requests)
			all += uint64(r.Requests)
			if r.Errors != 0 || r.Max > r.Total || r.Active != "" && r.Active != "/x/page" || r.Start > r.JkStart ||
				(r.Requests == 0) != (r.End == 0) || r.Requests > 0 && r.Connected == 0 {
				t.Errorf("%s: %+v", s.Name, r)
			}
		}
	}
	return all, each
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
		var views, again atomic.Uint64
		for range 2 {
			readers.Go(func() {
				for last := uint64(0); ; views.Add(1) {
					select {
					case <-stop:
						return
					default:
					}
					v, changing := jk2View(t, path)
					again.Add(uint64(changing))
					n, _ := jk2Counts(t, &v)
					if n < last {
						t.Errorf("%d requests after %d", n, last)
						return
					}
					last = n
				}
			})
		}
		dumps := 0
		for end := time.Now().Add(seconds); time.Now().Before(end); dumps++ {
			out, err := exec.Command(bin, "-shm", path).CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("epStat.7")) || !bytes.Contains(out, []byte(" Err=0 ")) {
				t.Errorf("jkd -shm: %v, %s", err, out)
				break
			}
		}
		close(stop)
		clients.Wait()
		readers.Wait()
		var before map[string]uint64
		s.eventually("every request is counted", func() bool {
			v, _ := jk2View(t, path)
			var n uint64
			n, before = jk2Counts(t, &v)
			return n == sent.Load()
		})
		t.Logf("%d requests, %d dumps, %d views, of which %d had to look again", sent.Load(), dumps, views.Load(), again.Load())

		// A child that is killed leaves its slot to the next one of its number,
		// which begins anew; those of the others stay.
		kids := s.children()
		if err := syscall.Kill(kids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s.gone(kids[:1])
		for range 50 {
			if r, body := fetch(t, "GET", s.url("/x/page")); r.StatusCode != 200 || body != "here" {
				t.Errorf("after a child was killed: %d, %s", r.StatusCode, body)
			}
		}
		s.eventually("a new child", func() bool { return len(s.children()) == 8 })
		s.eventually("50 requests more, less those of one child", func() bool {
			v, _ := jk2View(t, path)
			n, after := jk2Counts(t, &v)
			want, fewer := sent.Load()+50, 0
			for name, was := range before {
				if after[name] < was {
					fewer++
					want -= was
				}
			}
			if fewer > 1 || len(v.Slots) != 8 || v.LastSlot != 8 || n > sent.Load()+50 {
				t.Fatalf("%v, after a child was killed %v, %d slots of %d", before, after, len(v.Slots), v.LastSlot)
			}
			return n >= want || fewer == 0
		})

		// One file, one jkd.
		dir := openDir(t)
		for name, text := range map[string]string{
			"workers2.properties": "[shm:]\nfile=" + path + "\n[channel.socket:127.0.0.1:1]\n[uri:/x]\n",
			"jkd.conf":            fmt.Sprintf("[server]\nListen = 127.0.0.1:%d\nErrorLog = error.log\nUser = nobody\nServerRoot = %s\n[connector.jk2]\nFile = workers2.properties\n", freePort(t), dir),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(bin, "-foreground", "-f", filepath.Join(dir, "jkd.conf")).CombinedOutput()
		log, _ := os.ReadFile(filepath.Join(dir, "error.log"))
		if err == nil || !strings.Contains(string(out)+string(log), "[shm:] file: shm: create "+path+": is in use by another process") {
			t.Errorf("a second jkd: %v, %s%s", err, out, log)
		}
		s.stop()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("jk2.shm after a stop: %v", err)
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
	write("jkd.conf", fmt.Sprintf("[server]\nListen = 127.0.0.1:%d\nUser = nobody\n", freePort(t))+"[connector.jk2]\nFile = workers2.properties\n")
	out, err := exec.Command(bin, "-foreground", "-f", conf).CombinedOutput()
	if err == nil || !strings.Contains(string(out), link) {
		t.Errorf("a link in the place of jk2.shm: %v, %s", err, out)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "precious" {
		t.Errorf("what the link leads to: %q, %v", text, err)
	}
}
