//go:build unix

package main

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"jkd/cmd/jkd/internal/httpd"
	"jkd/cmd/jkd/internal/status"
	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/files"
	"jkd/connector/jk"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk2"
	"jkd/connector/redirect"
	"jkd/mpm"
	"jkd/mpm/prefork"
	"jkd/mpm/sock"
	"jkd/mpm/worker"
	"jkd/scoreboard"
	"jkd/shm"
)

// The descriptors that the master passes to its children as log files.
const (
	errorLogFile  = iota // always there
	otherLogFiles        // those of logPaths
)

// The segments that the master passes to its children, by their place.
const (
	jkSegment       = iota // of [connector.jk]
	jk2Board               // of [connector.jk2]
	jk2Slots               // jk2.shm
	countersSegment        // of [addCounters], always there
	segments
)

// segmentNames are what one generation calls them to the next.
var segmentNames = [segments]string{jkSegment: "jk", jk2Board: "jk2 board", jk2Slots: "jk2.shm", countersSegment: "counters"}

// newModule makes the module that the configuration selects.
func newModule(c *conf.Config) (mpm.Module, error) {
	if c.Server.MPM == conf.Worker {
		w := c.Worker
		return worker.New(worker.Config{
			StartServers:           w.StartServers,
			MinSpareThreads:        w.MinSpareThreads,
			MaxSpareThreads:        w.MaxSpareThreads,
			ThreadsPerChild:        w.ThreadsPerChild,
			ThreadLimit:            w.ThreadLimit,
			ServerLimit:            w.ServerLimit,
			MaxRequestWorkers:      w.MaxRequestWorkers,
			MaxConnectionsPerChild: w.MaxConnectionsPerChild,
			NoParking:              !c.Server.KeepAliveParking,
		})
	}
	p := c.Prefork
	return prefork.New(prefork.Config{
		StartServers:           p.StartServers,
		MinSpareServers:        p.MinSpareServers,
		MaxSpareServers:        p.MaxSpareServers,
		ServerLimit:            p.ServerLimit,
		MaxRequestWorkers:      p.MaxRequestWorkers,
		MaxConnectionsPerChild: p.MaxConnectionsPerChild,
	})
}

// buildChild makes what a child runs from the master's snapshot.
func buildChild(snapshot []byte, c *mpm.Child) (mpm.Module, mpm.ConnHandler, error) {
	fail := func(err error) (mpm.Module, mpm.ConnHandler, error) {
		return mpm.Module{}, nil, &mpm.AttachError{Code: mpm.ExitFatal, Err: err}
	}
	cfg, err := conf.Decode(snapshot)
	if err != nil {
		return fail(err)
	}
	module, err := newModule(cfg)
	if err != nil {
		return fail(err)
	}
	errorLog, err := childErrorLog(&cfg.Server, c.LogFiles[errorLogFile])
	if err != nil {
		return fail(err)
	}
	var setup2 *jk2.Setup
	if cfg.Jk2 != nil {
		if setup2, _, err = jk2.Load(cfg); err != nil {
			return fail(err)
		}
	}
	log := newLogger(errorLog, cfg.Server.ErrorLogJSON).Level(logLevel(cfg.Server.LogLevel)).
		With().Int("server", c.Server).Uint32("generation", c.Generation).Logger()
	c.Logger = log
	logFiles, err := childLogs(cfg, setup2, errorLog, c.LogFiles[otherLogFiles:], log)
	if err != nil {
		return fail(err)
	}

	table := childCounters(c, log)
	jkLog, err := connectorLog(cfg, logFiles, log)
	if err != nil {
		return fail(err)
	}
	var connectors []connector.Ranked
	var static files.Options
	var balancers []func() []status.Balancer
	if cfg.Jk != nil {
		setup, _, err := jk.Load(cfg)
		if err != nil {
			return fail(err)
		}
		var seg *jkshm.Segment
		if mem := c.Segments[jkSegment]; mem != nil {
			if seg, err = jkshm.Attach(mem.Bytes(), jk.SegmentLayout(setup, module.ServerLimit)); err != nil {
				return fail(err)
			}
			balancers = append(balancers, func() []status.Balancer { return jkBalancers(seg) })
		}
		logs, err := siteLogs(cfg, logFiles, log)
		if err != nil {
			return fail(err)
		}
		k := jk.New(setup, jk.Options{
			Segment:      seg,
			Server:       c.Server,
			Software:     "jkd/" + version,
			Sites:        cfg.Jk.Servers,
			Threads:      module.ThreadsPerChild,
			Dial:         dialer(cfg.Server.MPM),
			WriteTimeout: cfg.Server.TimeOut,
			Logs:         logs,
			Counters:     table,
			Logger:       jkLog,
		})
		c.Maintain, c.MaintainEvery = k.Maintain, maintainEvery(setup.Config.Maintain, cfg.Jk.WatchdogInterval)
		connectors = append(connectors, k)
		static.Directories = k.DirectoryWorker
	}
	if setup2 != nil {
		c, err := newJk2(c, setup2, cfg, table, jk2Log(setup2, logFiles, log))
		if err != nil {
			return fail(err)
		}
		connectors = append(connectors, c)
		balancers = append(balancers, func() []status.Balancer { return jk2Balancers(c.Balancers(), table) })
	}
	if cfg.Proxy != nil {
		p, err := newProxy(c, cfg, module.ThreadsPerChild, table, log)
		if err != nil {
			return fail(err)
		}
		connectors = append(connectors, p)
		static.Forwarded = p
	}
	moved, movedHere := redirect.New(cfg, static.Forwarded)
	s := cfg.Server
	o := httpd.Options{
		ServerName:           s.ServerName,
		ServerPort:           s.ServerPort,
		TimeOut:              s.TimeOut,
		KeepAlive:            s.KeepAlive,
		KeepAliveTimeout:     s.KeepAliveTimeout,
		MaxKeepAliveRequests: s.MaxKeepAliveRequests,
		LimitRequestLine:     s.LimitRequestLine,
		LimitRequestFields:   s.LimitRequestFields,
		LimitRequestField:    s.LimitRequestFieldSize,
		LimitRequestBody:     s.LimitRequestBody,
		Sites:                sites(cfg),
		Directories:          directories(cfg),
		Moved:                moved,
		MovedHere:            movedHere,
		Connectors:           offered(connectors),
		Counters:             table,
		Server:               c.Server,
		Stopping:             c.Stopping,
		Log:                  log,
	}
	if len(o.Connectors) > 0 {
		static.Mapped = o.Connectors[0]
	}
	if f := files.New(cfg, static); f != nil {
		o.Files = f
	}
	if cfg.Status != nil {
		collector := newCollector(cfg, module, c.Board, table, os.Getppid())
		collector.Balancers = together(balancers)
		if o.First, err = newStatus(cfg, collector); err != nil {
			return fail(err)
		}
	}
	if len(cfg.VHosts) > 0 {
		o.VHost = cfg.VHost
	}
	if err := addLogs(o.Sites, cfg, logFiles); err != nil {
		return fail(err)
	}
	return module, front{httpd.New(o)}, nil
}

