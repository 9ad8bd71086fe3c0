//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"jkd/cmd/jkd/internal/keeper"
	"jkd/mpm"
)

// successorVar is what tableflip marks a process with that is to replace the
// one that has started it: it has a keeper if that one has.
const successorVar = "TABLEFLIP_HAS_PARENT_7DIU3"

// runForeground is jkd -foreground: the keeper, or a master that it has started.
// Where the system has nothing to make a keeper of, it is a master by itself.
func runForeground(f flags) int {
	if announce, life, ok := keeper.Inherited(); ok {
		return runKept(f, kept{announce, life})
	}
	if detached() || os.Getenv(successorVar) != "" || !keeper.Supported {
		return runMaster(f)
	}
	log := newLogger(os.Stderr, false)
	status, err := keeper.Run(keeper.Options{
		Args:     os.Args,
		Terminal: mpm.IsTerminal(0),
		Logger:   log,
	})
	if err != nil {
		log.Warn().Err(err).Msg("the process that was started is the master, and a reload will end it")
		return runMaster(f)
	}
	return status
}

// runKept runs a master that the keeper has started.
func runKept(f flags, k kept) int {
	stop := k.watch()
	defer stop()
	l, err := loadConfig(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	status := serve(l, true, func([]net.Addr) { k.ready() })
	k.leave(status)
	return status
}

// kept is a master's link to the keeper: two descriptors, which the next master
// needs too.
type kept struct{ announce, life int }

// ready tells the keeper that this master serves, or goes on to serve after a
// reload that has failed. An error means that there is no keeper any more: then
// watch does what is to be done.
func (k kept) ready() { _ = keeper.Announce(k.announce, os.Getpid()) }

// leave tells the keeper what this master is about to end with.
func (k kept) leave(status int) { _ = keeper.Leave(k.announce, os.Getpid(), status) }

// watch stops this master at once when the keeper is gone: the supervisor takes
// that for the end of the service and is about to start it anew, for which the
// ports and files must be free.
func (k kept) watch() (stop func()) {
	stop, err := keeper.Watch(k.life, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) })
	if err != nil {
		return func() {}
	}
	return stop
}
