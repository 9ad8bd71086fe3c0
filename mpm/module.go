//go:build unix

package mpm

import (
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

// ConnHandler serves one accepted connection until it ends. It must close c.
// Under worker it is called from many goroutines at once. c has a seat, which
// it may lose when c.ReadIdle reads nothing, and which may be another one
// whenever that reads something. c may also have a Park(timeout) error, a
// ReadIdle without a buffer: there is no seat meanwhile, nor after an error.
type ConnHandler interface {
	ServeConn(c sock.Conn, seat *scoreboard.Seat)
}

// Module is a multi-processing module: a few numbers, a policy and a run loop.
// It is a value that both the master and the children make from the same
// configuration; its functions must not share state.
type Module struct {
	// Name is "prefork" or "worker"; it appears in logs and process titles.
	Name string
	// ThreadsPerChild is how many connections one child serves at a time.
	ThreadsPerChild int
	// ServerLimit and ThreadLimit are the dimensions of the scoreboard.
	ServerLimit, ThreadLimit int
	// StartServers is how many children a cold start creates.
	StartServers int
	// Environ holds name=value pairs for the children's environment. A name
	// that is set in the master's environment keeps the value it has there:
	// the administrator knows better.
	Environ []string
	// Plan decides, once a second, how many children to add and whether one
	// should leave. It must be pure: same view, same answer.
	Plan func(View) Plan
	// Run is the child: it accepts and serves connections until the child is
	// told to leave or has served its share.
	Run func(*Child, ConnHandler) ExitCode
}

// ServerState is what the master knows of one server index.
type ServerState uint8

// The states in the order in which a child passes through them.
const (
	ServerFree     ServerState = iota // no process; next: starting
	ServerStarting                    // process started, not ready yet; next: running, leaving, free
	ServerRunning                     // accepts connections; next: leaving, free
	ServerLeaving                     // was told to leave or says that it does; next: free
)

func (s ServerState) String() string {
	switch s {
	case ServerFree:
		return "free"
	case ServerStarting:
		return "starting"
	case ServerRunning:
		return "running"
	case ServerLeaving:
		return "leaving"
	}
	return "unknown"
}

// ServerView is one server as a Plan sees it.
type ServerView struct {
	State ServerState
	// Busy is how many of its threads serve a connection: 0..ThreadsPerChild.
	// The others are idle, those that don't run yet too. It comes from the
	// child's own records and is an estimate.
	Busy int
}

// View is the state on which a Plan decides.
type View struct {
	// Servers has ServerLimit elements.
	Servers []ServerView
	// Pace is what the previous Plan returned.
	Pace Pace
	// Hold means that no child may be started now, because children die
	// quickly or could not be started.
	Hold bool
}

// Nobody is the Plan.Retire that retires nobody.
const Nobody = -1

// Plan is what to do in this tick.
type Plan struct {
	Spawn  int   // children to start, at the lowest free indexes
	Retire int   // the server to send away gracefully, or Nobody
	Pace   Pace  // for the next View
	Note   *Note // for the error log, or nil
}
