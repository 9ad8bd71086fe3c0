//go:build unix

package master

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	// settle is how long a successor has to live before this generation drains:
	// until then it can still go on.
	settle = time.Second
	// drainLimit bounds the drain where GracefulShutdownTimeout doesn't: the next
	// reload waits for its end.
	drainLimit = 60 * time.Second
	// parentPatience is how long a stop waits for the generation before, which
	// was told to stop too. It is a little longer than the stop ladder.
	parentPatience = 12 * time.Second
)

// ErrMoved: the reload that was asked for while another one was under way is
// the business of the generation that serves now.
var ErrMoved = errors.New("another generation serves now")

// reloadPhase is where the handing over to the next generation is.
type reloadPhase uint8

const (
	reloadNone     reloadPhase = iota // next: waiting, running
	reloadWaiting                     // for the end of the generation before; next: running
	reloadRunning                     // the successor starts; next: none, settling
	reloadSettling                    // it serves; next: over, or stuck if it dies
	reloadOver                        // this generation drains
	reloadStuck                       // goes on, but cannot be replaced any more
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
	settledC chan int // the successor if it lives, else 0
	parentC  chan struct{}

	phase    reloadPhase
	asked    []reloadRequest // what the reload in progress is for
	later    []reloadRequest // what came after it had begun
	stopping bool            // nobody should succeed any more
	next     int             // the successor's pid
	said     []byte          // by it
}

func newReloader() reloader {
	return reloader{
		askC:     make(chan reloadRequest),
		upgradeC: make(chan error, 1),
		settledC: make(chan int, 1),
		parentC:  make(chan struct{}, 1),
	}
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
	case m.reload.phase == reloadStuck:
		m.log.Error().Msg("a generation whose successor has died cannot be reloaded: stop and start jkd")
		r.done(errors.New("a generation whose successor has died cannot be reloaded: stop and start jkd"))
	case m.reload.phase == reloadOver:
		m.pass(r)
	case m.reload.phase == reloadRunning || m.reload.phase == reloadSettling:
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
	_ = syscall.Kill(m.reload.next, syscall.SIGHUP)
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
		m.upgraded(err)
		return
	}
	go func() { m.reload.upgradeC <- h.u.Upgrade() }()
}

// upgraded is told how the start of a successor went.
func (m *Master) upgraded(err error) {
	m.reload.said = drain(m.o.Heritage.ours)
	drain(m.o.Heritage.theirs)
	m.reload.next = readyPID(m.reload.said)
	if err == nil && m.reload.next <= 0 {
		err = errors.New("the program that was started is not jkd") // and says ready: nothing can be done about that
	}
	if err != nil {
		m.reload.phase = reloadNone
		if text := report(m.reload.said); text != "" {
			err = errors.New(text)
		}
		m.log.Error().Err(err).Msg("the reload has failed, this generation goes on")
		m.finish(fmt.Errorf("the reload has failed, jkd goes on as before: %w", err))
		m.again()
		return
	}
	if m.reload.stopping {
		_ = syscall.Kill(m.reload.next, syscall.SIGTERM)
	}
	m.reload.phase = reloadSettling
	m.log.Info().Int("next", m.reload.next).Msg("the next generation serves")
	pid := m.reload.next
	go func() { m.reload.settledC <- watch(pid, settle) }()
}

// watch returns pid if the process lives for so long, else 0. It is a child of
// ours that somebody waits for.
func watch(pid int, d time.Duration) int {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return 0
		}
	}
	return pid
}

// settled ends this generation, if the successor lives.
func (m *Master) settled(pid int, sup stopper) {
	if pid == 0 && !m.reload.stopping {
		m.reload.phase = reloadStuck
		m.log.Error().Int("next", m.reload.next).Msg("the next generation has died just after its start: this one goes on, but cannot be reloaded any more; stop and start jkd")
		m.finish(errors.New("the new generation has died just after its start; jkd goes on as before, but has to be stopped and started before it can be reloaded again"))
		m.again()
		if err := m.pid.again(); err != nil {
			m.log.Error().Err(err).Msg("could not write the pid file again")
		}
		if m.o.OnStay != nil {
			m.o.OnStay()
		}
		return
	}
	m.reload.phase = reloadOver
	m.pid.remove()
	m.removeFiles()
	m.leave(sup)
	// Told only now, as whoever asked expects the new configuration: it is the
	// children's last moment to accept a connection.
	m.finish(nil)
	for _, r := range m.reload.later {
		m.pass(r)
	}
	m.reload.later = nil
}

// leave ends this generation, which has a successor.
func (m *Master) leave(sup stopper) {
	if slices.ContainsFunc(m.reload.asked, func(r reloadRequest) bool { return r.hard }) {
		m.log.Info().Msg("this generation stops")
		sup.Stop()
		return
	}
	limit := m.o.GracefulShutdownTimeout
	if limit == 0 {
		limit = drainLimit
	}
	m.draining = true
	m.log.Info().Stringer("limit", limit).Msg("this generation drains")
	sup.Graceful(limit)
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
func (m *Master) parentGone() {
	m.log.Info().Int("before", m.o.Heritage.parent).Msg("the generation before has ended")
	m.o.Heritage.parent = 0
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
	m.reload.stopping = true
	if m.reload.phase == reloadRunning {
		h.u.Stop()
		if err := <-m.reload.upgradeC; err == nil {
			if pid := readyPID(drain(h.ours)); pid > 0 {
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		}
	}
	for _, list := range [][]reloadRequest{m.reload.asked, m.reload.later} {
		for _, r := range list {
			r.done(errors.New("jkd is stopping"))
		}
	}
	m.reload.asked, m.reload.later = nil, nil
	if h.parent != 0 && m.reload.phase != reloadOver {
		limit := parentPatience
		if m.draining {
			limit += drainLimit
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

// ready tells the generation before that this one serves.
func (h *Heritage) ready() error {
	h.giveBack()
	_, _ = fmt.Fprintf(h, "\n%s%d\n", readyWord, os.Getpid())
	h.hangUp()
	return h.u.Ready()
}

// offerTo writes down what the successor of m gets.
func (h *Heritage) offerTo(m *Master) error {
	drain(h.ours)
	drain(h.theirs)
	o := offer{Generation: h.Generation()}
	var fds []int
	add := func(key string, fd int) { o.Files, fds = append(o.Files, key), append(fds, fd) }
	for _, l := range m.listeners {
		add(l.key, l.fd)
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
