package scenario

import (
	"fmt"
	"strings"
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/measure"
	"jkd/bench/internal/proc"
	"jkd/bench/internal/result"
)

// Scenario is one thing to measure.
type Scenario struct {
	Name, About string
	// contenders are those it has by default, as for [contender.Select].
	contenders []string
	run        func(b *Bench) error
}

// All are the scenarios in the order in which they run and are reported.
func All() []Scenario {
	return []Scenario{hello, page, connect, concurrency, children, memory, syscalls, transfer, idle, delay, restart, tomcat, deployment2003, deployment2009, scrape}
}

// everyone and usual are sets of contenders: all, and one of each kind.
var (
	everyone = []string{"jkd", "apache", "nginx", "haproxy"}
	usual    = []string{"jkd-prefork-jk", "jkd-worker-jk", "apache-prefork-jk", "apache-worker-jk", "apache-event-jk", "nginx", "haproxy"}
)

// Options are the same for all scenarios.
type Options struct {
	Set        *proc.Set
	Dir        string // temporary; others may enter it
	Plots      string // directory of the plots
	JKD        string // the program, where others may execute it
	Version    string // of jkd
	Contenders []string
	Rounds     int
	Load       time.Duration // of each round
	Quick      bool          // small numbers of everything: does it work?
	Log        func(format string, args ...any)
}

// Bench is a running scenario.
type Bench struct {
	Options
	scenario Scenario
	out      *result.Section
}

// Run runs one scenario. It returns what was measured also when it fails on the
// way.
func (s Scenario) Run(o Options) (result.Section, error) {
	b := &Bench{Options: o, scenario: s, out: &result.Section{
		Scenario: s.Name, About: s.About, When: time.Now().UTC().Truncate(time.Second), Version: o.Version, Rounds: o.Rounds, Load: o.Load,
	}}
	if err := s.run(b); err != nil {
		return *b.out, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return *b.out, nil
}

// note records something that the reader of the results has to know.
func (b *Bench) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	b.Log("  note: %s", line)
	b.out.Notes = append(b.out.Notes, line)
}

// few is n, or less in a quick run.
func (b *Bench) few(n, quick int) int {
	if b.Quick {
		return quick
	}
	return n
}

// fronts are the scenario's contenders, those of the command line if it has
// any, as far as the machine has the programs.
func (b *Bench) fronts() []*contender.Front {
	selected, _ := contender.Select(b.scenario.contenders)
	if len(b.Contenders) > 0 {
		selected, _ = contender.Select(b.Contenders)
	}
	var there []*contender.Front
	for _, f := range selected {
		if missing := f.Missing(); len(missing) > 0 {
			b.note("%s left out: no %s", f.Name, strings.Join(missing, ", "))
			continue
		}
		there = append(there, f)
	}
	return there
}

// start starts fronts. One that does not start is left out. stop stops all.
func (b *Bench) start(fronts []*contender.Front, v contender.Values) (running []*contender.Running, stop func(), err error) {
	stop = func() {
		for _, r := range running {
			r.Stop()
		}
	}
	v.JKD = b.JKD
	for _, f := range fronts {
		r, err := f.Start(b.Set, b.Dir, contender.Hello, v)
		if err != nil {
			b.note("%s did not start: %v", f.Name, err)
			continue
		}
		running = append(running, r)
	}
	if len(running) == 0 {
		return nil, stop, fmt.Errorf("no contender has started")
	}
	return running, stop, nil
}

// trivial starts the trivial back ends and the scenario's fronts before them.
func (b *Bench) trivial(s contender.Shape) ([]*contender.Running, *contender.Responders, func(), error) {
	back, err := contender.StartResponders(b.Set, b.Dir, b.JKD)
	if err != nil {
		return nil, nil, nil, err
	}
	running, stop, err := b.start(b.fronts(), contender.Values{Shape: s, AJPPort: back.AJPPort, HTTPPort: back.HTTPPort})
	if err != nil {
		back.Stop()
		return nil, nil, nil, err
	}
	return running, back, func() { stop(); back.Stop() }, nil
}

// wrk is a load of the scenario's length.
func (b *Bench) wrk(r *contender.Running, path string, connections int) load.Wrk {
	return load.Wrk{Set: b.Set, Dir: b.Dir, URL: r.URL(path), Connections: connections, Duration: b.Load}
}

// warm is a short load that nobody measures: caches, heaps and connections to
// the back end are in their steady state after it.
func (b *Bench) warm(running []*contender.Running, path string, connections int) error {
	for _, r := range running {
		c := load.Client{URL: r.URL(path), Connections: connections, Requests: b.few(40, 2) * connections, KeepAlive: true}
		if _, _, err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

// rounds measures do for each contender in turn, round by round, so that what
// happens to the machine happens to all. back are the processes of the back
// end.
func (b *Bench) rounds(name string, running []*contender.Running, back []int, do func(r *contender.Running) (load.Result, error)) error {
	for round := range b.Rounds {
		for _, r := range running {
			values, err := b.measured(r, back, func() (load.Result, error) { return do(r) })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, r.Name, err)
			}
			b.out.Add(name, r.Name, round, values)
		}
		b.Log("  %s: round %d of %d", name, round+1, b.Rounds)
	}
	return nil
}

// measured is what a load gave and what it took of the contender and the back
// end.
func (b *Bench) measured(r *contender.Running, back []int, do func() (load.Result, error)) (map[string]float64, error) {
	front, behind := measure.Of(r.Process.PID()), measure.Of(back...)
	res, err := do()
	if err != nil {
		return nil, err
	}
	front, behind = measure.Of(r.Process.PID()).Sub(front), measure.Of(back...).Sub(behind)
	values := map[string]float64{
		result.Rate: res.Rate(), result.Failed: float64(res.Failed),
		result.Mean: ms(res.Mean), result.P50: ms(res.P50), result.P99: ms(res.P99), result.Max: ms(res.Max),
		result.Memory: float64(measure.PSS(measure.Tree(r.Process.PID())...)) / 1e6,
	}
	if n := float64(res.Requests); n > 0 {
		values[result.CPU] = us(front.CPU) / n
		values[result.Switches] = float64(front.Switches) / n
		if len(back) > 0 {
			values[result.BackCPU] = us(behind.CPU) / n
		}
	}
	return values, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
