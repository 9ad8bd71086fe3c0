//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/keeper"
	"jkd/cmd/jkd/internal/master"
	"jkd/cmd/jkd/internal/title"
	"jkd/conf"
	"jkd/connector/jk"
	"jkd/mpm"
	"jkd/shm"
)

// runMaster checks the configuration and runs one generation. It returns the
// exit status. A successor tells the generation before what is wrong, which
// logs it and tells whoever wants to know.
func runMaster(f flags) int {
	mpm.SealDescriptors()
	if err := absolute(); err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	k, kept := inheritedKeeper()
	h, err := master.Begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	if h.Parent() != 0 {
		k, kept = handedKeeper(h)
	}
	r := role{foreground: f.foreground && !detached(), heritage: h}
	if kept {
		defer k.watch()()
		r.started = func([]net.Addr) { k.ready() }
		r.stay = k.ready
		r.keep = k.files()
	}
	l, err := loadConfig(f)
	if err != nil {
		if h.Parent() == 0 {
			fmt.Fprintln(os.Stderr, err)
		}
		fmt.Fprintln(h, err)
		return 1
	}
	status := serve(l, r)
	if kept {
		k.leave(status)
	}
	return status
}

// absolute makes the name that this program was called by one that a reload can
// use from anywhere.
func absolute() (err error) {
	os.Args[0], err = keeper.Program(os.Args[0])
	return err
}

// role is what a master is besides its configuration.
type role struct {
	foreground bool
	heritage   *master.Heritage // nil: it cannot be reloaded
	// started is called when it has taken over, stay when it goes on after a reload
	// that has failed; nil: nothing.
	started func([]net.Addr)
	stay    func()
	keep    map[string]int // master.Options.Keep
}

// successor tells whether there was a generation before.
func (r role) successor() bool { return r.heritage.Parent() != 0 }

