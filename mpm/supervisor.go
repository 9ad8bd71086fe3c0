//go:build unix

package mpm

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/scoreboard"
	"jkd/shm"
)

// Options are what a Supervisor works with. Descriptors and segments stay the
// caller's and must stay open until Run has returned.
type Options struct {
	// Module is the policy.
	Module Module
	// Generation is this master's, in titles, logs and the scoreboard.
	Generation uint32
	// Board lies in BoardSegment and has the module's dimensions.
	Board        *scoreboard.Scoreboard
	BoardSegment *shm.Segment
	// Segments are shared memory that is passed on: that of the connectors, each
	// at its place. A nil one is none.
	Segments []*shm.Segment
	// Listeners are listening sockets in non-blocking mode.
	Listeners []int
	// LogFiles are descriptors that children get after the listeners.
	LogFiles []int
	// Snapshot is the configuration, at most MaxSnapshot bytes.
	Snapshot []byte
	// Credential is who the children become; nil: whoever the master is.
	Credential *Credential
	// ChrootDir is the root directory of the children, an absolute path; "": the
	// master's. It needs Credential.
	ChrootDir string
	// CoreDumpDirectory is where children that crash may leave a core file, an
	// absolute path inside ChrootDir; "": those with a Credential leave none.
	CoreDumpDirectory string
	// OnReady is called once, from the Supervisor's goroutine, when
	// StartServers children are ready. They accept no connection before it has
	// returned. An error ends everything, without any having been accepted.
	OnReady func() error
	// OnReclaim is called with the index of a child that has ended, however
	// it did, from the Supervisor's goroutine: after the process was waited
	// for and its scoreboard records were reclaimed, and before another child
	// may get its place. So nobody else writes what the child of that index
	// left behind in shared memory. It holds everything up and must be short;
	// nil: nothing. It isn't called for a process that could not be started,
	// nor for one that even SIGKILL didn't end.
	OnReclaim func(server int)
	// OnStart is called with the index of each child that was started, OnExit
	// with that of each one that OnReclaim was called for, after it; both from
	// the Supervisor's goroutine, which they must not hold up. nil: nothing.
	OnStart func(server int)
	OnExit  func(server int, e Exit)
	// OnCut is called with the number of connections, from 0, that a graceful end
	// did not wait for any longer, when their time was over; likewise from the
	// Supervisor's goroutine. nil: nothing.
	OnCut func(connections int)
	// Ladder is how children are stopped; nil: DefaultLadder.
	Ladder []StopStep
	// StartTimeout bounds the time from Run to ready; 0: two minutes.
	StartTimeout time.Duration
	// Logger gets one line a change of state.
	Logger zerolog.Logger
}

const (
	maintenance  = time.Second           // the length of a tick
	startPoll    = 10 * time.Millisecond // how often a start looks for ready children
	forkPause    = 10 * time.Second      // after the kernel refused a process
	startTimeout = 2 * time.Minute       // default of Options.StartTimeout
	// leavePatience is how long a child may say that it is leaving before it
	// is told to. A connection that only keeps alive ends sooner.
	leavePatience = 30 * time.Second
	startTries    = 3 // children that may die before any was ready
)

// Phase is what a Supervisor is doing.
type Phase uint8

// The phases. A Supervisor goes through them in this order and may skip some.
const (
	PhaseStarting Phase = iota // waits for StartServers ready children
	PhaseServing               // maintains the number of children
	PhaseDraining              // all children were told to leave gracefully
	PhaseStopping              // the stop ladder is being climbed
	PhaseStopped               // no children are left, or they could not be stopped
)

func (p Phase) String() string {
	switch p {
	case PhaseStarting:
		return "starting"
	case PhaseServing:
		return "serving"
	case PhaseDraining:
		return "draining"
	case PhaseStopping:
		return "stopping"
	case PhaseStopped:
		return "stopped"
	}
	return "unknown"
}

// request is an order to the Supervisor itself.
type request struct {
	order   Order
	timeout time.Duration // of a graceful one; 0: none
}

