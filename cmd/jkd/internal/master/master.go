//go:build unix

package master

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/scoreboard"
	"jkd/shm"
)

// DefaultBacklog is ListenBacklog where it is not set.
const DefaultBacklog = 511

// Options are one generation's, from the checked configuration. Descriptors
// and Segments stay the caller's.
type Options struct {
	// Listen holds the arguments of the Listen directives: port, *:port,
	// address:port or name:port; ListenUnix those of Unix sockets. At least one
	// in both.
	Listen     []string
	ListenUnix []conf.ListenUnix
	// Backlog is ListenBacklog; 0: DefaultBacklog.
	Backlog int
	// AcceptFilter is set on the TCP listeners.
	AcceptFilter sock.Filter
	// PidFile is written when the children are ready; empty: none.
	PidFile string
	// ScoreBoardFile makes the scoreboard a file; empty: anonymous memory.
	ScoreBoardFile string
	// Module is the multi-processing module.
	Module mpm.Module
	// Snapshot is what child.Options.Build is called with in each child.
	Snapshot []byte
	// Segments are mpm.Options.Segments. One that is a file loses its name when
	// a graceful stop begins.
	Segments []*shm.Segment
	// User and Group are the directives: who children are when the master is
	// the superuser; empty: unchanged.
	User, Group string
	// ChrootDir and CoreDumpDirectory are those of mpm.Options, which only the
	// superuser's children can have as their root.
	ChrootDir, CoreDumpDirectory string
	// GracefulShutdownTimeout bounds a graceful stop and what a generation that was
	// replaced still serves; 0: for ever.
	GracefulShutdownTimeout time.Duration
	// Foreground means that the process was not detached from its terminal.
	Foreground bool
	// LogFiles are descriptors that children get as mpm.Child.LogFiles.
	LogFiles []int
	// Heritage is what the generation before has left, and the way to the next
	// one. nil: this is the first and there is no other.
	Heritage *Heritage
	// Shared are the segments that the next generation gets to read, by name,
	// besides the scoreboard.
	Shared map[string]*shm.Segment
	// Keep are descriptors that the next generation gets by name, to be had
	// with Heritage.File.
	Keep map[string]int
	// Before, if not nil, is the scoreboard of the generation before.
	Before *scoreboard.Scoreboard
	// BeforeSegment is where it is; nil: there is none.
	BeforeSegment *shm.Segment
	// Publish are called when this generation takes over, before anybody is told:
	// what has a name takes it over from the generation before. An error ends
	// the start.
	Publish []func() error
	// OnStay is called when a reload has failed and this generation goes on. nil:
	// nothing.
	OnStay func()
	// OnReady is called once, when this generation has taken over and the pid file
	// is written, with the addresses that are listened on. It must not block;
	// nil: nothing.
	OnReady func(addrs []net.Addr)
	// OnReclaim is mpm.Options.OnReclaim: what a child left in Segments is to
	// be tidied up. nil: nothing.
	OnReclaim func(server int)
	// OnBoard is called once with the scoreboard, before Background and the
	// children are started. nil: nothing.
	OnBoard func(*scoreboard.Scoreboard)
	// OnStart, OnExit and OnCut are those of mpm.Options. nil: nothing.
	OnStart func(server int)
	OnExit  func(server int, e mpm.Exit)
	OnCut   func(connections int)
	// Background are goroutines that the master owns. They are started just
	// before the children and run until the last child is gone, through a
	// graceful stop too. Then stop is closed and Run waits for them, two
	// seconds at the most; what is later than that is reported and left
	// behind, with Segments that the caller gives up. Empty: none.
	Background []func(stop <-chan struct{})
	// Logger is the error log.
	Logger zerolog.Logger
}

// Master runs one generation.
type Master struct {
	o        Options
	log      zerolog.Logger
	terminal bool // window changes send SIGWINCH, which means nothing then
	// successor: there was a generation before, to take over from.
	successor bool

	reload    reloader
	err       error // why this generation has to end; the master's goroutine's
	pid       *pidFile
	cred      *mpm.Credential
	listeners []listener // of the endpoints that could be opened
	draining  bool       // a graceful stop is under way: a second one means now
	segment   *shm.Segment
	board     *scoreboard.Scoreboard
}

// New makes a master. It does nothing until Run.
func New(o Options) *Master {
	if o.Backlog == 0 {
		o.Backlog = DefaultBacklog
	}
	successor := o.Heritage.Parent() != 0
	return &Master{
		o:         o,
		log:       o.Logger,
		terminal:  o.Foreground && mpm.IsTerminal(0),
		successor: successor,
		reload:    newReloader(successor),
	}
}

