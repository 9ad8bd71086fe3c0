//go:build unix

package prefork

import (
	"fmt"

	"jkd/mpm"
)

// Config holds the directives of prefork. A zero value means the default,
// except for MaxConnectionsPerChild.
type Config struct {
	StartServers           int // children at a cold start; default 5
	MinSpareServers        int // idle children below which more are started; default 5
	MaxSpareServers        int // idle children above which one leaves a second; default 10, at least MinSpareServers+1
	ServerLimit            int // dimension of the scoreboard; default 256
	MaxRequestWorkers      int // most children at any time; default and at most ServerLimit
	MaxConnectionsPerChild int // connections after which a child is replaced; 0: never
}

const maxServerLimit = 200000

// withDefaults fills in what is zero and corrects what Apache corrects without
// a word; anything else out of range is an error.
func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		name  string
		value *int
		def   int
	}{
		{"StartServers", &c.StartServers, 5},
		{"MinSpareServers", &c.MinSpareServers, 5},
		{"MaxSpareServers", &c.MaxSpareServers, 10},
		{"ServerLimit", &c.ServerLimit, 256},
		{"MaxRequestWorkers", &c.MaxRequestWorkers, c.ServerLimit},
		{"MaxConnectionsPerChild", &c.MaxConnectionsPerChild, 0},
	} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 0 {
			return c, fmt.Errorf("prefork: %s %d: must not be negative", d.name, *d.value)
		}
	}
	if c.MaxRequestWorkers == 0 { // ServerLimit was not given either
		c.MaxRequestWorkers = c.ServerLimit
	}
	switch {
	case c.ServerLimit > maxServerLimit:
		return c, fmt.Errorf("prefork: ServerLimit %d: at most %d", c.ServerLimit, maxServerLimit)
	case c.MaxRequestWorkers > c.ServerLimit:
		return c, fmt.Errorf("prefork: MaxRequestWorkers %d: at most ServerLimit, %d", c.MaxRequestWorkers, c.ServerLimit)
	}
	c.MaxSpareServers = max(c.MaxSpareServers, c.MinSpareServers+1)
	c.StartServers = min(c.StartServers, c.MaxRequestWorkers)
	return c, nil
}

// New makes the module.
func New(c Config) (mpm.Module, error) {
	c, err := c.withDefaults()
	if err != nil {
		return mpm.Module{}, err
	}
	return mpm.Module{
		Name:            "prefork",
		ThreadsPerChild: 1,
		ServerLimit:     c.ServerLimit,
		ThreadLimit:     1,
		StartServers:    c.StartServers,
		// One thread of Go code, and a heap that is collected early: there
		// may be hundreds of these.
		// One processor for one goroutine; a small heap; and no signals to a
		// goroutine that seems to run for long while it only waits unseen.
		Environ: []string{"GOMAXPROCS=1", "GOGC=50", "GODEBUG=asyncpreemptoff=1"},
		Plan:    func(v mpm.View) mpm.Plan { return plan(c, v) },
		Run:     func(ch *mpm.Child, h mpm.ConnHandler) mpm.ExitCode { return run(c, ch, h) },
	}, nil
}
