//go:build unix

package main

import (
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"jkd/cmd/jkd/internal/master"
	"jkd/cmd/jkd/internal/status"
	"jkd/cmd/jkd/internal/users"
	"jkd/conf"
	"jkd/connector/counters"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk2"
	"jkd/mpm"
	"jkd/scoreboard"
)

// newStatus makes the handler of [status] in a child.
func newStatus(cfg *conf.Config, source status.Filler) (*status.Handler, error) {
	s := cfg.Status
	o := status.HandlerOptions{Location: s.Location, Metrics: s.Metrics, Source: source, Require: s.Require, Realm: s.AuthName}
	if s.Users != nil {
		u, err := users.Read(s.Users)
		if err != nil {
			return nil, err
		}
		o.Users = u.Check
	}
	return status.NewHandler(o), nil
}

// newCollector makes who reads the state of the server, in a child or in the
// master.
func newCollector(cfg *conf.Config, m mpm.Module, board *scoreboard.Scoreboard, table *counters.Table, masterPID int) *status.Collector {
	c := &status.Collector{
		Board:    board,
		Counters: table,
		Server: status.Server{
			Name: serverName(cfg), Version: "jkd/" + version + " (" + runtime.GOOS + ")", Built: built, GoVersion: runtime.Version(),
			MPM: m.Name, Extended: true, MasterPID: masterPID,
		},
		Limits: status.Limits{ServerLimit: m.ServerLimit, ThreadLimit: m.ThreadLimit, ThreadsPerChild: m.ThreadsPerChild, MaxRequestWorkers: cfg.Prefork.MaxRequestWorkers},
	}
	if cfg.Server.MPM == conf.Worker {
		c.Limits.MaxRequestWorkers = cfg.Worker.MaxRequestWorkers
	}
	if s := cfg.Status; s != nil {
		c.Server.Extended, c.ShowQueryStrings = s.ExtendedStatus, s.ShowQueryStrings
	}
	return c
}

// serverName is ServerName, or what the machine is called.
func serverName(cfg *conf.Config) string {
	if cfg.Server.ServerName != "" {
		return cfg.Server.ServerName
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

// built is the time of the revision that this program was made of or, if it
// does not know, of its file; "" if that is not to be seen. It is looked for at
// the start: a child shuts itself in.
var built = func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				return s.Value
			}
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // by its name there may be another one by now
	}
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return file.ModTime().UTC().Format(time.RFC3339)
}()

// together are the balancers of several connectors.
func together(lists []func() []status.Balancer) func() []status.Balancer {
	return func() (out []status.Balancer) {
		for _, f := range lists {
			out = append(out, f()...)
		}
		return out
	}
}

// jkBalancers are those of [connector.jk], and its workers that are in none,
// as all processes have them.
func jkBalancers(seg *jkshm.Segment) (out []status.Balancer) {
	l := seg.Layout()
	inSome := make([]bool, len(l.Workers))
	for i := range l.Balancers {
		b := seg.Balancer(i)
		var s jkshm.BalancerSettings
		b.Load(&s)
		x := status.Balancer{Name: b.Name(), Connector: "jk", Method: s.Method.String()}
		for j, at := range l.Balancers[i].Members {
			inSome[at] = true
			m := b.Member(j)
			var ms jkshm.MemberSettings
			m.Load(&ms)
			y := jkMember(m.Worker())
			y.Activation, y.State, y.Sick, y.Factor = ms.Activation.String(), m.State().String(), m.State().InError(), ms.LBFactor
			y.Elected, y.Errors, y.LastError = m.Elected.Load(), m.Errors.Load(), unix(m.LastError.Load())
			x.Members = append(x.Members, y)
		}
		out = append(out, x)
	}
	var alone []status.Member
	for i := range l.Workers {
		if inSome[i] {
			continue
		}
		w := seg.Worker(i)
		y := jkMember(w)
		y.Activation, y.State, y.Factor = "ACT", "OK", 1
		switch w.State() {
		case jkshm.WorkerIdle:
			y.State = "OK/IDLE"
		case jkshm.WorkerOK:
		case jkshm.WorkerProbe:
			y.State = "ERR/PRB"
		default:
			y.State, y.Sick = "ERR", true
		}
		y.Elected, y.Errors, y.LastError = w.Used.Load(), w.Errors.Load(), unix(w.ErrorTime.Load())
		alone = append(alone, y)
	}
	if alone != nil {
		out = append(out, status.Balancer{Connector: "jk", Members: alone})
	}
	return out
}

// jkMember is what a back end of [connector.jk] is wherever it is a member.
func jkMember(w *jkshm.Worker) status.Member {
	var s jkshm.WorkerSettings
	w.Load(&s)
	return status.Member{Name: w.Name(), Address: net.JoinHostPort(s.Host, strconv.Itoa(s.Port)), Busy: w.Busy()}
}

// jk2Balancers are those of [connector.jk2]. What their members have done is
// what all processes have counted of them.
func jk2Balancers(balancers []jk2.BalancerState, table *counters.Table) (out []status.Balancer) {
	totals := map[string]counters.Totals{}
	if table != nil {
		for i, w := range table.Workers() {
			if w.Connector == jk2.CounterConnector {
				totals[w.Name] = table.Totals(i)
			}
		}
	}
	for _, b := range balancers {
		x := status.Balancer{Name: b.Name, Connector: "jk2", Method: "level"}
		for _, m := range b.Members {
			t := totals[m.Name]
			y := status.Member{
				Name: m.Name, Address: m.Address, Activation: "ACT", State: "OK", Factor: m.Factor,
				Elected: t.Cache.Hits + t.Cache.Misses, Errors: t.Errors, Busy: t.Cache.Busy,
			}
			if !m.Failed.IsZero() {
				y.State, y.Sick, y.LastError = "ERR", true, m.Failed
			}
			switch {
			case m.Disabled:
				y.Activation = "STP"
			case m.Graceful:
				y.Activation = "DIS"
			}
			x.Members = append(x.Members, y)
		}
		out = append(out, x)
	}
	return out
}

// unix is a time in seconds, of which 0 is none.
func unix(seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// masterSource is the Source of the master, for its control socket. There is
// one once the scoreboard is there.
type masterSource struct {
	collector atomic.Pointer[status.Collector]
}

// newMasterSource is told of the scoreboard by o.
func newMasterSource(o *master.Options, l loaded, table *counters.Table, seg *jkshm.Segment) *masterSource {
	s := new(masterSource)
	var balancers []func() []status.Balancer
	if seg != nil {
		balancers = append(balancers, func() []status.Balancer { return jkBalancers(seg) })
	}
	if l.jk2 != nil {
		// As the file was at the start, and of no member it is known that it
		// fails: each child finds that out for itself.
		states := l.jk2.Config.BalancerStates()
		balancers = append(balancers, func() []status.Balancer { return jk2Balancers(states, table) })
	}
	module, onBoard := o.Module, o.OnBoard
	o.OnBoard = func(b *scoreboard.Scoreboard) {
		if onBoard != nil {
			onBoard(b)
		}
		c := newCollector(l.cfg, module, b, table, os.Getpid())
		c.Balancers = together(balancers)
		s.collector.Store(c)
	}
	return s
}

// Snapshot implements status.Source.
func (s *masterSource) Snapshot() *status.Status {
	if c := s.collector.Load(); c != nil {
		return c.Snapshot()
	}
	return new(status.Status)
}
