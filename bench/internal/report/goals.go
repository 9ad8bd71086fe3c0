package report

import (
	"fmt"
	"strings"

	"jkd/bench/internal/result"
)

// goal is a number that jkd is to reach.
type goal struct {
	group, what string
	least       bool // limit is the least allowed, not the greatest
	limit       float64
	value       func(r *result.Results) (v result.Spread, ok bool)
}

// met tells whether the median reaches the limit.
func (g goal) met(v result.Spread) bool {
	if g.least {
		return v.Median >= g.limit
	}
	return v.Median <= g.limit
}

// ratio is a metric of a divided by that of b.
func ratio(scenario, name, a, b, metric string) func(*result.Results) (result.Spread, bool) {
	return func(r *result.Results) (v result.Spread, ok bool) {
		if s := r.Section(scenario); s != nil {
			return s.Ratio(name, a, b, metric)
		}
		return v, false
	}
}

// value is a metric of one contender.
func value(scenario, name, contender, metric string) func(*result.Results) (result.Spread, bool) {
	return func(r *result.Results) (v result.Spread, ok bool) {
		if s := r.Section(scenario); s != nil {
			values := s.Values(name, contender, metric)
			return result.SpreadOf(values), len(values) > 0
		}
		return v, false
	}
}

// worst is the greatest of all rounds of a metric, with their range.
func worst(scenario, name, contender, metric string) func(*result.Results) (result.Spread, bool) {
	of := value(scenario, name, contender, metric)
	return func(r *result.Results) (v result.Spread, ok bool) {
		v, ok = of(r)
		v.Median = v.High
		return v, ok
	}
}

// bestApache compares a p99 with the lowest one of all Apaches.
func bestApache(contender string) func(*result.Results) (result.Spread, bool) {
	return func(r *result.Results) (v result.Spread, ok bool) {
		const scenario, name = "hello", "c=20"
		s := r.Section(scenario)
		if s == nil {
			return v, false
		}
		best, least := "", 0.0
		for _, c := range s.Contenders(name) {
			if p99, has := s.Median(name, c, result.P99); has && strings.HasPrefix(c, "apache") && (best == "" || p99 < least) {
				best, least = c, p99
			}
		}
		return s.Ratio(name, contender, best, result.P99)
	}
}

// withIdle compares the requests a second with idle connections with those
// without.
func withIdle(contender string) func(*result.Results) (result.Spread, bool) {
	return func(r *result.Results) (v result.Spread, ok bool) {
		s := r.Section("idle")
		if s == nil {
			return v, false
		}
		with, without := s.Values("1000 idle connections", contender, result.Rate), s.Values("no idle connections", contender, result.Rate)
		var ratios []float64
		for i := range min(len(with), len(without)) {
			if without[i] > 0 {
				ratios = append(ratios, with[i]/without[i])
			}
		}
		return result.SpreadOf(ratios), len(ratios) > 0
	}
}

const worker, prefork = "jkd-worker-jk", "jkd-prefork-jk"

func goals() (all []goal) {
	cpu := func(group, scenario, name, jkd, other string, limit float64) {
		all = append(all, goal{group, "CPU / " + other, false, limit, ratio(scenario, name, jkd, other, result.CPU)})
	}
	cpu("worker, 387 B, c=20", "hello", "c=20", worker, "apache-worker-jk", 0.40)
	cpu("worker, 387 B, c=20", "hello", "c=20", worker, "nginx", 1.0)
	cpu("worker, 387 B, c=20", "hello", "c=20", worker, "haproxy", 0.9)
	cpu("prefork, 387 B, c=20", "hello", "c=20", prefork, "apache-prefork-jk", 0.55)
	cpu("prefork, 387 B, c=20", "hello", "c=20", prefork, "nginx", 1.3)
	cpu("worker, 113 KB, c=50", "page", "c=50", worker, "apache-worker-jk", 0.55)
	cpu("worker, 113 KB, c=50", "page", "c=50", worker, "nginx", 0.85)
	cpu("worker, 113 KB, c=50", "page", "c=50", worker, "haproxy", 1.1)
	cpu("worker, no keep-alive, c=50", "connect", "c=50", worker, "apache-worker-jk", 0.6)
	for _, page := range []string{"Hello", "113 KB"} {
		group := "real Tomcat, " + page + ", c=50, worker"
		all = append(all,
			goal{group, "requests/s / direct, as it is", true, 0.9, ratio("tomcat", page, worker, "tomcat", result.Rate)},
			goal{group, "requests for each CPU second of Tomcat / direct", true, 0.9, ratio("tomcat", page, "tomcat", worker, result.BackCPU)},
			goal{group, "p99 / direct", false, 1.5, ratio("tomcat", page, worker, "tomcat", result.P99)},
			goal{group, "max / direct", false, 1.5, ratio("tomcat", page, worker, "tomcat", result.Max)},
			goal{group, "max of all rounds, ms", false, 2000, worst("tomcat", page, worker, result.Max)},
		)
	}
	all = append(all,
		goal{"p99, 387 B, c=20", "worker / the best Apache", false, 1, bestApache(worker)},
		goal{"p99, 387 B, c=20", "prefork / the best Apache", false, 1, bestApache(prefork)},
		goal{"idle memory", "prefork, PSS MB a child at 64", false, 1.5, value("memory", "64 children", prefork, result.PerChild)},
		goal{"idle memory", "worker, PSS MB in all at 400 threads", false, 20, value("memory", "400 threads", worker, result.Memory)},
		goal{"each request", "system calls, prefork, 387 B", false, 5, value("syscalls", "387 B", prefork, result.Syscalls)},
		goal{"256 idle prefork children", "context switches/connection", false, 3, value("children", "256 children, c=1", prefork, result.Switches)},
		goal{"1000 idle connections, worker", "served", true, 1000, value("idle", "1000 idle connections", worker, result.Served)},
		goal{"1000 idle connections, worker", "requests/s / without them", true, 0.9, withIdle(worker)},
	)
	return all
}

// goalsTable tells for each goal what was measured.
func goalsTable(r *result.Results) string {
	var b strings.Builder
	b.WriteString("| | | goal | median | rounds | |\n|---|---|---:|---:|---:|---|\n")
	for _, g := range goals() {
		sign := "≤"
		if g.least {
			sign = "≥"
		}
		fmt.Fprintf(&b, "| %s | %s | %s %g |", g.group, g.what, sign, g.limit)
		v, ok := g.value(r)
		if !ok {
			b.WriteString(" | | not measured |\n")
			continue
		}
		verdict := "met"
		if !g.met(v) {
			verdict = "**missed**"
		}
		digits := 2
		if g.limit >= 100 {
			digits = 0
		}
		fmt.Fprintf(&b, " %.*f | %.*f–%.*f | %s |\n", digits, v.Median, digits, v.Low, digits, v.High, verdict)
	}
	return b.String()
}
