//go:build unix

package main

import (
	"os"
	"sync"
	"syscall"

	"jkd/cmd/jkd/internal/keeper"
	"jkd/cmd/jkd/internal/master"
	"jkd/cmd/jkd/internal/title"
	"jkd/mpm"
)

// runForeground is jkd -foreground: the keeper, or a master that it has started.
// Where the system has nothing to make a keeper of, it is a master by itself.
func runForeground(f flags) int {
	if _, ok := inheritedKeeper(); ok || detached() || !keeper.Supported {
		return runMaster(f)
	}
	title.Set("jkd: keeper")
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

// inheritedKeeper is the keeper that has started this master.
var inheritedKeeper = sync.OnceValues(func() (kept, bool) {
	announce, life, ok := keeper.Inherited()
	return kept{announce, life}, ok
})

// The names by which a master hands its link to the keeper on.
const (
	keptAnnounce = "keeper announce"
	keptLife     = "keeper life"
)

// handedKeeper is the keeper of the generation before.
func handedKeeper(h *master.Heritage) (k kept, ok bool) {
	k = kept{h.File(keptAnnounce), h.File(keptLife)}
	return k, k.announce >= 0 && k.life >= 0
}

func (k kept) files() map[string]int {
	return map[string]int{keptAnnounce: k.announce, keptLife: k.life}
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
