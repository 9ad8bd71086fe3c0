//go:build unix

package mpm

import (
	"fmt"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/scoreboard"
)

// advanceStart brings the start forward.
func (s *Supervisor) advanceStart(now time.Time) time.Duration {
	s.observe(now)
	want := s.o.Module.StartServers
	switch {
	case s.tab.ready() >= want:
		s.enter(PhaseServing)
		s.log.Info().Int("children", s.tab.alive).Str("mpm", s.o.Module.Name).Msg("configured -- resuming normal operations")
		if s.o.OnReady != nil {
			if err := s.o.OnReady(); err != nil {
				s.fail(err)
				return 0
			}
		}
		s.letGo()
		return -1
	case now.Sub(s.began) >= s.o.StartTimeout:
		s.fail(fmt.Errorf("mpm: only %d of %d children were ready after %s", s.tab.ready(), want, s.o.StartTimeout))
		return 0
	}
	s.owed = max(want-s.tab.alive, 0)
	s.replace(now)
	return startPoll
}

// replace starts the children that are owed: those that left unasked, one to
// one, without waiting for the tick. While the brake is on, one is tried at a
// time. More than MaxSpawnRate a tick are left to the plan.
func (s *Supervisor) replace(now time.Time) {
	for s.owed > 0 && s.mayStart(now) {
		if s.phase == PhaseServing && s.replaced >= MaxSpawnRate {
			s.owed = 0
			return
		}
		s.owed--
		s.replaced++
		if !s.spawn() {
			return
		}
		if s.brake.On() {
			return // whether it lives shows in a while
		}
	}
}

func (s *Supervisor) mayStart(now time.Time) bool {
	return s.phase <= PhaseServing && !s.brake.Holds(now) && !now.Before(s.pause) && !s.onTrial()
}

// onTrial tells whether the brake is on and a child is being tried.
func (s *Supervisor) onTrial() (yes bool) {
	if s.brake.On() {
		s.tab.each(func(p *process) { yes = yes || p.state == ServerStarting && p.started.After(s.brake.since) })
	}
	return yes
}

// spawn starts one child at the lowest free index.
func (s *Supervisor) spawn() bool {
	server := s.tab.free()
	if server < 0 {
		return false
	}
	now := s.env.now()
	s.repairBoard()
	// Between two processes the records are the master's to write.
	for t := range s.o.Module.ThreadsPerChild {
		s.o.Board.Slot(server, t).SetStatus(scoreboard.Starting)
	}
	pid, l, err := s.env.start(server)
	if err != nil {
		s.o.Board.Reclaim(server)
		s.pause = now.Add(forkPause)
		s.log.Error().Err(err).Int("server", server).Msg("could not start a child")
		if s.tab.alive == 0 && !s.everReady {
			s.fail(fmt.Errorf("mpm: could not start any child: %w", err))
		}
		return false
	}
	s.o.Board.Process(server).SetPID(pid, s.o.Generation, now.UnixNano())
	s.tab.add(&process{server: server, pid: pid, started: now, state: ServerStarting, link: l})
	if s.open {
		l.send(OrderGo)
	}
	s.log.Debug().Int("server", server).Int("child", pid).Msg("child started")
	if s.o.OnStart != nil {
		s.o.OnStart(server)
	}
	return true
}

// repairBoard writes the scoreboard's header again if somebody has damaged it:
// children check it when they attach.
func (s *Supervisor) repairBoard() {
	if s.o.Board.Restore() {
		s.log.Error().Msg("a child had damaged the scoreboard's header, it is restored")
	}
}

// observe looks into the scoreboard for children that became ready or are
// leaving by themselves. A child can lie there, about itself and others, but
// all it gains is to be taken for idle, busy, ready or leaving.
func (s *Supervisor) observe(now time.Time) {
	s.tab.each(func(p *process) {
		if p.state == ServerStarting && s.reportsReady(p) {
			p.state, p.ready = ServerRunning, true
			s.everReady = true
		}
		s.observeLeaving(p, now)
		if p.ready {
			s.brake.Healthy(p.started, now)
		}
	})
}

// observeLeaving notices that a child is leaving by itself. If that takes long
// it is told to: perhaps it isn't leaving at all and somebody else has written
// so, and then it would be counted out for ever.
func (s *Supervisor) observeLeaving(p *process, now time.Time) {
	quiescing := s.o.Board.Process(p.server).Quiescing()
	switch {
	case p.told || p.state == ServerStarting:
	case p.state == ServerRunning && quiescing:
		p.state, p.leaving = ServerLeaving, now
	case p.state == ServerLeaving && !quiescing:
		p.state = ServerRunning
	case p.state == ServerLeaving && now.Sub(p.leaving) >= leavePatience:
		s.tell(p, OrderGraceful)
	}
}

// reportsReady tells whether any thread of p has got beyond starting.
func (s *Supervisor) reportsReady(p *process) bool {
	for t := range s.o.Module.ThreadsPerChild {
		if s.o.Board.Slot(p.server, t).Status() >= scoreboard.Ready {
			return true
		}
	}
	return false
}

