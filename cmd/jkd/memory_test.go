//go:build unix

package main_test

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// container starts the demo's AJP13 container and returns its address. It ends
// with the test.
func container(t *testing.T, bin string) string {
	t.Helper()
	cmd := exec.Command(bin, "demo-container", "-listen", "127.0.0.1:0", "-exit-with-stdin")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = sysProcAttr()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("the container said %q, %v", line, err)
	}
	return addr
}

// TestConstantMemory sends 1 GiB through a child in each direction: whole, and
// without the child growing with it.
func TestConstantMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("moves gigabytes: left out with -short")
	}
	const (
		size  = 1 << 30
		limit = 40 << 10 // KiB, for each child at its largest
	)
	bin := binary(t)
	addr := container(t, bin)
	sum := sha256.New()
	io.Copy(sum, tomcattest.BigBody(size))
	want := fmt.Sprintf("%x", sum.Sum(nil))

	eachMPM(t, func(t *testing.T, mpm string) {
		c := config{mpm: mpm, workers: properties(addr, nil), mounts: []string{"/* tomcat"}}
		if mpm == "prefork" {
			c.limits = []string{"StartServers = 1", "MinSpareServers = 1", "MaxSpareServers = 2"}
		} else {
			c.limits = []string{"StartServers = 1", "MinSpareThreads = 1", "MaxSpareThreads = 50"}
		}
		s := start(t, bin, c)
		for _, chunked := range []bool{false, true} {
			req, _ := http.NewRequest("POST", s.url("/upload"), tomcattest.BigBody(size))
			if !chunked {
				req.ContentLength = size
			}
			r, err := client().Do(req)
			if err != nil {
				t.Fatalf("upload, chunked %v: %v", chunked, err)
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), fmt.Sprintf("body.length=%d\nbody.sha256=%s\n", size, want)) {
				t.Errorf("upload, chunked %v: status %d, %v, %.200q", chunked, r.StatusCode, err, body)
			}

			path := "/download?size=" + strconv.Itoa(size)
			if chunked {
				path += "&length=no"
			}
			if r, err = client().Get(s.url(path)); err != nil {
				t.Fatalf("download, chunked %v: %v", chunked, err)
			}
			got := sha256.New()
			n, err := io.Copy(got, r.Body)
			r.Body.Close()
			if err != nil || n != size || fmt.Sprintf("%x", got.Sum(nil)) != want {
				t.Errorf("download, chunked %v: %d bytes, %v; want all %d as sent", chunked, n, err, size)
			}
		}
		if os.Getenv("JKD_TEST_RACE") != "" {
			return // its shadow memory is not jkd's
		}
		for _, pid := range s.children() {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone, or no such file system here
			}
			m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
			if m == nil {
				t.Logf("no VmHWM for process %d: %v", pid, err)
				continue
			}
			kib, _ := strconv.Atoi(string(m[1]))
			t.Logf("process %d has used %d KiB at most", pid, kib)
			if kib > limit {
				t.Errorf("a child has grown to %d KiB, want at most %d", kib, limit)
			}
		}
	})
}
