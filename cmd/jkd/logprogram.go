//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/pipedlog"
	"jkd/conf"
)

// A line that a program doesn't read in time is counted and reported, it is no
// fault that the logger should complain of on the standard error output.
func init() {
	zerolog.ErrorHandler = func(err error) {
		if !errors.Is(err, pipedlog.ErrFull) {
			fmt.Fprintln(os.Stderr, "jkd: could not write a log:", err)
		}
	}
}

// startLog starts the program of a log. log is the error log, which tells of
// its ends; the program's own complaints go where the master's go.
func startLog(s *conf.ServerConfig, command []string, directive string, log zerolog.Logger) (logFile, error) {
	return pipedlog.Start(pipedlog.Options{
		Command: command, Dir: s.ServerRoot, Stderr: os.Stderr,
		Tell: func(text string) { log.Warn().Str("log", directive).Msg(text) },
		Lost: pipedlog.Lost{Tell: lostLines(log, directive)},
	})
}

// lostLines reports lines that a program did not read.
func lostLines(log zerolog.Logger, directive string) func(uint64) {
	return func(lines uint64) {
		log.Warn().Str("log", directive).Uint64("lines", lines).Msg("lines of the log are lost: its program does not read them")
	}
}

// errorProgram is an ErrorLog that is a program.
type errorProgram struct {
	*pipedlog.Program
	log   atomic.Pointer[zerolog.Logger] // where its ends are reported
	relay *pipedlog.Relay                // behind descriptor 2, or nil
}

// startErrorLog starts the program of ErrorLog. Only in the foreground has it a
// standard error output: that of a master in the background leads to the
// program itself, and before that to whoever waits for the last holder.
func startErrorLog(s *conf.ServerConfig, command []string, foreground bool) (*errorProgram, error) {
	e := &errorProgram{}
	first := newLogger(os.Stderr, false)
	e.log.Store(&first)
	o := pipedlog.Options{
		Command: command, Dir: s.ServerRoot,
		Tell: func(text string) { e.log.Load().Warn().Str("log", "ErrorLog").Msg(text) },
		Lost: pipedlog.Lost{Afterwards: true, Tell: func(lines uint64) { lostLines(*e.log.Load(), "ErrorLog")(lines) }},
	}
	if foreground {
		o.Stderr = os.Stderr
	}
	var err error
	e.Program, err = pipedlog.Start(o)
	return e, err
}

// reportTo makes log the one that tells of the error log's own program.
func reportTo(errorLog logFile, log zerolog.Logger) {
	if e, ok := errorLog.(*errorProgram); ok {
		e.log.Store(&log)
	}
}

// standardError is what a master in the background puts on descriptor 2: a
// copy of the error log that blocks. The caller closes it.
func (e *errorProgram) standardError() (w *os.File, err error) {
	e.relay, w, err = pipedlog.NewRelay(e.Program)
	return w, err
}

// closeErrorLog takes the program of ErrorLog, if it is one, off descriptor 2
// and waits for its end. A file stays open to the last.
func closeErrorLog(errorLog logFile) {
	e, ok := errorLog.(*errorProgram)
	if !ok {
		return
	}
	if e.relay != nil {
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			_ = dup2(int(null.Fd()), 2)
			_ = null.Close()
		}
		_ = e.relay.Close()
	}
	_ = e.Close()
}

// childLog is a log as a child has it.
func childLog(l logPath, fd int, lost pipedlog.Lost) (logFile, error) {
	if _, ok := conf.PipedLog(l.path); !ok {
		return os.NewFile(uintptr(fd), l.path), nil
	}
	w, err := pipedlog.NewWriter(fd, lost)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.directive, err)
	}
	return w, nil
}

// childErrorLog is the error log as a child has it.
func childErrorLog(s *conf.ServerConfig, fd int) (f logFile, err error) {
	f, err = childLog(logPath{s.ErrorLog, "ErrorLog"}, fd, pipedlog.Lost{Afterwards: true, Tell: func(lines uint64) {
		lostLines(newLogger(f, s.ErrorLogJSON), "ErrorLog")(lines)
	}})
	return f, err
}
