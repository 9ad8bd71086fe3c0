package conf

import (
	"fmt"
	"strconv"
)

// Apache's limits of ServerLimit and ThreadLimit.
const (
	MaxPreforkServers = 200000
	MaxWorkerServers  = 20000
	MaxThreads        = 20000
)

// correction is a value that was replaced.
type correction struct {
	name    string // directive
	because string // directive that stood in the way, or ""
	old     string
	new     string
	why     string
}

func (c correction) text() string {
	return fmt.Sprintf("%s %s; %s is used", c.old, c.why, c.new)
}

// Correct applies Apache's corrections to the MPM in use and to keep-alive, so
// that the values held are the values meant, and says what it replaced.
// [Load] has done this already; a configuration made in code needs it.
func (c *Config) Correct() []Warning {
	var out []Warning
	for _, f := range c.correct() {
		out = append(out, Warning{File: c.Path, Key: f.name, Msg: f.text()})
	}
	return out
}

// corrector collects corrections.
type corrector struct{ done []correction }

// set replaces *field when it differs from want.
func (r *corrector) set(name, because string, field *int, want int, why string, args ...any) {
	if *field == want {
		return
	}
	r.done = append(r.done, correction{
		name: name, because: because,
		old: strconv.Itoa(*field), new: strconv.Itoa(want), why: fmt.Sprintf(why, args...),
	})
	*field = want
}

func (r *corrector) atLeast(name string, field *int, least int) {
	if *field < least {
		r.set(name, "", field, least, "is less than %d", least)
	}
}

// within applies the bounds of the two limits.
func (r *corrector) within(name string, field *int, most int) {
	r.atLeast(name, field, 1)
	if *field > most {
		r.set(name, "", field, most, "is more than %d", most)
	}
}

// atMost gives way to another directive.
func (r *corrector) atMost(name, other string, field *int, most int) {
	if *field > most {
		r.set(name, other, field, most, "is more than %s %d", other, most)
	}
}

// never makes a negative count of connections what prefork took it for.
func (r *corrector) never(field *int) {
	if *field < 0 {
		r.set("MaxConnectionsPerChild", "", field, 0, "is negative")
	}
}

func (c *Config) correct() []correction {
	r := &corrector{}
	if c.Server.KeepAlive && c.Server.KeepAliveTimeout == 0 {
		c.Server.KeepAlive = false
		r.done = append(r.done, correction{name: "KeepAliveTimeout", old: "0", new: "KeepAlive Off", why: "leaves no time for a second request"})
	}
	switch c.Server.MPM {
	case Prefork:
		c.Prefork.correct(r)
	case Worker:
		c.Worker.correct(r)
	}
	return r.done
}

func (p *PreforkConfig) correct(r *corrector) {
	r.within("ServerLimit", &p.ServerLimit, MaxPreforkServers)
	r.atLeast("MaxRequestWorkers", &p.MaxRequestWorkers, 1)
	r.atMost("MaxRequestWorkers", "ServerLimit", &p.MaxRequestWorkers, p.ServerLimit)
	r.atLeast("StartServers", &p.StartServers, 1)
	r.atMost("StartServers", "MaxRequestWorkers", &p.StartServers, p.MaxRequestWorkers)
	r.atLeast("MinSpareServers", &p.MinSpareServers, 1)
	if p.MaxSpareServers <= p.MinSpareServers {
		r.set("MaxSpareServers", "MinSpareServers", &p.MaxSpareServers, p.MinSpareServers+1,
			"is not more than MinSpareServers %d", p.MinSpareServers)
	}
	r.never(&p.MaxConnectionsPerChild)
}

// correct follows Apache's order. Unlike Apache it also lowers
// MaxRequestWorkers when ServerLimit cuts the number of processes: a limit
// that cannot be reached could not be reported as reached either.
func (w *WorkerConfig) correct(r *corrector) {
	r.within("ServerLimit", &w.ServerLimit, MaxWorkerServers)
	r.within("ThreadLimit", &w.ThreadLimit, MaxThreads)
	r.atLeast("ThreadsPerChild", &w.ThreadsPerChild, 1)
	r.atMost("ThreadsPerChild", "ThreadLimit", &w.ThreadsPerChild, w.ThreadLimit)
	if w.MaxRequestWorkers < w.ThreadsPerChild {
		r.set("MaxRequestWorkers", "ThreadsPerChild", &w.MaxRequestWorkers, w.ThreadsPerChild,
			"is less than ThreadsPerChild %d", w.ThreadsPerChild)
	}
	servers := w.MaxRequestWorkers / w.ThreadsPerChild
	r.set("MaxRequestWorkers", "ThreadsPerChild", &w.MaxRequestWorkers, servers*w.ThreadsPerChild,
		"is not a multiple of ThreadsPerChild %d", w.ThreadsPerChild)
	if servers > w.ServerLimit {
		r.set("MaxRequestWorkers", "ServerLimit", &w.MaxRequestWorkers, w.ServerLimit*w.ThreadsPerChild,
			"needs %d servers of %d threads, more than ServerLimit %d", servers, w.ThreadsPerChild, w.ServerLimit)
		servers = w.ServerLimit
	}
	r.atLeast("StartServers", &w.StartServers, 1)
	if w.StartServers > servers {
		r.set("StartServers", "MaxRequestWorkers", &w.StartServers, servers,
			"is more than the %d servers of MaxRequestWorkers %d", servers, w.MaxRequestWorkers)
	}
	r.atLeast("MinSpareThreads", &w.MinSpareThreads, 1)
	// Apache asks for one thread more than a server's worth, so that ending a
	// server can never bring the spare threads below the minimum.
	if least := w.MinSpareThreads + w.ThreadsPerChild + 1; w.MaxSpareThreads < least {
		r.set("MaxSpareThreads", "MinSpareThreads", &w.MaxSpareThreads, least,
			"is less than MinSpareThreads %d and a server's %d threads and one more", w.MinSpareThreads, w.ThreadsPerChild)
	}
	r.never(&w.MaxConnectionsPerChild)
}