// Supervisor starts, watches and stops the children of one generation. Make it
// with [NewSupervisor], call Run once; Graceful and Stop may be called from
// any goroutine at any time.
type Supervisor struct {
	o             Options
	log           zerolog.Logger
	env           env
	confinement   confinement
	environ       []string
	snapshotFrame []byte
	placeholder   uintptr // /dev/null, in the place of a segment that is none
	links         sync.WaitGroup

	requestsC chan request
	doneC     chan struct{}

	// The rest belongs to the goroutine of Run.
	tab        table
	phase      Phase
	pace       Pace
	brake      Brake
	owed       int       // children that left unasked and are to be replaced
	replaced   int       // of those, how many in this tick
	pause      time.Time // no process is started before
	began      time.Time // Run
	everReady  bool      // some child was ready
	open       bool      // OnReady was passed: children may accept
	earlyDeath int       // children that died before any was ready
	err        error     // what Run returns
	phaseStart time.Time // of draining or stopping
	drainLimit time.Duration
	rung       int // steps of the ladder taken
}

// env is the outside world, so that tests can replace it.
type env struct {
	now   func() time.Time
	start func(server int) (pid int, l *link, err error)
	wait  func(pid int) (ws syscall.WaitStatus, gone bool, err error)
	kill  func(pid int, sig syscall.Signal) error
}

// NewSupervisor checks the options. Nothing is started yet.
func NewSupervisor(o Options) (*Supervisor, error) {
	m := o.Module
	switch {
	case m.Plan == nil || m.ServerLimit < 1 || m.ThreadsPerChild < 1 || m.ThreadsPerChild > m.ThreadLimit:
		return nil, errors.New("mpm: incomplete module")
	case o.Board == nil || o.BoardSegment == nil:
		return nil, errors.New("mpm: no scoreboard")
	case o.Board.Layout() != scoreboard.Layout{ServerLimit: m.ServerLimit, ThreadLimit: m.ThreadLimit}:
		return nil, errors.New("mpm: the scoreboard does not have the module's dimensions")
	case len(o.Snapshot) > MaxSnapshot:
		return nil, fmt.Errorf("mpm: configuration of %d bytes, at most %d are possible", len(o.Snapshot), MaxSnapshot)
	case len(o.Segments) > maxSegments:
		return nil, fmt.Errorf("mpm: more than %d segments", maxSegments)
	case len(o.Listeners) > maxFiles || len(o.LogFiles) > maxFiles:
		return nil, fmt.Errorf("mpm: more than %d listeners or log files", maxFiles)
	}
	confined := confinement{o.Credential, o.ChrootDir, o.CoreDumpDirectory}
	if err := confined.check(); err != nil {
		return nil, err
	}
	if o.Ladder == nil {
		o.Ladder = DefaultLadder
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = startTimeout
	}
	s := &Supervisor{
		o:             o,
		log:           o.Logger.With().Uint32("generation", o.Generation).Logger(),
		confinement:   confined,
		environ:       environ(os.Environ(), m.Environ),
		snapshotFrame: appendFrame(nil, frameSnapshot, o.Snapshot),
		requestsC:     make(chan request),
		doneC:         make(chan struct{}),
		tab:           newTable(m.ServerLimit),
	}
	s.env = env{now: time.Now, start: s.startProcess, wait: waitFor, kill: syscall.Kill}
	return s, nil
}

// waitFor asks for the end of one known process without waiting. Never for
// "any": the statuses of others belong to those who started them.
func waitFor(pid int) (ws syscall.WaitStatus, gone bool, err error) {
	for {
		got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, true, err
		default:
			return ws, got == pid, nil
		}
	}
}

// Graceful makes all children finish and leave; Run returns when they have.
// After timeout, unless it is 0, those that are left are stopped.
func (s *Supervisor) Graceful(timeout time.Duration) { s.request(request{OrderGraceful, timeout}) }

// Stop stops all children now; Run returns when they are gone.
func (s *Supervisor) Stop() { s.request(request{order: OrderStop}) }

func (s *Supervisor) request(r request) {
	select {
	case s.requestsC <- r:
	case <-s.doneC:
	}
}

// Run starts the children and looks after them until it was told to stop. It
// returns nil after a stop that was asked for, otherwise what went wrong. In
// both cases no child is left, except those that even SIGKILL didn't end.
func (s *Supervisor) Run() error {
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	defer syscall.Close(null)
	s.placeholder = uintptr(null)
	SealDescriptors()

	childC := make(chan os.Signal, 1)
	signal.Notify(childC, syscall.SIGCHLD)
	defer signal.Stop(childC)
	ticker := time.NewTicker(maintenance)
	defer ticker.Stop()
	alarm := time.NewTimer(0)
	defer alarm.Stop()

	s.begin()
	for s.phase != PhaseStopped {
		select {
		case <-childC:
			s.reap()
		case <-ticker.C:
			s.reap() // in case a signal was missed
			s.tick()
		case <-alarm.C:
		case r := <-s.requestsC:
			s.obey(r)
		}
		if wait := s.advance(); wait >= 0 {
			alarm.Reset(wait)
		}
	}
	close(s.doneC)
	s.tab.each(func(p *process) { p.link.close() })
	s.links.Wait()
	return s.err
}