// serve runs the master of a checked configuration.
func serve(l loaded, r role) int {
	syscall.Umask(0o022) // whatever that of the one who started jkd is
	title.Set("jkd: master " + l.cfg.Path)
	foreground := r.foreground
	s := &l.cfg.Server
	errorLog, err := openErrorLog(s, foreground)
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	defer closeErrorLog(errorLog)
	// Until it is ready, a detached master still writes to the terminal it was
	// started from: whoever waits there reads what goes wrong.
	caller := os.Stderr
	if detached() || r.successor() && !foreground {
		if caller, err = letGo(errorLog); err != nil {
			fmt.Fprintln(caller, "jkd:", err)
			return 1
		}
	}
	var reader io.Writer = lines(caller, false)
	if r.successor() {
		if caller != os.Stderr {
			_ = caller.Close() // the generation before waits for the end of it
		}
		reader = zerolog.ConsoleWriter{Out: r.heritage, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName, zerolog.LevelFieldName}}
	}
	log := newLogger(errorLog, s.ErrorLogJSON)
	if errorLog != os.Stderr || r.successor() {
		log = log.Output(zerolog.MultiLevelWriter(lines(errorLog, s.ErrorLogJSON), startupWriter{reader}))
	}
	log = log.Level(min(logLevel(s.LogLevel), zerolog.InfoLevel))
	reportTo(errorLog, log)
	for _, w := range l.warnings {
		if w.Severity == conf.Warn {
			log.Warn().Msg(w.String())
		}
	}
	files, fds, err := openLogs(l.cfg, l.jk2, errorLog, log)
	if err != nil {
		log.Error().Msg(err.Error())
		return 1
	}
	defer files.close()
	jkLog, err := connectorLog(l.cfg, files, log)
	if err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	module, err := newModule(l.cfg)
	if err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	snapshot, err := l.cfg.Encode()
	if err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	o := master.Options{
		ListenUnix:              s.ListenUnix,
		Backlog:                 s.ListenBacklog,
		AcceptFilter:            acceptFilter(s),
		ScoreBoardFile:          s.ScoreBoardFile,
		Module:                  module,
		Snapshot:                snapshot,
		User:                    s.User,
		Group:                   s.Group,
		ChrootDir:               s.ChrootDir,
		CoreDumpDirectory:       s.CoreDumpDirectory,
		GracefulShutdownTimeout: s.GracefulShutdownTimeout,
		Foreground:              foreground,
		LogFiles:                append([]int{int(errorLog.Fd())}, fds...),
		Segments:                make([]*shm.Segment, segments),
		Heritage:                r.heritage,
		Keep:                    r.keep,
		OnStay:                  r.stay,
		Logger:                  log,
	}
	old := inherit(r.heritage, &o, log)
	var shmFile string
	if l.cfg.Jk != nil {
		shmFile = l.cfg.Jk.ShmFile
	}
	mem, seg, err := shared(l.jk, module.ServerLimit, shmFile, old.jk)
	if err != nil {
		log.Error().Err(err).Msg("could not make the connector's shared memory")
		return 1
	}
	if seg != nil {
		defer mem.Discard()
		o.Segments[jkSegment], o.OnReclaim = mem, seg.Reclaim
		old.takeJk(seg)
		recovery := &jk.Keeper{Config: l.jk.Config, Segment: seg, Logger: jkLog}
		watcher := &jk.MapWatcher{Setup: l.jk, Segment: seg, Logger: jkLog}
		names := &jk.Names{Config: l.jk.Config, Segment: seg, Logger: jkLog}
		names.First(firstNames)
		o.Background = append(o.Background, recovery.Run, watcher.Run, names.Run)
	}
	closeJk2, err := addJk2(&o, l.jk2, old, jk2Log(l.jk2, files, log))
	if err != nil {
		log.Error().Err(err).Msg("could not make the memory of [connector.jk2]")
		return 1
	}
	defer closeJk2()
	table, closeCounters, err := addCounters(&o, &l, old)
	if err != nil {
		log.Error().Err(err).Msg("could not make the memory of the counters")
		return 1
	}
	defer closeCounters()
	for _, a := range s.Listen {
		o.Listen = append(o.Listen, a.String())
	}
	if s.PidFileSet || !foreground {
		o.PidFile = s.PidFile
	}
	o.Shared = make(map[string]*shm.Segment)
	for i, m := range o.Segments {
		if m != nil {
			o.Shared[segmentNames[i]] = m
			o.Publish = append(o.Publish, m.Publish)
		}
	}
	var m *master.Master
	reload := func(hard bool, stop <-chan struct{}) error { return m.Reload(hard, stop) }
	closeControl, err := addControl(&o, s, newMasterSource(&o, l, table, seg), r.heritage.Parent(), reload, log)
	if err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	defer closeControl()
	o.OnReady = func(addrs []net.Addr) {
		log.Info().Str("version", version).Str("mpm", module.Name).Msg("jkd is ready")
		starting.Store(false)
		if r.started != nil {
			r.started(addrs)
		}
		if detached() {
			reportReady(caller)
		}
	}
	m = master.New(o)
	return m.Run()
}

// firstNames is how long the start waits for the addresses of back ends. What
// is not known by then is looked up while jkd serves.
const firstNames = 2 * time.Second

// openErrorLog opens ErrorLog. In the foreground it is the standard error
// output unless the file names one.
func openErrorLog(s *conf.ServerConfig, foreground bool) (logFile, error) {
	if foreground && !s.ErrorLogSet {
		return os.Stderr, nil
	}
	var f logFile
	var err error
	if command, ok := conf.PipedLog(s.ErrorLog); ok {
		f, err = startErrorLog(s, command, foreground)
	} else {
		f, err = openLog(s.ErrorLog)
	}
	if err != nil {
		return nil, fmt.Errorf("ErrorLog: %w", err)
	}
	return f, nil
}
