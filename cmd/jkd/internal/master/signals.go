//go:build unix

package master

import (
	"os"
	"syscall"
)

// action is what a signal asks for.
type action uint8

const (
	actStop     action = iota + 1 // stop now
	actGraceful                   // finish running requests, then stop
	actReload                     // a new generation
)

func (a action) String() string {
	switch a {
	case actStop:
		return "shutting down"
	case actGraceful:
		return "shutting down gracefully"
	case actReload:
		return "reloading"
	}
	return "nothing"
}

// signalTable is all that the master listens to. Everything else keeps its
// default, except the signals in ignored.
var signalTable = []struct {
	signal syscall.Signal
	name   string
	action action
}{
	{syscall.SIGTERM, "SIGTERM", actStop},
	{syscall.SIGINT, "SIGINT", actStop},
	{syscall.SIGWINCH, "SIGWINCH", actGraceful},
	{syscall.SIGHUP, "SIGHUP", actReload},
	{syscall.SIGUSR1, "SIGUSR1", actReload},
}

// ignored: a reader of our log that goes away, or a full disk, must not end
// the server. They are caught and forgotten: programs that are started would
// inherit it if they were ignored.
var ignored = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}

// signals lists the table's signals for os/signal.
func signals() (list []os.Signal) {
	for _, s := range signalTable {
		list = append(list, s.signal)
	}
	return list
}

// lookup finds a signal in the table.
func lookup(s os.Signal) (name string, a action) {
	for _, e := range signalTable {
		if e.signal == s {
			return e.name, e.action
		}
	}
	return s.String(), 0
}
