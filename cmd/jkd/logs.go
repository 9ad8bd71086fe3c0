//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/httpd"
	"jkd/cmd/jkd/internal/logformat"
	"jkd/cmd/jkd/internal/pipedlog"
	"jkd/conf"
	"jkd/connector/jk2"
)

// logPath is a log file and the directive that names it.
type logPath struct{ path, directive string }

// logPaths are all log files but the error log, none twice, in the order in
// which the master opens them and passes them to its children. The connectors'
// own come from their setups.
func logPaths(c *conf.Config, setup *jk2.Setup) []logPath {
	var out []logPath
	add := func(path, directive string) {
		if path != "" && !slices.ContainsFunc(out, func(l logPath) bool { return l.path == path }) {
			out = append(out, logPath{path, directive})
		}
	}
	for _, l := range c.CustomLogs {
		add(l.Path, "CustomLog")
	}
	if c.Jk != nil {
		for i := range c.Jk.Servers {
			add(c.Jk.Servers[i].LogFile, "JkLogFile")
		}
	}
	add(jk2LogFile(setup), "[logger.file:] file")
	return out
}

// logFile is an open log: a file, or the pipe to a program.
type logFile interface {
	io.WriteCloser
	Fd() uintptr
}

// logFiles are open logs by path; "" is the error log.
type logFiles map[string]logFile

// openLogs opens all of logPaths. fds are their descriptors in that order. log
// tells what becomes of programs.
func openLogs(c *conf.Config, setup *jk2.Setup, errorLog logFile, log zerolog.Logger) (files logFiles, fds []int, err error) {
	files = logFiles{"": errorLog}
	for _, l := range logPaths(c, setup) {
		var f logFile
		if command, ok := conf.PipedLog(l.path); ok {
			f, err = startLog(&c.Server, command, l.directive, log)
		} else {
			f, err = openLog(l.path)
		}
		if err != nil {
			files.close()
			return nil, nil, fmt.Errorf("%s: %w", l.directive, err)
		}
		files[l.path], fds = f, append(fds, int(f.Fd()))
	}
	return files, fds, nil
}

// close closes what openLogs has opened, and waits until the programs have
// ended.
func (l logFiles) close() {
	var all sync.WaitGroup
	for path, f := range l {
		if path != "" && f != os.Stderr && f != os.Stdout {
			all.Go(func() { _ = f.Close() })
		}
	}
	all.Wait()
}

// childLogs are the logs of openLogs as a child has them.
func childLogs(c *conf.Config, setup *jk2.Setup, errorLog logFile, fds []int, log zerolog.Logger) (logFiles, error) {
	files := logFiles{"": errorLog}
	for i, l := range logPaths(c, setup) {
		if i >= len(fds) {
			break
		}
		f, err := childLog(l, fds[i], pipedlog.Lost{Tell: lostLines(log, l.directive)})
		if err != nil {
			return nil, err
		}
		files[l.path] = f
	}
	return files, nil
}

// checkLogs reads the formats of all logs, and looks for the program of
// setup's, to find what is wrong with them.
func checkLogs(c *conf.Config, setup *jk2.Setup) error {
	var errs []error
	seen := map[int]bool{} // a virtual host inherits the main server's faults too
	fault := func(line int, key string, err error) {
		if err != nil && (line == 0 || !seen[line]) {
			errs = append(errs, &conf.Error{File: c.Path, Line: line, Key: key, Msg: err.Error()})
			seen[line] = true
		}
	}
	for _, l := range c.CustomLogs {
		_, err := logformat.Parse(l.Format)
		fault(l.Line, "CustomLog", err)
	}
	if c.Jk != nil {
		for i := range c.Jk.Servers {
			s := &c.Jk.Servers[i]
			_, err := logformat.ParseStamp(s.LogStampFormat)
			fault(s.LogStampLine, "JkLogStampFormat", err)
			_, err = logformat.ParseRequest(s.RequestLogFormat)
			fault(s.RequestLogLine, "JkRequestLogFormat", err)
		}
	}
	if err := conf.CheckPipedLog(jk2LogFile(setup), c.Server.ServerRoot); err != nil {
		l := &setup.Config.Logger
		errs = append(errs, &conf.Error{File: l.File, Line: l.Line, Key: "file", Msg: err.Error()})
	}
	return errors.Join(errs...)
}