// busy counts the threads of p that serve a connection.
func (s *Supervisor) busy(p *process) (n int) {
	for t := range s.o.Module.ThreadsPerChild {
		switch s.o.Board.Slot(p.server, t).Status() {
		case scoreboard.Dead, scoreboard.Starting, scoreboard.Ready, scoreboard.Graceful, scoreboard.IdleKill:
		default:
			n++
		}
	}
	return n
}

// view is the state as the Plan sees it.
func (s *Supervisor) view(now time.Time) View {
	v := View{
		Servers: make([]ServerView, len(s.tab.servers)),
		Pace:    s.pace,
		Hold:    s.owed > 0 || !s.mayStart(now),
	}
	s.tab.each(func(p *process) { v.Servers[p.server] = ServerView{State: p.state, Busy: s.busy(p)} })
	return v
}

// tick is one pass of idle maintenance.
func (s *Supervisor) tick() {
	if s.phase != PhaseServing {
		return
	}
	now := s.env.now()
	s.replaced = 0
	s.observe(now)
	plan := s.o.Module.Plan(s.view(now))
	s.pace = plan.Pace
	s.note(plan.Note)
	n := plan.Spawn
	if s.brake.On() {
		n = min(n, 1)
	}
	for range n {
		if !s.spawn() {
			break
		}
	}
	if plan.Retire >= 0 && plan.Retire < len(s.tab.servers) {
		if p := s.tab.servers[plan.Retire]; p != nil && p.state != ServerLeaving {
			s.log.Debug().Int("server", p.server).Int("child", p.pid).Msg("child is not needed, told to leave")
			s.tell(p, OrderGraceful)
		}
	}
}

func (s *Supervisor) note(n *Note) {
	switch {
	case n == nil:
	case n.Kind == NoteBusy:
		s.log.Info().Msg(n.String())
	default:
		s.log.Error().Msg(n.String())
	}
}

// reap collects the children that have ended.
func (s *Supervisor) reap() {
	now := s.env.now()
	s.tab.each(func(p *process) {
		ws, gone, err := s.env.wait(p.pid)
		if !gone {
			return
		}
		d := classify(ws)
		if err != nil {
			d = deathUnknown
		}
		if p.state == ServerStarting && s.reportsReady(p) {
			p.ready, s.everReady = true, true
		}
		p.link.close()
		s.o.Board.Reclaim(p.server)
		if s.o.OnReclaim != nil {
			s.o.OnReclaim(p.server) // the place is still taken
		}
		if s.o.OnExit != nil {
			s.o.OnExit(p.server, exitOf(ws, err))
		}
		s.tab.remove(p)
		s.buried(p, d, ws, now)
	})
}

// buried draws the conclusions from the end of a child.
func (s *Supervisor) buried(p *process, d death, ws syscall.WaitStatus, now time.Time) {
	lived := now.Sub(p.started)
	s.logDeath(p, d, ws, lived)
	if s.phase > PhaseServing {
		return
	}
	switch {
	case d == deathFatal:
		s.fail(fmt.Errorf("mpm: child %d returned a fatal error, jkd is exiting", p.pid))
		return
	case p.state == ServerLeaving:
		// The plan has counted it out already.
		return
	case p.ready && d == deathNormal:
		s.owed++ // it served its share
		return
	case p.ready && lived >= quickDeath && d == deathSick:
		s.pace = s.pace.Rest() // the next tick decides
		return
	case p.ready && lived >= quickDeath:
		s.owed++
		return
	}
	s.pace = s.pace.Rest()
	held := s.brake.Holds(now)
	s.brake.Died(now)
	if !p.ready && !s.everReady {
		s.earlyDeath++
		if s.earlyDeath >= max(startTries, s.o.Module.StartServers) {
			s.fail(fmt.Errorf("mpm: %d children ended before any was ready, the last with %s", s.earlyDeath, describe(d, ws)))
			return
		}
	}
	s.owed++
	if !held {
		s.log.Warn().Stringer("delay", s.brake.Delay()).Msg("children end right after their start, waiting before the next one")
	}
}

func describe(d death, ws syscall.WaitStatus) string {
	switch d {
	case deathSignal:
		return fmt.Sprintf("signal %d (%s)", int(ws.Signal()), ws.Signal())
	case deathUnknown:
		return "an unknown status"
	}
	return "exit code " + fmt.Sprintf("%d (%s)", ws.ExitStatus(), ExitCode(ws.ExitStatus()))
}

func (s *Supervisor) logDeath(p *process, d death, ws syscall.WaitStatus, lived time.Duration) {
	e := s.log.Debug()
	switch {
	case d == deathFatal:
		e = s.log.WithLevel(zerolog.ErrorLevel)
	case d == deathHandshake:
		e = s.log.Error()
	case d == deathSick, d == deathUnknown:
		e = s.log.Warn()
	case d == deathSignal && !quietSignal(ws.Signal()):
		e = s.log.Warn().Bool("core", ws.CoreDump())
	case d == deathSignal && !p.told:
		e = s.log.Info()
	}
	e.Int("server", p.server).Int("child", p.pid).Stringer("lived", lived.Round(time.Millisecond)).Msg("child ended with " + describe(d, ws))
}