// Run is the life of the generation. It returns the exit status: 0 after a
// stop that was asked for, 1 after an error, which was logged. Nothing is left
// running in either case. It may be called once in a process.
func (m *Master) Run() int {
	// Before the first child and the pid file: from then on somebody may
	// send them.
	signal.Notify(make(chan os.Signal, 1), ignored...)
	sigC := make(chan os.Signal, 16)
	signal.Notify(sigC, signals()...)
	defer signal.Stop(sigC)

	defer m.close()
	if err := m.open(); err != nil {
		m.log.Error().Err(err).Msg("could not start")
		return 1
	}
	if err := m.serve(sigC); err != nil {
		m.log.Error().Err(err).Msg("jkd is exiting")
		return 1
	}
	m.log.Info().Msg("stopped")
	return 0
}

// open gets everything that can fail before a child is started.
func (m *Master) open() (err error) {
	if err = m.lookupUser(); err != nil {
		return err
	}
	eps, err := endpoints(m.o.Listen, m.o.ListenUnix)
	if err != nil {
		return err
	}
	if m.pid, err = preparePidFile(m.o.PidFile, m.o.Heritage.Parent()); err != nil {
		return err
	}
	if m.listeners, err = openListeners(m.o.Heritage, eps, m.o.Backlog); err != nil {
		return err
	}
	m.setFilters()
	if limit := somaxconn(); limit > 0 && limit < m.o.Backlog {
		m.log.Warn().Msgf("ListenBacklog %d: the kernel cuts it to %d (%s)", m.o.Backlog, limit, somaxconnName)
	}
	return m.openBoard()
}

// lookupUser finds out who the children are to be.
func (m *Master) lookupUser() (err error) {
	if os.Geteuid() != 0 {
		if m.o.ChrootDir != "" {
			return errors.New("ChrootDir: only the superuser can change the root directory of children: start jkd as root or leave it out")
		}
		if m.o.User != "" || m.o.Group != "" {
			m.log.Info().Msg("User and Group have no effect as jkd was not started by the superuser")
		}
		return nil
	}
	switch {
	case m.o.User != "":
		m.cred, err = mpm.LookupCredential(m.o.User, m.o.Group)
		return err
	case m.o.Group != "":
		return errors.New("Group: has no effect without User")
	}
	m.log.Warn().Msg("children run as the superuser, set User and Group")
	return nil
}

// openBoard makes the scoreboard.
func (m *Master) openBoard() error {
	l := scoreboard.Layout{ServerLimit: m.o.Module.ServerLimit, ThreadLimit: m.o.Module.ThreadLimit}
	size, err := scoreboard.Size(l)
	if err != nil {
		return err
	}
	if m.segment, err = shm.MakeBeside("jkd scoreboard", m.o.ScoreBoardFile, size, m.o.BeforeSegment); err != nil {
		return fmt.Errorf("scoreboard: %w", err)
	}
	m.board, err = scoreboard.New(m.segment.Bytes(), l, m.global())
	if err == nil && m.o.OnBoard != nil {
		m.o.OnBoard(m.board)
	}
	return err
}

// global is what the scoreboard says of the whole. The generation is not taken
// from the memory of the one before, to which children can write.
func (m *Master) global() scoreboard.Global {
	now := time.Now()
	g := scoreboard.Global{Generation: m.generation(), BuildID: mpm.BuildID(), StartTime: now}
	if m.o.Before != nil {
		g = m.o.Before.Next(mpm.BuildID(), now)
		g.Generation = m.generation()
	}
	return g
}

func (m *Master) generation() uint32 {
	if m.o.Heritage == nil {
		return 1
	}
	return m.o.Heritage.Generation()
}

