//go:build unix

package worker

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"jkd/mpm"
)

// Config holds the directives of worker. A zero value means the default,
// except for MaxConnectionsPerChild.
type Config struct {
	StartServers           int // children at a cold start; default 3
	MinSpareThreads        int // idle threads below which children are added; default 75
	MaxSpareThreads        int // idle threads above which one child leaves a second; default 250, at least MinSpareThreads+ThreadsPerChild
	ThreadsPerChild        int // connections a child serves at a time; default 25, at most ThreadLimit
	ThreadLimit            int // dimension of the scoreboard; default 64
	ServerLimit            int // dimension of the scoreboard; default 16
	MaxRequestWorkers      int // most connections served at any time; default ServerLimit*ThreadsPerChild, rounded down to whole children
	MaxConnectionsPerChild int // connections after which a child is replaced; 0: never
	// NoParking makes a connection keep its slot until it ends, as with
	// Apache's worker: KeepAliveParking Off. Otherwise connections that wait for
	// a request can be without one, as with Apache's event.
	NoParking bool
}

const (
	maxServerLimit = 20000
	maxThreadLimit = 20000
	// connectionsPerThread bounds the open connections of a child that parks
	// some of them, which take some kilobytes each. It is one more than what
	// Apache calls AsyncRequestWorkerFactor.
	connectionsPerThread = 40
)

// mostConnections is how many connections a child has open at most. A child
// with a single thread can't park: it would have none for whoever comes back
// while it waits for the next connection.
func mostConnections(c Config) int {
	most := c.ThreadsPerChild
	if !c.NoParking && c.ThreadsPerChild > 1 {
		most *= connectionsPerThread
	}
	// Each request may need a descriptor for its back end, too.
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err == nil && uint64(l.Cur)/2 < uint64(most) {
		most = int(l.Cur / 2)
	}
	return max(most, c.ThreadsPerChild)
}

// withDefaults fills in what is zero and corrects what Apache corrects without
// a word; anything else out of range is an error.
func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		name  string
		value *int
		def   int
	}{
		{"StartServers", &c.StartServers, 3},
		{"MinSpareThreads", &c.MinSpareThreads, 75},
		{"MaxSpareThreads", &c.MaxSpareThreads, 250},
		{"ThreadsPerChild", &c.ThreadsPerChild, 25},
		{"ThreadLimit", &c.ThreadLimit, 64},
		{"ServerLimit", &c.ServerLimit, 16},
		{"MaxRequestWorkers", &c.MaxRequestWorkers, 0},
		{"MaxConnectionsPerChild", &c.MaxConnectionsPerChild, 0},
	} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 0 {
			return c, fmt.Errorf("worker: %s %d: must not be negative", d.name, *d.value)
		}
	}
	if c.MaxRequestWorkers == 0 {
		c.MaxRequestWorkers = c.ServerLimit * c.ThreadsPerChild
	}
	switch {
	case c.ServerLimit > maxServerLimit:
		return c, fmt.Errorf("worker: ServerLimit %d: at most %d", c.ServerLimit, maxServerLimit)
	case c.ThreadLimit > maxThreadLimit:
		return c, fmt.Errorf("worker: ThreadLimit %d: at most %d", c.ThreadLimit, maxThreadLimit)
	case c.ThreadsPerChild > c.ThreadLimit:
		return c, fmt.Errorf("worker: ThreadsPerChild %d: at most ThreadLimit, %d", c.ThreadsPerChild, c.ThreadLimit)
	case c.MaxRequestWorkers < c.ThreadsPerChild:
		return c, fmt.Errorf("worker: MaxRequestWorkers %d: at least ThreadsPerChild, %d", c.MaxRequestWorkers, c.ThreadsPerChild)
	}
	servers := min(c.MaxRequestWorkers/c.ThreadsPerChild, c.ServerLimit)
	c.MaxRequestWorkers = servers * c.ThreadsPerChild
	c.MaxSpareThreads = max(c.MaxSpareThreads, c.MinSpareThreads+c.ThreadsPerChild)
	c.StartServers = min(c.StartServers, servers)
	return c, nil
}

// New makes the module.
func New(c Config) (mpm.Module, error) {
	c, err := c.withDefaults()
	if err != nil {
		return mpm.Module{}, err
	}
	m := mpm.Module{
		Name:            "worker",
		ThreadsPerChild: c.ThreadsPerChild,
		ServerLimit:     c.ServerLimit,
		ThreadLimit:     c.ThreadLimit,
		StartServers:    c.StartServers,
		Plan:            func(v mpm.View) mpm.Plan { return plan(c, v) },
		Run:             func(ch *mpm.Child, h mpm.ConnHandler) mpm.ExitCode { return run(c, ch, h) },
		// On a machine with more to do than processors, a thread that was put
		// aside looks to the runtime like a goroutine that doesn't stop, and is
		// sent a signal each 10 ms. No goroutine here runs for long between
		// two calls, where it gives way without one.
		Environ: []string{"GODEBUG=asyncpreemptoff=1"},
	}
	// The children of a cold start share the processors between them: a
	// runtime that has more than it can keep busy spends them on looking for
	// work. Children that come later come when there is load.
	cpus := runtime.GOMAXPROCS(0)
	share := (cpus + m.StartServers - 1) / max(m.StartServers, 1)
	m.Environ = append(m.Environ, fmt.Sprintf("GOMAXPROCS=%d", min(max(share, 1), c.ThreadsPerChild)))
	return m, nil
}
