package main_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reloads is how many TestReloads does, some to find a leak and JKD_RELOADS to
// believe that there is none.
func reloads(t *testing.T) int {
	text := os.Getenv("JKD_RELOADS")
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("JKD_RELOADS: %v", err)
	}
	return n
}

// constant are limits with which the number of children never changes.
var constant = map[string][]string{
	"prefork": {"StartServers = 10", "MinSpareServers = 10", "MaxSpareServers = 10", "MaxRequestWorkers = 10"},
	"worker":  {"StartServers = 2", "ThreadsPerChild = 10", "MinSpareThreads = 20", "MaxSpareThreads = 20", "MaxRequestWorkers = 20"},
}

// footprint is what the processes of a server hold: how many there are, and how
// many descriptors of each kind, of the master and of all children together.
// Sockets of children are left out, which have some for clients and back ends.
func (p *patient) footprint() string {
	p.t.Helper()
	master := p.current()
	p.alone(master)
	p.eventually("the memory of the generation before is given back", func() bool {
		n := 0
		for to := range values(descriptorsOf(p.t, master)) {
			if strings.Contains(to, "memfd:jkd-counters") {
				n++
			}
		}
		return n == 1
	})
	kinds := func(pids ...int) string {
		n := map[string]int{}
		for _, pid := range pids {
			for _, to := range descriptorsOf(p.t, pid) {
				kind, _, _ := strings.Cut(to, ":[")
				if kind != "socket" || pid == master {
					n[kind]++
				}
			}
		}
		var list []string
		for _, kind := range slices.Sorted(maps.Keys(n)) {
			list = append(list, fmt.Sprintf("%d %s", n[kind], kind))
		}
		return strings.Join(list, "\n\t")
	}
	kids := childrenOf(p.t, master)
	return fmt.Sprintf("%d processes\nmaster\t%s\n%d children\t%s", len(p.processes()), kinds(master), len(kids), kinds(kids...))
}

// TestReloads: one reload after the other under load loses and refuses nothing,
// and after the last one there is as much of everything as after the first.
func TestReloads(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		p := newPatient(t, bin, config{mpm: mpm, limits: constant[mpm], server: []string{"CustomLog = access.log common"}})
		clients := p.crowd(8, "/")
		var before string
		n := reloads(t)
		for i := range n + 1 {
			if out, err := p.ask(p.program, "graceful"); err != nil {
				t.Fatalf("reload %d: %v, %s", i, err, out)
			}
			if i == 0 {
				before = p.footprint()
			}
		}
		clients.home(0)
		if after := p.footprint(); after != before {
			t.Errorf("after the first reload there are\n%s\nand after %d more\n%s", before, n, after)
		}
		t.Logf("%d reloads, %d requests; then\n%s", n+1, clients.answered.Load(), before)
	})
}

// TestCut: what GracefulShutdownTimeout cuts is counted, and the count is the
// next generations' too.
func TestCut(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		p := newPatient(t, bin, config{mpm: mpm, server: []string{"GracefulShutdownTimeout = 1"}})
		for range 2 {
			p.hold()
		}
		if out, err := p.ask(p.program, "graceful"); err != nil {
			t.Fatalf("a reload: %v, %s", err, out)
		}
		p.eventually("two connections to be counted as cut", func() bool {
			out, _ := p.ask(p.program, "status")
			return strings.Contains(out, "; connections cut: 2\n")
		})
		p.sound()
		if out, _ := p.ask(p.program, "status"); !strings.Contains(out, "; connections cut: 2\n") {
			t.Errorf("after one more reload: %s", out)
		}
	})
}

// TestUpgrade: a program of another version takes over and gives back under
// load, with the keeper and detached, and the status tells which one serves.
func TestUpgrade(t *testing.T) {
	sourceTree(t)
	dir := openDir(t)
	versions := []string{"1.0-older", "2.0-newer"}
	for _, v := range versions {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version="+v, "-o", filepath.Join(dir, v), ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
	}
	for _, how := range []string{"foreground", "detached"} {
		t.Run(how, func(t *testing.T) {
			eachMPM(t, func(t *testing.T, mpm string) {
				p := newPatient(t, filepath.Join(dir, versions[0]), config{mpm: mpm, detached: how == "detached", server: []string{"[status]", "Location = /s", "[server]"}})
				clients := p.crowd(6, "/")
				for _, v := range []string{versions[1], versions[0]} {
					next := p.program + ".next"
					install(t, filepath.Join(dir, v), next)
					if err := os.Rename(next, p.program); err != nil {
						t.Fatal(err)
					}
					before := p.current()
					if out, err := p.ask(p.program, "graceful"); err != nil {
						t.Fatalf("to %s: %v, %s", v, err, out)
					}
					if now := p.current(); now == before || !alive(now) {
						t.Errorf("to %s: the pid file names %d, before %d", v, now, before)
					}
					p.eventually("the status of "+v, func() bool {
						_, body := fetch(t, "GET", p.url("/s?auto"))
						return strings.Contains(body, "ServerVersion: jkd/"+v)
					})
					p.alone(p.current())
				}
				clients.home(0)
				if strings.Contains(p.log(), "starts afresh") {
					t.Error("memory was not taken over")
				}
			})
		})
	}
}
