//go:build unix

package main

import (
	"fmt"
	"io"
	"net/netip"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/master"
	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/dial"
	"jkd/connector/jk2"
	"jkd/connector/jk2/board"
	"jkd/connector/jk2/jk2shm"
	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/shm"
)

// Room for workers2.properties on the board: it may grow while jkd runs.
const (
	leastBoard  = 256 << 10
	boardGrowth = 4
)

// addJk2 adds to the master what [connector.jk2] needs: the board, jk2.shm, and
// who reloads the file. The memory is the caller's, who gives it up with close.
// Without the section it does nothing.
func addJk2(o *master.Options, setup *jk2.Setup, old *inherited, log zerolog.Logger) (close func(), err error) {
	if setup == nil {
		return func() {}, nil
	}
	slots, seg, err := jk2Shm(&setup.Config.Shm, o.Module.ServerLimit, old.jk2Slots)
	if err != nil {
		return nil, err
	}
	closeSlots := func() {
		if slots != nil {
			slots.Discard()
		}
	}
	mem, b, err := jk2NewBoard(setup, o.Module.ServerLimit)
	if err != nil {
		closeSlots()
		return nil, err
	}
	old.takeJk2(setup, b)
	old.takeJk2Slots(seg)
	o.Segments[jk2Board], o.Segments[jk2Slots] = mem, slots
	reclaim := o.OnReclaim
	o.OnReclaim = func(server int) {
		if reclaim != nil {
			reclaim(server)
		}
		b.Reclaim(server)
		if seg != nil {
			seg.Reclaim(server)
		}
	}
	reloader := &jk2.Reloader{Setup: setup, Board: b, Slots: seg, Logger: log}
	o.Background = append(o.Background, reloader.Run)
	return func() {
		closeSlots()
		_ = mem.Close()
	}, nil
}

// jk2NewBoard makes the board for so many children.
func jk2NewBoard(setup *jk2.Setup, servers int) (*shm.Segment, *board.Board, error) {
	room := min(max(leastBoard, boardGrowth*setup.Size()), board.MaxText)
	size, err := board.Size(servers, room)
	if err != nil {
		return nil, nil, err
	}
	return memory("jkd-jk2", "", "", size, nil, func(mem []byte) (*board.Board, error) { return board.Format(mem, servers, room) })
}

// jk2Shm makes the memory of [shm:], with a slot for each child; nil when it is
// off.
func jk2Shm(c *jk2.Shm, servers int, old *shm.Segment) (*shm.Segment, *jk2shm.Segment, error) {
	if !c.On {
		return nil, nil, nil
	}
	slots := min(max(c.Slots, servers), jk2shm.MaxSlots)
	size, err := jk2shm.Size(slots)
	if err != nil {
		return nil, nil, err
	}
	return memory("jk2.shm", "[shm:] file", c.File, size, old, func(mem []byte) (*jk2shm.Segment, error) { return jk2shm.Format(mem, slots) })
}

// dumpShm is jkd -shm: it prints a jk2.shm file, which a running jkd may have
// in use.
func dumpShm(path string, out, errOut io.Writer) int {
	mem, err := shm.Open(path)
	if err != nil {
		fmt.Fprintln(errOut, "jkd:", err)
		return 1
	}
	defer mem.Close()
	if err := jk2shm.Dump(out, mem.Bytes()); err != nil {
		fmt.Fprintf(errOut, "jkd: %s: %v\n", path, err)
		return 1
	}
	return 0
}

// newJk2 makes the connector of a child.
func newJk2(c *mpm.Child, setup *jk2.Setup, cfg *conf.Config, table *counters.Table, log zerolog.Logger) (_ *jk2.Connector, err error) {
	o := jk2.Options{Dial: dialers(cfg.Server.MPM), WriteTimeout: cfg.Server.TimeOut, Server: c.Server, Counters: table, Software: "jkd/" + version, Logger: log}
	if mem := c.Segments[jk2Board]; mem != nil {
		if o.Board, err = board.Attach(mem.Bytes()); err != nil {
			return nil, err
		}
	}
	if mem := c.Segments[jk2Slots]; mem != nil {
		if o.Slots, err = jk2shm.AttachAny(mem.Bytes()); err != nil {
			return nil, err
		}
	}
	return jk2.New(setup, o), nil
}

// dialers connect to back ends the way the MPM waits.
func dialers(name string) dial.Dialers {
	tcp, un := sock.DialBlocking, sock.DialUnixBlocking
	if name == conf.Worker {
		tcp, un = sock.DialPolled, sock.DialUnixPolled
	}
	return dial.Dialers{
		TCP: func(addr netip.AddrPort, o dial.Options) (ajp.NetConn, error) {
			return tcp(addr, sock.DialOptions{Timeout: o.Timeout, KeepAlive: o.KeepAlive})
		},
		Unix: func(path string, o dial.Options) (ajp.NetConn, error) {
			return un(path, sock.DialOptions{Timeout: o.Timeout})
		},
	}
}

// offered are the connectors in the order in which a request is offered to
// them: of several the one with the most specific rule gets it, the first of
// equal ones.
func offered(list []connector.Ranked) []connector.Connector {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return []connector.Connector{list[0]}
	}
	return []connector.Connector{connector.Ranking(list)}
}
