package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/measure"
	"jkd/bench/internal/result"
)

var syscalls = Scenario{
	Name: "syscalls", About: "system calls of each request, 4 connections, keep-alive: counted by perf at full speed, or else by strace; which ones, by strace",
	contenders: everyone,
	run: func(b *Bench) error {
		// Few processes: strace has to attach to each thread.
		running, _, stop, err := b.trivial(contender.Shape{Workers: 8, ThreadsPerChild: 8})
		if err != nil {
			return err
		}
		defer stop()
		if err := b.warm(running, contender.Hello, 4); err != nil {
			return err
		}
		for _, p := range []struct{ name, path string }{{"387 B", contender.Hello}, {"113 KB", contender.Page}} {
			for _, r := range running {
				values := b.counted(r, p.name, p.path)
				if len(values) > 0 {
					b.out.Add(p.name, r.Name, 0, values)
				}
			}
			b.Log("  %s done", p.name)
		}
		return nil
	},
}

// counted are the system calls of a contender in its steady state. What fails
// is noted.
func (b *Bench) counted(r *contender.Running, name, path string) map[string]float64 {
	values := map[string]float64{}
	c := load.Client{URL: r.URL(path), Connections: 4, Requests: b.few(2000, 100), KeepAlive: true}
	var res load.Result
	run := func() error {
		records, elapsed, err := c.Run()
		res = load.Summarize(records, elapsed)
		values[result.Failed] += float64(res.Failed)
		return err
	}
	if _, err := exec.LookPath("strace"); err == nil {
		calls, err := measure.Trace(b.Set, b.Dir, r.Process.PID(), run)
		if err != nil {
			b.note("%s: %v", r.Name, err)
		} else {
			n := float64(max(1, res.Requests))
			values[result.Syscalls] = float64(calls.Total()) / n
			b.note("%s, %s, under strace: %s", r.Name, name, perRequest(calls, n))
		}
	}
	if _, err := exec.LookPath("perf"); err == nil {
		c.Requests *= 5
		calls, err := measure.Count(b.Set, b.Dir, r.Process.PID(), run)
		if err != nil {
			b.note("%s: %v", r.Name, err)
		} else {
			values[result.Syscalls] = float64(calls) / float64(max(1, res.Requests))
		}
	}
	return values
}

// perRequest lists the calls that come up, the most frequent first.
func perRequest(calls measure.Syscalls, requests float64) string {
	names := slices.SortedFunc(maps.Keys(calls), func(x, y string) int {
		return cmp.Or(cmp.Compare(calls[y], calls[x]), cmp.Compare(x, y))
	})
	var parts []string
	for _, name := range names {
		if n := float64(calls[name]) / requests; n >= 0.01 {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, n))
		}
	}
	return strings.Join(parts, ", ")
}
