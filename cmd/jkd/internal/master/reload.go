//go:build unix

package master

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	// upgradeTimeout bounds the start of a successor. It is killed then.
	upgradeTimeout = 60 * time.Second
	// successorStart is how long a successor gives its own children, so that it
	// can still say what keeps them.
	successorStart = 50 * time.Second
	// settle is how long the children of a successor serve before it takes over.
	// If it dies until then the generation before goes on as if nothing had been:
	// it has the names of the files and sockets, and may start another one.
	settle = time.Second
	// parentPatience is how long a stop waits for the generation before, which
	// was told to stop too, or drains and stops then. It is a little longer than
	// the stop ladder.
	parentPatience = 12 * time.Second
	// orphanPatience is how much longer a generation drains whose successor has
	// died: nobody accepts connections, and a supervisor that could start jkd anew
	// waits for the end.
	orphanPatience = 10 * time.Second
)

// ErrMoved: the reload that was asked for while another one was under way is
// the business of the generation that serves now.
var ErrMoved = errors.New("another generation serves now")

// reloadPhase is where the handing over is: from the generation before, then to
// the next one. The first generation begins with none.
type reloadPhase uint8

const (
	reloadNone     reloadPhase = iota // next: waiting, running
	reloadStarting                    // a successor whose children are not ready; next: settling
	reloadSettling                    // they serve, those of the generation before too; next: none
	reloadWaiting                     // for the end of the generation before; next: running
	reloadRunning                     // the successor starts and settles; next: none, over
	reloadOver                        // this generation drains
)

// reloadRequest is one who asks for a reload. doneC gets one value; nil: nobody
// waits.
type reloadRequest struct {
	hard  bool // do not let requests of this generation finish
	doneC chan<- error
}

// reloader is the state of handing over. Its channels may be used by any
// goroutine, the rest is the master's.
type reloader struct {
	askC     chan reloadRequest
	upgradeC chan error
	readyC   chan struct{} // the children of a successor are ready
	parentC  chan struct{}

	phase    reloadPhase
	settled  *time.Timer     // of phase settling
	asked    []reloadRequest // what the reload in progress is for
	later    []reloadRequest // what came after it had begun
	stopping bool            // nobody should succeed any more
	next     int             // the successor's pid
	watch    *time.Ticker    // of phase over: whether it lives
}

func newReloader(successor bool) reloader {
	r := reloader{
		askC:     make(chan reloadRequest),
		upgradeC: make(chan error, 1),
		readyC:   make(chan struct{}, 1),
		parentC:  make(chan struct{}, 1),
		settled:  time.NewTimer(settle),
	}
	r.settled.Stop()
	r.watch = time.NewTicker(time.Second)
	r.watch.Stop()
	if successor {
		r.phase = reloadStarting
	}
	return r
}

// Reload replaces this generation by a new one, with the configuration and the
// program as they are then. It returns when the new one serves, or with the
// reason why this one goes on, or with ErrMoved. hard cuts what this generation
// has in hand. It may be called from any goroutine while Run runs; it gives up
// when stop is closed.
func (m *Master) Reload(hard bool, stop <-chan struct{}) error {
	doneC := make(chan error, 1)
	select {
	case m.reload.askC <- reloadRequest{hard, doneC}:
	case <-stop:
		return errors.New("jkd is stopping")
	}
	select {
	case err := <-doneC:
		return err
	case <-stop:
	}
	// A generation that was replaced soon stops: what became of the reload comes
	// before.
	select {
	case err := <-doneC:
		return err
	default:
		return errors.New("jkd is stopping")
	}
}

func (r reloadRequest) done(err error) {
	if r.doneC != nil {
		r.doneC <- err
	}
}

// ask begins a reload, or remembers that there has to be one.
func (m *Master) ask(r reloadRequest) {
	switch {
	case m.o.Heritage == nil:
		m.log.Warn().Msg("this jkd cannot be reloaded")
		r.done(errors.New("this jkd cannot be reloaded"))
	case m.reload.stopping:
		r.done(errors.New("jkd is stopping"))
	case m.reload.phase == reloadOver:
		m.pass(r)
	case m.reload.phase == reloadRunning || m.reload.phase == reloadStarting || m.reload.phase == reloadSettling:
		m.reload.later = append(m.reload.later, r)
	default:
		m.reload.asked = append(m.reload.asked, r)
		m.begin()
	}
}

