//go:build unix

package main

import (
	"io"
	"os"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/mpm"
)

// newLogger writes lines with the time and this process's number, in JSON or
// readable. Children add their server and generation, and the front the thread
// and the worker.
func newLogger(w logFile, json bool) zerolog.Logger {
	return zerolog.New(lines(w, json)).With().Timestamp().Int("pid", os.Getpid()).Logger()
}

// lines turns the logger's objects into the lines of the error log.
func lines(w logFile, json bool) io.Writer {
	if json {
		return w
	}
	return zerolog.ConsoleWriter{Out: w, NoColor: !mpm.IsTerminal(int(w.Fd())), TimeFormat: timeFormat}
}

// startupWriter passes on what keeps a start from succeeding; the rest is the
// log's.
type startupWriter struct{ io.Writer }

func (w startupWriter) WriteLevel(l zerolog.Level, p []byte) (int, error) {
	if l < zerolog.WarnLevel || !starting.Load() {
		return len(p), nil
	}
	return w.Write(p)
}

// logLevel maps Apache's levels to the logger's.
func logLevel(l conf.LogLevel) zerolog.Level {
	switch {
	case l <= conf.LogCrit:
		return zerolog.FatalLevel
	case l == conf.LogError:
		return zerolog.ErrorLevel
	case l == conf.LogWarn:
		return zerolog.WarnLevel
	case l <= conf.LogInfo:
		return zerolog.InfoLevel
	case l == conf.LogDebug:
		return zerolog.DebugLevel
	}
	return zerolog.TraceLevel
}