// addLogs gives each site the logs of its requests. A virtual host without a
// CustomLog of its own uses the main server's. What is not among the files is
// not written.
func addLogs(list []httpd.Site, c *conf.Config, files logFiles) error {
	own := make([][]httpd.AccessLog, len(list))
	for _, l := range c.CustomLogs {
		format, err := logformat.Parse(l.Format)
		if err != nil {
			return fmt.Errorf("CustomLog: %w", err)
		}
		if w := files[l.Path]; w != nil && l.VHost < len(list) {
			own[l.VHost] = append(own[l.VHost], httpd.AccessLog{W: w, Format: format, Env: l.Env})
		}
	}
	for i := range list {
		logs := own[i]
		if len(logs) == 0 {
			logs = own[0]
		}
		list[i].Logs = slices.Clone(logs)
		if c.Jk == nil || c.Jk.Servers[i].RequestLogFormat == "" {
			continue
		}
		l, err := requestLog(&c.Jk.Servers[i])
		if err != nil {
			return err
		}
		if w := files[c.Jk.Servers[i].LogFile]; w != nil {
			l.W = w
			list[i].Logs = append(list[i].Logs, l)
		}
	}
	return nil
}

// requestLog is JkRequestLogFormat of one server.
func requestLog(s *conf.JkServer) (l httpd.AccessLog, err error) {
	l.Mapped = true
	if l.Format, err = logformat.ParseRequest(s.RequestLogFormat); err != nil {
		return l, fmt.Errorf("JkRequestLogFormat: %w", err)
	}
	stamp, err := logformat.ParseStamp(s.LogStampFormat)
	if err != nil {
		return l, fmt.Errorf("JkLogStampFormat: %w", err)
	}
	l.Stamp = stamp.Append
	return l, nil
}

// connectorLog is what the connector logs to: JkLogFile at JkLogLevel, with
// mod_jk's stamp and names of levels, or the front's log.
func connectorLog(c *conf.Config, files logFiles, front zerolog.Logger) (zerolog.Logger, error) {
	if c.Jk == nil {
		return front, nil
	}
	return jkLog(c.Jk.Main(), files, front)
}

// siteLogs are what the connector logs to about the requests of each virtual
// host: nil where that is main, what connectorLog returned.
func siteLogs(c *conf.Config, files logFiles, front zerolog.Logger) ([]*zerolog.Logger, error) {
	out := make([]*zerolog.Logger, len(c.Jk.Servers))
	main := c.Jk.Main()
	for i := range c.Jk.Servers {
		s := &c.Jk.Servers[i]
		if s.LogFile == main.LogFile && s.LogStampFormat == main.LogStampFormat && s.LogLevelSet == main.LogLevelSet && s.LogLevel == main.LogLevel {
			continue
		}
		log, err := jkLog(s, files, front)
		if err != nil {
			return nil, err
		}
		out[i] = &log
	}
	return out, nil
}

// jkLog is the log of one server.
func jkLog(s *conf.JkServer, files logFiles, front zerolog.Logger) (zerolog.Logger, error) {
	if f := files[s.LogFile]; s.LogFile != "" && f != nil {
		w, err := jkWriter(f, s.LogStampFormat)
		if err != nil {
			return front, err
		}
		front = front.Output(w).Level(zerolog.InfoLevel) // mod_jk's default
	}
	if s.LogLevelSet {
		front = front.Level(logLevel(s.LogLevel))
	}
	return front, nil
}

// jkWriter writes readable lines that begin as mod_jk's.
func jkWriter(w io.Writer, format string) (io.Writer, error) {
	stamp, err := logformat.ParseStamp(format)
	if err != nil {
		return nil, fmt.Errorf("JkLogStampFormat: %w", err)
	}
	out := zerolog.ConsoleWriter{Out: w, NoColor: true,
		FormatTimestamp: func(any) string { return strings.TrimRight(string(stamp.Append(nil, time.Now())), " ") },
		FormatLevel: func(level any) string {
			if level == zerolog.LevelFatalValue {
				level = conf.LogEmerg.String()
			}
			return fmt.Sprintf("[%v]", level)
		},
	}
	return out, nil
}