// pass leaves a request to the successor.
func (m *Master) pass(r reloadRequest) {
	if r.doneC != nil {
		r.done(ErrMoved)
		return
	}
	if m.reload.next != 0 {
		_ = syscall.Kill(m.reload.next, syscall.SIGHUP)
	}
}

// begin starts the successor, if the generation before has gone.
func (m *Master) begin() {
	h := m.o.Heritage
	if h.parent != 0 {
		if m.reload.phase == reloadNone {
			m.reload.phase = reloadWaiting
			m.log.Info().Int("before", h.parent).Msg("the reload waits for the generation before, which is draining")
		}
		return
	}
	m.reload.phase = reloadRunning
	if err := h.offerTo(m); err != nil {
		m.goOn(err)
		return
	}
	go func() {
		err := h.upgrade()
		// It leaves its copies of the successor's pipes to the garbage collector,
		// which can take its time in a master that goes on.
		runtime.GC()
		m.reload.upgradeC <- err
	}()
}

// upgradePatience is how long tableflip may take to learn that the generation
// before has ended, after this package has.
const upgradePatience = 10 * time.Second

// upgrade is tableflip's Upgrade. That knows of the end of the generation before
// a moment later than those who wait for it, and has no name for that error.
func (h *Heritage) upgrade() error {
	for end := time.Now().Add(upgradePatience); ; time.Sleep(10 * time.Millisecond) {
		err := h.u.Upgrade()
		if err == nil || err.Error() != "parent hasn't exited" || time.Now().After(end) {
			return err
		}
	}
}

// goOn is called when there is no successor after all.
func (m *Master) goOn(err error) {
	m.reload.phase = reloadNone
	if text := report(m.o.Heritage.heard()); text != "" {
		err = fmt.Errorf("%s (%w)", text, err) // which may be a warning that has nothing to do with it
	}
	m.log.Error().Err(err).Msg("the reload has failed, this generation goes on")
	m.finish(fmt.Errorf("the reload has failed, jkd goes on as before: %w", err))
	if m.o.OnStay != nil {
		m.o.OnStay()
	}
	m.again()
}

// replaced is called when a successor has taken over.
func (m *Master) replaced(sup stopper) {
	said := m.o.Heritage.heard()
	m.reload.next = readyPID(said)
	m.endNext()
	m.reload.phase = reloadOver
	m.log.Info().Int("next", m.reload.next).Msg("the next generation serves")
	m.pid.remove()
	m.removeFiles()
	m.leave(sup)
	m.dropListeners(said)
	m.reload.watch.Reset(time.Second)
	// Told only now, as whoever asked expects the new configuration: it is the
	// children's last moment to accept a connection.
	m.finish(nil)
	for _, r := range m.reload.later {
		m.pass(r)
	}
	m.reload.later = nil
}

// dropListeners makes the kernel refuse what the successor does not listen on,
// and leaves it the others.
func (m *Master) dropListeners(said []byte) {
	m.listeners = slices.DeleteFunc(m.listeners, func(l listener) bool {
		if !without(said, l.key) {
			return false
		}
		m.log.Info().Stringer("address", l.addr).Msg("not listening any more")
		gone := []listener{l}
		removeUnix(gone)
		shutListeners(gone)
		closeListeners(gone)
		return true
	})
	share(m.listeners, true)
}

// watchNext looks after the successor while this generation drains.
func (m *Master) watchNext(sup stopper) {
	if m.reload.next == 0 || syscall.Kill(m.reload.next, 0) != syscall.ESRCH {
		return
	}
	m.reload.watch.Stop()
	if m.reload.stopping {
		return
	}
	m.log.Error().Int("next", m.reload.next).Stringer("limit", orphanPatience).Msg("the next generation has died: nobody accepts connections, this generation ends")
	share(m.listeners, false)
	removeUnix(m.listeners)
	shutListeners(m.listeners)
	time.AfterFunc(orphanPatience, sup.Stop)
}

// endNext passes the end on to a successor that serves, if it was asked for.
func (m *Master) endNext() {
	if !m.reload.stopping || m.reload.next == 0 {
		return
	}
	s := syscall.SIGTERM
	if m.draining {
		s = syscall.SIGWINCH
	}
	_ = syscall.Kill(m.reload.next, s)
}

// settle is called when the children of a successor have begun to serve.
func (m *Master) settle(sup stopper) {
	m.reload.phase = reloadSettling
	m.o.Heritage.announce()
	if m.o.Heritage.parent == 0 {
		m.settled(sup)
		return
	}
	m.reload.settled.Reset(settle)
}

