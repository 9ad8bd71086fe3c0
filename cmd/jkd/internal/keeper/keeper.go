//go:build unix

package keeper

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// Options are the keeper's.
type Options struct {
	// Args is the command line, os.Args: masters get the same, with the
	// program's path made absolute.
	Args []string
	// Terminal: the standard input is a terminal, see Signals.
	Terminal bool
	// Patience is how long processes that are left after the last master may
	// take to end by themselves; 0: DefaultPatience.
	Patience time.Duration
	// Logger gets what goes wrong.
	Logger zerolog.Logger
}

// reloadLimit is when systemd is told that a reload is over although no master
// has said so.
const reloadLimit = 2 * time.Minute

// passed are the signals that are passed on, and dropped those that would end
// the keeper for nothing when it writes its log.
var (
	passed  = []os.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH}
	dropped = []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ}
)

// Run starts a master and is the keeper until its end. It returns the exit
// status. An error means that the process cannot be a keeper and that nothing
// has been done.
//
// It waits for every child of the process, so there must be no other ones, and
// may be called once. GOMAXPROCS becomes 1. The garbage collector is left
// alone: it hardly ever has to run here, and from its first run on it has
// 0.8 MB of its own.
func Run(o Options) (status int, err error) {
	if err := acquire(); err != nil {
		return 0, fmt.Errorf("keeper: %w", err)
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	runtime.GOMAXPROCS(1)

	// Before there is a master. Children have a channel of their own: however
	// many end, no other signal is lost.
	sigC := make(chan os.Signal, 16)
	signal.Notify(sigC, passed...)
	defer signal.Stop(sigC)
	chldC := make(chan os.Signal, 1)
	signal.Notify(chldC, syscall.SIGCHLD)
	defer signal.Stop(chldC)
	dropC := make(chan os.Signal, 1)
	signal.Notify(dropC, dropped...) // Ignore would be inherited
	defer signal.Stop(dropC)

	k := &keeper{o: o, log: o.Logger, notify: takeNotifier(), leaving: newLadder(o.Patience)}
	life, err := k.start()
	if err != nil {
		k.log.Error().Err(err).Msg("could not start the master")
		return 1, nil
	}
	defer life.Close()
	defer k.reports.close()
	return k.run(sigC, chldC), nil
}

// keeper is the state of the one goroutine that decides.
type keeper struct {
	o       Options
	log     zerolog.Logger
	notify  *notifier
	reports *reports

	masters lineage
	first   int              // the master that is a child from the start
	held    []syscall.Signal // until the first announcement, each once
	leaving ladder
	reload  *time.Timer // systemd waits for the end of a reload; nil: not so

	stop   syscall.Signal // the end that was last asked for; 0: none
	stopTo int            // the master that was told
	hurry  bool           // no master lived that could be told

	ended map[int]syscall.WaitStatus // waited for, not yet looked at
	alone bool                       // there are no children at all
}

// start starts the first master. The masters hold the reading end of life.
func (k *keeper) start() (life *os.File, err error) {
	path, err := Program(k.o.Args[0])
	if err != nil {
		return nil, err
	}
	announceR, announceW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer announceW.Close()
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		_ = announceR.Close()
		return nil, err
	}
	defer lifeR.Close()

	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, linkVar+"=") })
	args := append([]string{path}, k.o.Args[1:]...)
	pid, err := syscall.ForkExec(path, args, &syscall.ProcAttr{
		Env:   append(env, linkVar+"=3,4"),
		Files: []uintptr{0, 1, 2, announceW.Fd(), lifeR.Fd()},
	})
	if err == nil {
		k.reports, err = readReports(announceR)
	}
	if err != nil {
		_ = announceR.Close()
		_ = lifeW.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.masters.begin(pid)
	k.first = pid
	k.ended = make(map[int]syscall.WaitStatus)
	return lifeW, nil
}

// run is the keeper's life.
func (k *keeper) run(sigC, chldC <-chan os.Signal) (status int) {
	for {
		k.look()
		if k.judge() {
			return k.masters.status
		}
		var reloadC <-chan time.Time
		if k.reload != nil {
			reloadC = k.reload.C
		}
		select {
		case <-chldC:
		case <-k.reports.wakeC:
		case s := <-sigC:
			k.look() // for whom it is
			k.obey(s.(syscall.Signal))
		case <-k.leaving.timer.C:
			k.climb()
		case <-reloadC:
			k.tellReady()
		}
	}
}

// look learns what has happened: processes have ended, masters have written.
// What a master wrote is known before its end is judged, because it is read
// after the wait.
func (k *keeper) look() {
	k.reap()
	list, bad := k.reports.take()
	if bad > 0 {
		k.log.Warn().Int("lines", bad).Msg("the keeper did not understand what a master wrote")
	}
	for _, r := range list {
		if r.leaves {
			k.masters.leave(r.pid, r.status)
		} else {
			k.announced(r.pid)
		}
	}
	k.bury()
	k.prune()
}