// begin is the cold start.
func (s *Supervisor) begin() {
	s.began = s.env.now()
	for s.tab.alive < s.o.Module.StartServers && s.phase == PhaseStarting {
		if !s.spawn() {
			break
		}
	}
}

// obey carries out a request.
func (s *Supervisor) obey(r request) {
	if r.order == OrderStop {
		s.stop()
		return
	}
	if s.phase > PhaseServing {
		return
	}
	s.enter(PhaseDraining)
	s.drainLimit = r.timeout
	s.tab.each(func(p *process) { s.tell(p, OrderGraceful) })
}

// stop begins the ladder; a second one changes nothing.
func (s *Supervisor) stop() {
	if s.phase >= PhaseStopping {
		return
	}
	s.enter(PhaseStopping)
	s.tab.each(func(p *process) { s.tell(p, OrderStop) })
}

// fail stops everything because of err.
func (s *Supervisor) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.stop()
}

func (s *Supervisor) enter(p Phase) {
	s.log.Debug().Stringer("from", s.phase).Stringer("to", p).Msg("supervisor")
	s.phase = p
	s.phaseStart = s.env.now()
}

// tell sends an order to one child.
func (s *Supervisor) tell(p *process, o Order) {
	p.told = true
	p.state = ServerLeaving
	p.link.send(o)
}

// letGo tells the children that they may accept connections: those that are
// there, and from now on each new one. One that isn't ready yet finds the order
// when it is.
func (s *Supervisor) letGo() {
	s.open = true
	s.tab.each(func(p *process) {
		if !p.told {
			p.link.send(OrderGo)
		}
	})
}

// advance does what the phase demands at this moment and returns how long
// until it wants to be called again; negative: only after something happened.
func (s *Supervisor) advance() time.Duration {
	now := s.env.now()
	switch s.phase {
	case PhaseStarting:
		return s.advanceStart(now)
	case PhaseServing:
		s.replace(now) // as far as possible; the rest at the next tick
		return -1
	case PhaseDraining:
		if s.tab.alive == 0 {
			s.enter(PhaseStopped)
			return -1
		}
		if s.drainLimit == 0 {
			return -1
		}
		if left := s.drainLimit - now.Sub(s.phaseStart); left > 0 {
			return left
		}
		connections := 0
		s.tab.each(func(p *process) { connections += s.busy(p) })
		s.log.Warn().Int("children", s.tab.alive).Int("connections", connections).Msg("GracefulShutdownTimeout is over, the remaining connections are cut")
		if s.o.OnCut != nil {
			s.o.OnCut(connections)
		}
		s.stop()
		return 0
	case PhaseStopping:
		return s.advanceStop(now)
	}
	return -1
}

// advanceStop climbs the ladder.
func (s *Supervisor) advanceStop(now time.Time) time.Duration {
	if s.tab.alive == 0 {
		s.enter(PhaseStopped)
		return -1
	}
	first := s.rung == 0
	due, taken, wait := climb(s.o.Ladder, s.rung, now.Sub(s.phaseStart))
	s.rung = taken
	if due == nil {
		return wait
	}
	s.tab.each(func(p *process) {
		log := s.log.With().Int("server", p.server).Int("child", p.pid).Logger()
		switch due.Action {
		case StopTerm:
			if !first {
				log.Warn().Msg("child process still did not exit, sending a SIGTERM")
			}
			_ = s.env.kill(p.pid, syscall.SIGTERM)
		case StopKill:
			log.Error().Msg("child process still did not exit, sending a SIGKILL")
			_ = s.env.kill(p.pid, syscall.SIGKILL)
		case StopGiveUp:
			log.Error().Msg("could not make child process exit, attempting to continue anyway")
		}
	})
	if due.Action == StopGiveUp {
		s.enter(PhaseStopped)
		return -1
	}
	return wait
}
