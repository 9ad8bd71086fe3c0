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

// run is a child: one goroutine, no poller, no timers. It is not locked to its
// thread: nothing here belongs to a thread, and when the runtime asks a locked
// goroutine to make room, which it does every 10 ms, two threads have to take
// turns to find out that nobody wants it.
func run(c Config, ch *mpm.Child, h mpm.ConnHandler) mpm.ExitCode {
	acc, err := sock.NewAcceptor(ch.Listeners, ch.Wake)
	if err != nil {
		ch.Logger.Error().Err(err).Msg("could not wait for connections")
		return mpm.ExitSick
	}
	defer acc.Close()
	acc.Optimistic = true // this goroutine is all there is

	slot := ch.Slot(0)
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
		fd, _, err := acc.Accept()
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
			// This is the last one. What queues from now on must not wait
			// for it.
			ch.Process().SetQuiescing(true)
			ch.CloseListeners()
		}
		slot.SetStatus(scoreboard.BusyRead)
		h.ServeConn(sock.NewBlocking(fd, ch.Wake), slot)
		if ch.Stopping() {
			break
		}
	}
	ch.Process().SetQuiescing(true)
	slot.SetStatus(scoreboard.Closing)
	ch.RecordCPU()
	return mpm.ExitOK
}