// bury takes out the masters that were waited for.
func (k *keeper) bury() {
	for pid, ws := range k.ended {
		if k.masters.end(pid, exitStatus(ws)) && ws.Signaled() {
			k.log.Warn().Int("pid", pid).Bool("core", ws.CoreDump()).Msgf("the master was ended by signal %d (%s)", int(ws.Signal()), ws.Signal())
		}
	}
	clear(k.ended)
}

// reap waits for all children that have ended. There is nobody else in this
// process who would wait for one.
func (k *keeper) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			k.alone = true // ECHILD
			return
		case pid == 0:
			k.alone = false
			return
		case ws.Exited() || ws.Signaled():
			k.ended[pid] = ws
		}
	}
}

func exitStatus(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// announced makes pid the current master if it is a descendant, or was one:
// then it has just been waited for.
func (k *keeper) announced(pid int) {
	if kinOf(pid) == kinNone {
		k.reap()
		if _, ok := k.ended[pid]; !ok {
			k.log.Warn().Int("pid", pid).Msg("a process that says it is the master is none of ours, or has ended")
			return
		}
	}
	if !k.masters.announce(pid) {
		k.log.Warn().Int("pid", pid).Msgf("there are %d masters already", maxMasters)
		return
	}
	k.tellReady()
	k.hurry = false
	for _, s := range k.held {
		k.send(s)
	}
	k.held = nil
	// The one before was told, but had just handed over, or ended.
	if k.stop != 0 && k.stopTo != pid {
		k.send(k.stop)
	}
}

// prune takes masters out that were waited for by the one that started them.
func (k *keeper) prune() {
	for _, m := range slices.Clone(k.masters.members) {
		if m.pid == k.first || kinOf(m.pid) != kinNone {
			continue
		}
		// It may have become a child of ours just before its end.
		k.reap()
		k.bury()
		if !k.masters.vanish(m.pid) {
			k.log.Warn().Int("pid", m.pid).Msg("a master was ended, the one that has started it knows by what")
		}
	}
}

// judge tells whether all is over, and begins or calls off the end.
func (k *keeper) judge() (over bool) {
	if k.masters.current() != 0 {
		k.leaving.reset()
		return false
	}
	if k.alone || k.leaving.at == gaveUp {
		return true
	}
	k.leaving.begin()
	if k.hurry && k.leaving.at == waiting {
		k.climb()
	}
	return false
}

// obey passes a signal on, now or later.
func (k *keeper) obey(s syscall.Signal) {
	if s == syscall.SIGWINCH && k.o.Terminal {
		return
	}
	switch {
	case k.masters.current() == 0:
		k.send(s) // to whoever comes, or to all that is left
	case urgent(s) || k.masters.announced():
		k.send(s)
	case !slices.Contains(k.held, s):
		k.held = append(k.held, s)
	}
}

// endsIt: the signal asks for the end of the service, whichever master gets it.
func endsIt(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGWINCH
}

// urgent signals end a master that does not listen to any yet.
func urgent(s syscall.Signal) bool {
	return s == syscall.SIGTERM || s == syscall.SIGINT || s == syscall.SIGQUIT
}

// send sends to the current master. Which one lives is looked at just before: a
// number may belong to another process by now, unless it is a child's of ours.
func (k *keeper) send(s syscall.Signal) {
	k.prune()
	pid := 0
	for _, m := range slices.Backward(k.masters.members) {
		if kinOf(m.pid) != kinDead {
			pid = m.pid
			break
		}
	}
	if endsIt(s) {
		k.stop, k.stopTo = s, pid
	}
	if pid == 0 {
		k.hurry = k.hurry || urgent(s)
		return
	}
	if err := syscall.Kill(pid, s); err != nil {
		k.log.Warn().Err(err).Int("pid", pid).Msgf("could not pass signal %d (%s) on", int(s), s)
		return
	}
	switch s {
	case syscall.SIGHUP, syscall.SIGUSR1:
		if k.notify != nil {
			k.told(k.notify.reloading())
			k.reload = time.NewTimer(reloadLimit)
		}
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGWINCH:
		k.told(k.notify.stopping())
	}
}

// tellReady tells systemd which master serves.
func (k *keeper) tellReady() {
	if k.reload != nil {
		k.reload.Stop()
		k.reload = nil
	}
	if pid := k.masters.current(); pid != 0 {
		k.told(k.notify.ready(pid))
	}
}

// told reports that systemd could not be told.
func (k *keeper) told(err error) {
	if err != nil {
		k.log.Warn().Err(err).Msg("could not notify the supervisor")
	}
}