// maintainEvery is how often a process looks after its idle connections: every
// worker.maintain, which 0 turns off. A JkWatchdogInterval is how often mod_jk
// finds out whether the time has come, so a longer one counts.
func maintainEvery(maintain, watchdog time.Duration) time.Duration {
	if maintain <= 0 {
		return 0
	}
	return max(maintain, watchdog)
}

// shared makes the connector's segment for so many children and formats it. It
// belongs to the caller, and so does the file (JkShmFile) unless file is "".
// Without [connector.jk] it is nil.
func shared(setup *jk.Setup, servers int, file string, old *shm.Segment) (*shm.Segment, *jkshm.Segment, error) {
	if setup == nil {
		return nil, nil, nil
	}
	size, err := jkshm.Size(jk.SegmentLayout(setup, servers))
	if err != nil {
		return nil, nil, err
	}
	return memory("jkd-jk", "JkShmFile", file, size, old, func(mem []byte) (*jkshm.Segment, error) {
		return jk.FormatSegment(mem, setup, servers)
	})
}

// memory makes shared memory, in the file that a directive names unless file is
// "", and has it formatted. old is that of the generation before, whose file gives
// way when the memory is published; nil: there is none. It belongs to the caller.
func memory[T any](name, directive, file string, size int, old *shm.Segment, format func(mem []byte) (T, error)) (mem *shm.Segment, s T, err error) {
	if mem, err = shm.MakeBeside(name, file, size, old); err != nil {
		if file != "" {
			err = fmt.Errorf("%s: %w", directive, err)
		}
		return nil, s, err
	}
	if s, err = format(mem.Bytes()); err != nil {
		mem.Discard()
		return nil, s, err
	}
	return mem, s, nil
}

// front is the HTTP front as an MPM calls it.
type front struct{ s *httpd.Server }

func (f front) ServeConn(c sock.Conn, seat *scoreboard.Seat) { f.s.ServeConn(c, seat) }

// dialer connects to back ends the way the MPM waits.
func dialer(name string) jk.DialFunc {
	dial := sock.DialBlocking
	if name == conf.Worker {
		dial = sock.DialPolled
	}
	return func(addr netip.AddrPort, o jk.DialOptions) (ajp.NetConn, error) {
		return dial(addr, sock.DialOptions{Timeout: o.Timeout, KeepAlive: o.KeepAlive, Buffer: o.Buffer, Source: o.Source})
	}
}
