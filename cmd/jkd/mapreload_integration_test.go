//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestF072MapReload edits the map file of a running jkd in all the ways that
// editors and scripts have, under both MPMs, while clients go on with paths
// that every text has. Once the log says so, the new rules hold in every child.
func TestF072MapReload(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "a", "b")
		limits := []string{"StartServers = 3", "MinSpareServers = 3"}
		if mpm == "worker" {
			limits = []string{"StartServers = 3", "ThreadsPerChild = 4", "MaxRequestWorkers = 12", "MinSpareThreads = 12", "MaxSpareThreads = 12"}
		}
		const always = "/always/*=a\n"
		s := start(t, bin, config{
			mpm: mpm, limits: limits,
			workers: c.properties("worker.list=a,b\nworker.a.port=@a@\nworker.b.port=@b@\n"),
			files:   map[string]string{"map.properties": always + "/x/*=a\n"},
			mounts:  []string{"/mount/* b"},
			jk:      []string{"JkMountFile = map.properties", "JkMountFileReload = 1"},
		})
		path := filepath.Join(s.dir, "map.properties")

		// Clients of paths that are always there.
		stop, failed := make(chan struct{}), atomic.Int64{}
		served := atomic.Int64{}
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					target := []string{"/always/x", "/mount/x"}[i%2]
					k, err := dialErr(s.addr)
					if err != nil {
						t.Error(err)
						return
					}
					for range 10 {
						status, _, err := k.get(target)
						if err != nil || status != 200 {
							failed.Add(1)
							t.Errorf("%s: status %d, %v", target, status, err)
						}
						served.Add(1)
					}
					k.Close()
				}
			})
		}
		end := sync.OnceFunc(func() {
			close(stop)
			clients.Wait()
			if served.Load() == 0 || failed.Load() > 0 {
				t.Errorf("%d requests failed of %d", failed.Load(), served.Load())
			}
		})
		defer end()

		// all asks several children and wants the same of all of them.
		all := func(target, want string) {
			t.Helper()
			for range 30 {
				k := dial(t, s.addr)
				status, body, err := k.get(target)
				k.Close()
				got := fmt.Sprint(status)
				if status == 200 {
					got = strings.TrimSpace(body)
				}
				if err != nil || got != want {
					t.Errorf("%s: %s, %v, want %s", target, got, err, want)
					return
				}
			}
		}
		// says waits for one more line of the log.
		said := map[string]int{}
		says := func(line string) {
			t.Helper()
			said[line]++
			s.eventually("the log says "+line, func() bool { return strings.Count(s.log(), line) == said[line] })
		}
		rename := func(text string) {
			t.Helper()
			s.write("map.new", text)
			if err := os.Rename(filepath.Join(s.dir, "map.new"), path); err != nil {
				t.Fatal(err)
			}
		}

		all("/x/1", "from a")
		rename(always + "/x/*=b\n")
		says("reloaded, 2 rules")
		all("/x/1", "from b")

		s.write("map.properties", always+"/y/*=a\n/z=b\n") // in place
		says("reloaded, 3 rules")
		all("/x/1", "404")
		all("/y/1", "from a")

		s.write("map.properties", always+"*.jsp=b\n") // broken
		says("map.properties:2: *.jsp: invalid mapping rule: the pattern does not begin with '/', did you mean /*.jsp?")
		all("/y/1", "from a")
		all("/z", "from b")

		s.write("map.properties", "") // truncated, and nothing follows for a while
		says("holds no rule, where there were some")
		all("/y/1", "from a")
		s.write("map.properties", always+"/x/*=a\n")
		says("reloaded, 2 rules")
		all("/x/1", "from a")
		all("/y/1", "404")

		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		says("cannot be read, the old rules stay")
		all("/x/1", "from a")
		if err := syscall.Mkfifo(path, 0o644); err != nil {
			t.Fatal(err)
		}
		says("is not a regular file")
		all("/x/1", "from a")

		rename(always + "/x/*=b\n/gone/*=nobody\n") // F071
		says("there is no worker nobody in worker.list")
		says("reloaded, 3 rules")
		all("/x/1", "from b")
		all("/gone/1", "500")

		// A child that is started now has the rules of now, not those that the
		// master has begun with.
		end()
		kids := s.children()
		for _, pid := range kids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		s.gone(kids)
		all("/x/1", "from b")
		if f := c.faults(); f != "" {
			t.Error(f)
		}
	})
}
