//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/master"
	"jkd/conf"
	"jkd/connector/jk"
	"jkd/shm"
)

// runMaster checks the configuration and runs one generation. It returns the
// exit status.
func runMaster(f flags) int {
	l, err := loadConfig(f)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return serve(l, f.foreground && !detached(), nil)
}

// serve runs the master of a checked configuration. started, if not nil, is
// called when it serves.
func serve(l loaded, foreground bool, started func([]net.Addr)) int {
	s := &l.cfg.Server
	errorLog, err := openErrorLog(s, foreground)
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	// Until it is ready, a detached master still writes to the terminal it was
	// started from: whoever waits there reads what goes wrong.
	caller := os.Stderr
	if detached() {
		if caller, err = letGo(errorLog); err != nil {
			fmt.Fprintln(caller, "jkd:", err)
			return 1
		}
	}
	log := newLogger(errorLog, s.ErrorLogJSON)
	if errorLog != os.Stderr {
		log = log.Output(zerolog.MultiLevelWriter(lines(errorLog, s.ErrorLogJSON), startupWriter{lines(caller, false)}))
	}
	log = log.Level(min(logLevel(s.LogLevel), zerolog.InfoLevel))
	for _, w := range l.warnings {
		if w.Severity == conf.Warn {
			log.Warn().Msg(w.String())
		}
	}
	files, fds, err := openLogs(l.cfg, l.jk2, errorLog)
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
	var snapshot bytes.Buffer
	if err := l.cfg.Encode(&snapshot); err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	o := master.Options{
		Backlog:                 s.ListenBacklog,
		AcceptFilter:            acceptFilter(s),
		ScoreBoardFile:          s.ScoreBoardFile,
		Module:                  module,
		Snapshot:                snapshot.Bytes(),
		User:                    s.User,
		Group:                   s.Group,
		GracefulShutdownTimeout: s.GracefulShutdownTimeout,
		Foreground:              foreground,
		LogFiles:                append([]int{int(errorLog.Fd())}, fds...),
		Segments:                make([]*shm.Segment, segments),
		Logger:                  log,
	}
	var shmFile string
	if l.cfg.Jk != nil {
		shmFile = l.cfg.Jk.ShmFile
	}
	mem, seg, err := shared(l.jk, module.ServerLimit, shmFile)
	if err != nil {
		log.Error().Err(err).Msg("could not make the connector's shared memory")
		return 1
	}
	if seg != nil {
		defer mem.Discard()
		o.Segments[jkSegment], o.OnReclaim = mem, seg.Reclaim
		keeper := &jk.Keeper{Config: l.jk.Config, Segment: seg, Logger: jkLog}
		watcher := &jk.MapWatcher{Setup: l.jk, Segment: seg, Logger: jkLog}
		names := &jk.Names{Config: l.jk.Config, Segment: seg, Logger: jkLog}
		names.First(firstNames)
		o.Background = append(o.Background, keeper.Run, watcher.Run, names.Run)
	}
	closeJk2, err := addJk2(&o, l.jk2, jk2Log(l.jk2, files, log))
	if err != nil {
		log.Error().Err(err).Msg("could not make the memory of [connector.jk2]")
		return 1
	}
	defer closeJk2()
	table, closeCounters, err := addCounters(&o, &l)
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
	closeControl, err := addControl(&o, s, newMasterSource(&o, l, table, seg), 0, log)
	if err != nil {
		log.Error().Err(err).Msg("could not start")
		return 1
	}
	defer closeControl()
	o.OnReady = func(addrs []net.Addr) {
		log.Info().Str("version", version).Str("mpm", module.Name).Msg("jkd is ready")
		if started != nil {
			started(addrs)
		}
		if detached() {
			reportReady(caller)
		}
	}
	return master.New(o).Run()
}

// firstNames is how long the start waits for the addresses of back ends. What
// is not known by then is looked up while jkd serves.
const firstNames = 2 * time.Second

// openErrorLog opens ErrorLog. In the foreground it is the standard error
// output unless the file names one.
func openErrorLog(s *conf.ServerConfig, foreground bool) (*os.File, error) {
	if foreground && !s.ErrorLogSet {
		return os.Stderr, nil
	}
	f, err := openLog(s.ErrorLog)
	if err != nil {
		return nil, fmt.Errorf("ErrorLog: %w", err)
	}
	return f, nil
}

// openLog opens a log file for appending; a symbolic link in its place is
// refused, because the master may be the superuser and the directory may not
// be his.
func openLog(path string) (*os.File, error) {
	switch path {
	case "/dev/stderr":
		return os.Stderr, nil
	case "/dev/stdout":
		return os.Stdout, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow, 0o640)
}