// settled takes over, if this is a successor whose children serve and that has
// not done so yet.
func (m *Master) settled(sup stopper) {
	if m.reload.phase != reloadSettling {
		return
	}
	m.reload.settled.Stop()
	if err := m.takeOver(); err != nil {
		m.log.Error().Err(err).Msg("could not take over from the generation before")
		m.err = err
		m.reload.phase, m.reload.stopping = reloadStarting, true
		sup.Graceful(successorStart)
		return
	}
	m.reload.phase = reloadNone
	m.again()
}

// leave ends this generation, which has a successor.
func (m *Master) leave(sup stopper) {
	if slices.ContainsFunc(m.reload.asked, func(r reloadRequest) bool { return r.hard }) {
		m.log.Info().Msg("this generation stops")
		sup.Stop()
		return
	}
	m.draining = true
	m.log.Info().Stringer("limit", m.o.GracefulShutdownTimeout).Msg("this generation drains")
	sup.Graceful(m.o.GracefulShutdownTimeout)
}

// finish answers those whose reload it was.
func (m *Master) finish(err error) {
	for _, r := range m.reload.asked {
		r.done(err)
	}
	m.reload.asked = nil
}

// again takes up what was asked for while a reload was under way that has failed.
func (m *Master) again() {
	later := m.reload.later
	m.reload.later = nil
	for _, r := range later {
		m.ask(r)
	}
}

// parentGone is called when the generation before has ended.
func (m *Master) parentGone(sup stopper) {
	m.log.Info().Int("before", m.o.Heritage.parent).Msg("the generation before has ended")
	m.o.Heritage.parent = 0
	m.settled(sup)
	if m.reload.phase == reloadWaiting {
		m.reload.phase = reloadNone
		if !m.reload.stopping {
			m.begin()
		}
	}
}

// stopParent tells the generation before to stop now, if it is still there.
func (m *Master) stopParent() {
	if parent := m.o.Heritage.Parent(); parent != 0 && os.Getppid() == parent {
		_ = syscall.Kill(parent, syscall.SIGTERM)
	}
}

// endReload is called when the children are gone: a successor that is starting
// is given up, and the generation before is waited for.
func (m *Master) endReload() {
	h := m.o.Heritage
	if h == nil {
		return
	}
	if m.reload.phase == reloadRunning {
		if m.reload.next = readyPID(h.heard()); m.reload.next == 0 {
			h.u.Stop() // kills it
		}
		m.endNext()
		<-m.reload.upgradeC
	}
	for _, list := range [][]reloadRequest{m.reload.asked, m.reload.later} {
		for _, r := range list {
			r.done(errors.New("jkd is stopping"))
		}
	}
	m.reload.asked, m.reload.later = nil, nil
	if h.parent != 0 && (m.reload.phase == reloadNone || m.reload.phase == reloadWaiting) {
		limit := parentPatience
		switch {
		case m.draining && m.o.GracefulShutdownTimeout == 0:
			limit = math.MaxInt64
		case m.draining:
			limit += m.o.GracefulShutdownTimeout
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = h.u.WaitForParent(ctx)
	}
}

// watchParent tells when the generation before has ended.
func (h *Heritage) watchParent(goneC chan<- struct{}) {
	if h.parent == 0 {
		return
	}
	go func() {
		_ = h.u.WaitForParent(context.Background())
		goneC <- struct{}{}
	}()
}

// ready tells the generation before that this one has taken over.
func (h *Heritage) ready() error {
	h.giveBack()
	h.hangUp()
	return h.u.Ready()
}

// offerTo writes down what the successor of m gets.
func (h *Heritage) offerTo(m *Master) error {
	h.heard()
	o := offer{Generation: h.Generation(), PID: os.Getpid()}
	var fds []int
	add := func(key string, fd int) { o.Files, fds = append(o.Files, key), append(fds, fd) }
	for _, l := range m.listeners {
		add(l.key, l.fd)
		if l.file.Path != "" {
			o.Sockets = append(o.Sockets, l.file)
		}
	}
	add(segmentKey("scoreboard"), int(m.segment.Fd()))
	for name, s := range m.o.Shared {
		add(segmentKey(name), int(s.Fd()))
	}
	for name, fd := range m.o.Keep {
		add(name, fd)
	}
	return send(h.ours, o, fds)
}

// end gives everything back.
func (h *Heritage) end() {
	h.u.Stop()
	<-h.u.Exit()
	h.giveBack()
	h.hangUp()
	_ = syscall.Close(h.ours)
	_ = syscall.Close(h.theirs)
}
