//go:build unix

package main_test

import (
	"embed"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
)

// The files of this test: NAME.conf is a whole httpd.conf, NAME.probes has what
// is asked of it, a line each, and everything in tree is beside it. In all but
// the probes there are macros:
//
//	@DIR@ @PORT@ @PORT2@ @PID@  the server's directory, ports, and file of its pid
//	@MODULES@ @USER@            Apache's modules; lines for a server started by root
//	@c1@ @c2@ @c3@ @DEAD@       ports of containers, and one where nobody listens
//	@HTTP@                      address of a container that speaks HTTP
//
//go:embed all:testdata/httpd
var httpdFiles embed.FS

const httpdTree = "testdata/httpd/tree"

// httpdConf is what Apache and jkd are asked that have the same httpd.conf.
var httpdConf = comparison{
	file: "docs/httpd-differences.md", test: "TestHTTPDDifferencesDocument",
	head: httpdHead, groups: httpdGroups(), differences: httpdDifferences, names: true,
}

func httpdGroups() (out []probeGroup) {
	names, err := fs.Glob(httpdFiles, "testdata/httpd/*.conf")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		text, err := httpdFiles.ReadFile(strings.TrimSuffix(name, ".conf") + ".probes")
		if err != nil {
			panic(err)
		}
		out = append(out, probeGroup{path.Base(name), asks(string(text))})
	}
	return out
}

// TestHTTPDDifferential starts Apache and jkd on the same files and compares
// answers and what reaches the containers, of jkd also with what -dump makes of the
// file. Where the two differ the probe must
// say so, and for each such difference there is a reason.
func TestHTTPDDifferential(t *testing.T) {
	apachetest.Require(t)
	bin, back, dead := binary(t), rawBack(t), deadPort(t)
	if n := httpdConf.requests(); n < 300 || len(httpdConf.groups) < 30 {
		t.Errorf("%d requests of %d files, there should be 300 of 30", n, len(httpdConf.groups))
	}
	used := map[string]bool{}
	for _, group := range httpdConf.groups {
		t.Run(group.name, func(t *testing.T) {
			c := newContainers(t, "c1", "c2", "c3")
			populate := func(dir, conf, pid string, port int) error {
				return writeHTTPD(dir, conf, group.name, strings.NewReplacer(
					"@DIR@", dir, "@PORT@", strconv.Itoa(port), "@PORT2@", strconv.Itoa(freePort(t)), "@PID@", pid, "@MODULES@", apachetest.Modules, "@USER@", httpdUser(),
					"@c1@", strconv.Itoa(c.byName["c1"].Port()), "@c2@", strconv.Itoa(c.byName["c2"].Port()), "@c3@", strconv.Itoa(c.byName["c3"].Port()),
					"@DEAD@", strconv.Itoa(dead), "@HTTP@", back))
			}
			apache := apachetest.StartT(t, apachetest.Options{Populate: func(dir string, port int) error { return populate(dir, "httpd.conf", "httpd.pid", port) }})
			s := prepare(t, config{mpm: "worker"})
			_, text, _ := net.SplitHostPort(s.addr)
			port, _ := strconv.Atoi(text)
			if err := populate(s.dir, "jkd.conf", "jkd.pid", port); err != nil {
				t.Fatal(err)
			}
			s.launch(bin)
			for _, form := range []string{"", "dumped, "} {
				if form != "" {
					s.stop()
					dump := exec.Command(bin, "-dump", "-f", filepath.Join(s.dir, "jkd.conf"))
					text, err := dump.Output()
					if err != nil {
						t.Fatalf("-dump: %v", err)
					}
					s.write("jkd.conf", string(text))
					s.launch(bin)
				}
				for i, p := range group.probes {
					theirs := p.send(t, c, apache.Addr(), answeredBy(apache.Addr()))
					ours := p.send(t, c, s.addr, answeredBy(s.addr))
					httpdConf.compare(t, p, fmt.Sprintf("%s%d. %.200s", form, i+1, p.name()), theirs, ours, used)
				}
			}
		})
	}
	if !t.Failed() {
		httpdConf.unused(t, used)
	}
}

// writeHTTPD writes what a server needs, all of it of one age.
func writeHTTPD(dir, conf, from string, macros *strings.Replacer) error {
	write := func(name, from string) error {
		text, err := httpdFiles.ReadFile(from)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(name, "htdocs/") {
			text = []byte(macros.Replace(string(text)))
		}
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
		return os.Chtimes(name, time.Time{}, time.Unix(1e9, 0))
	}
	if err := write(conf, "testdata/httpd/"+from); err != nil {
		return err
	}
	return fs.WalkDir(httpdFiles, httpdTree, func(from string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return write(strings.TrimPrefix(from, httpdTree+"/"), from)
	})
}

func httpdUser() string {
	if os.Geteuid() == 0 {
		return "User nobody\nGroup #65534"
	}
	return ""
}

// answeredBy is answered for files and redirects too: their fields, and the page
// if it is not one that each server has of its own.
func answeredBy(addr string) func(seen map[string]string, r *http.Response, body []byte) {
	_, port, _ := net.SplitHostPort(addr)
	return func(seen map[string]string, r *http.Response, body []byte) {
		answered(seen, r, body)
		for _, name := range []string{"Location", "Cache-Control", "Content-Range", "Accept-Ranges", "Last-Modified", "Content-Encoding", "Allow", "Retry-After"} {
			if v := r.Header.Get(name); v != "" {
				seen[strings.ToLower(name)] = strings.ReplaceAll(v, ":"+port, ":PORT")
			}
		}
		for name, values := range r.Header {
			if strings.HasPrefix(name, "X-") && name != "X-Container" {
				seen[strings.ToLower(name)] = strings.Join(values, " | ")
			}
		}
		if r.Header.Get("Etag") != "" {
			seen["etag"] = "there"
		}
		if r.StatusCode < 300 || r.Header.Get("X-Container") != "" {
			seen["content-type"] = r.Header.Get("Content-Type")
			seen["content-length"] = r.Header.Get("Content-Length")
			if seen["page"] == "the front's" && !strings.Contains(string(body), "Index of ") {
				seen["page"] = string(body)
			}
		}
	}
}

func TestHTTPDDifferencesDocument(t *testing.T) { httpdConf.document(t) }
