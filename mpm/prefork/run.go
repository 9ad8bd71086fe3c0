//go:build unix

package prefork

import (
	"time"

	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

// cpuEvery is how often a child says how much processor time it has used.
const cpuEvery = time.Second

// run is a child: one goroutine, no poller, no timers. Once it may serve, its
// waits for connections and for requests run the maintenance. It is not locked
// to its thread: nothing here belongs to a thread, and when the runtime asks a
// locked goroutine to make room, which it does every 10 ms, two threads have to
// take turns to find out that nobody wants it.
func run(c Config, ch *mpm.Child, h mpm.ConnHandler) mpm.ExitCode {
	acc, err := sock.NewAcceptor(ch.Listeners, ch.Wake)
	if err != nil {
		ch.Logger.Error().Err(err).Msg("could not wait for connections")
		return mpm.ExitSick
	}
	defer acc.Close()
	acc.Optimistic = true // this goroutine is all there is

	slot := ch.Slot(0)
	slot.SetReady(time.Now().UnixNano())
	if !ch.WaitGo() {
		slot.SetStatus(scoreboard.Closing)
		return mpm.ExitOK
	}
	seat := &scoreboard.Seat{Slot: slot}
	tick := newTick(ch, slot)
	acc.Tick = tick
	// What queues from now on must not wait for a connection that is the last.
	last := func() {
		ch.Process().SetQuiescing(true)
		ch.CloseListeners()
	}
	var backoff mpm.AcceptBackoff
	var cpu time.Time // when it was recorded last
	for served := 0; c.MaxConnectionsPerChild == 0 || served < c.MaxConnectionsPerChild; {
		now := time.Now()
		slot.SetReady(now.UnixNano())
		if now.Sub(cpu) >= cpuEvery {
			ch.RecordCPU()
			ch.Process().SetQuiescing(false) // in case somebody else wrote there
			cpu = now
		}
		tick.Run(now)
		accepted, err := acc.Accept()
		if err != nil {
			if mpm.Leaving(err) {
				break
			}
			if !backoff.Wait(err, ch) {
				return mpm.ExitSick
			}
			continue
		}
		backoff.Reset()
		served++
		if ch.Stopping() || served == c.MaxConnectionsPerChild {
			last()
		}
		slot.SetStatus(scoreboard.BusyRead)
		conn := accepted.Blocking(ch.Wake)
		conn.Tick = tick
		conn.OnWake = last // it is, but for one more request
		h.ServeConn(conn, seat)
		if ch.Stopping() {
			break
		}
	}
	ch.Process().SetQuiescing(true)
	slot.SetStatus(scoreboard.Closing)
	ch.RecordCPU()
	return mpm.ExitOK
}

// newTick makes the maintenance a Tick, nil if there is none. While it runs,
// this child is as busy as with a connection and says so: the master counts on
// those that are ready.
func newTick(ch *mpm.Child, slot *scoreboard.Slot) *sock.Tick {
	first, ok := ch.FirstMaintain()
	if !ok {
		return nil
	}
	return sock.NewTick(first, ch.MaintainEvery, ch.Wake, func(now time.Time) {
		before := slot.Status()
		slot.SetStatus(scoreboard.Closing) // of what has been idle too long
		ch.Maintain(now)
		slot.SetStatus(before)
	})
}