// serve runs the children until the end.
func (m *Master) serve(sigC <-chan os.Signal) error {
	fds := make([]int, len(m.listeners))
	for i, l := range m.listeners {
		fds[i] = l.fd
	}
	var startTimeout time.Duration
	if m.o.Heritage.Parent() != 0 {
		startTimeout = successorStart
	}
	sup, err := mpm.NewSupervisor(mpm.Options{
		StartTimeout: startTimeout,
		Module:       m.o.Module,
		Generation:   m.generation(),
		Board:        m.board,
		BoardSegment: m.segment,
		Segments:     m.o.Segments,
		Listeners:    fds,
		LogFiles:     m.o.LogFiles,
		Snapshot:     m.o.Snapshot,
		Credential:   m.cred,
		ChrootDir:    m.o.ChrootDir,

		CoreDumpDirectory: m.o.CoreDumpDirectory,

		OnReady:   m.ready,
		OnReclaim: m.o.OnReclaim,
		OnStart:   m.o.OnStart,
		OnExit:    m.o.OnExit,
		OnCut:     m.o.OnCut,
		Logger:    m.log,
	})
	if err != nil {
		return err
	}
	back := startBackground(m.o.Background)
	defer func() {
		if left := back.stop(backgroundPatience); left > 0 {
			m.log.Warn().Int("left", left).Msgf("work in the background did not end within %s", backgroundPatience)
		}
	}()
	if m.o.Heritage != nil {
		m.o.Heritage.watchParent(m.reload.parentC)
	}
	endC := make(chan error, 1)
	go func() { endC <- sup.Run() }()
	defer m.endReload()
	for {
		select {
		case err := <-endC:
			return cmp.Or(m.err, err)
		case s := <-sigC:
			m.obey(s, sup)
		case r := <-m.reload.askC:
			m.ask(r)
		case <-m.reload.readyC:
			m.settle(sup)
		case <-m.reload.settled.C:
			m.settled(sup)
		case err := <-m.reload.upgradeC:
			if err != nil {
				m.goOn(err)
			} else {
				m.replaced(sup)
			}
		case <-m.reload.parentC:
			m.parentGone(sup)
		case <-m.reload.watch.C:
			m.watchNext(sup)
		}
	}
}

// stopper is what signals do to a Supervisor.
type stopper interface {
	Stop()
	Graceful(timeout time.Duration)
}

// obey carries out a signal.
func (m *Master) obey(s os.Signal, sup stopper) {
	name, a := lookup(s)
	if s == syscall.SIGWINCH && m.terminal {
		return // the window was resized
	}
	if a == actStop || a == actGraceful {
		m.settled(sup) // the generation before shall not go on alone
	}
	switch a {
	case actStop:
		m.log.Info().Msgf("caught %s, %s", name, a)
		m.reload.stopping = true
		m.stopParent()
		sup.Stop()
	case actGraceful:
		if m.draining {
			m.log.Info().Msgf("caught %s again, %s", name, actStop)
			m.stopParent()
			sup.Stop()
			return
		}
		m.draining, m.reload.stopping = true, true
		m.log.Info().Msgf("caught %s, %s", name, a)
		// The place is free for a successor from now on.
		m.pid.remove()
		m.removeFiles()
		removeUnix(m.listeners)
		sup.Graceful(m.o.GracefulShutdownTimeout)
		shutListeners(m.listeners)
	case actReload:
		m.log.Info().Msgf("caught %s, %s", name, a)
		m.ask(reloadRequest{})
	}
}

// removeFiles gives up the names of what is shared, which a successor may want.
// The memory stays.
func (m *Master) removeFiles() {
	for _, s := range append([]*shm.Segment{m.segment}, m.o.Segments...) {
		if s == nil {
			continue
		}
		if err := s.Remove(); err != nil {
			m.log.Warn().Err(err).Msg("could not remove a file of shared memory")
		}
	}
}

// ready is called when StartServers children are ready, from the Supervisor's
// goroutine.
func (m *Master) ready() error {
	if m.successor {
		m.reload.readyC <- struct{}{}
		return nil
	}
	return m.takeOver()
}

// takeOver takes the names and tells whoever waits for this generation.
func (m *Master) takeOver() error {
	for _, publish := range append([]func() error{m.segment.Publish}, m.o.Publish...) {
		if err := publish(); err != nil {
			return err
		}
	}
	if err := publishUnix(m.listeners); err != nil {
		return err
	}
	if err := m.pid.publish(); err != nil {
		return err
	}
	if m.successor {
		share(m.listeners, false)
	}
	if h := m.o.Heritage; h != nil {
		if err := h.ready(); err != nil {
			// It is gone. So be it: we serve.
			m.log.Warn().Err(err).Msg("could not tell the previous generation")
		}
	}
	addrs := make([]net.Addr, len(m.listeners))
	for i, l := range m.listeners {
		addrs[i] = l.addr
		m.log.Info().Stringer("address", l.addr).Msg("listening")
	}
	if m.o.OnReady != nil {
		m.o.OnReady(addrs)
	}
	return nil
}

// close gives back what open got.
func (m *Master) close() {
	if m.pid != nil {
		m.pid.remove()
	}
	removeUnix(m.listeners)
	closeListeners(m.listeners)
	if m.o.Heritage != nil {
		m.o.Heritage.end()
	}
	if m.segment != nil {
		m.segment.Discard()
	}
}
