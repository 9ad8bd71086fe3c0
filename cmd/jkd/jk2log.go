//go:build unix

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/jk2"
)

// jk2LogFile is the file of the logger that workerEnv selects, "" for the
// front's log, which is [logger].
func jk2LogFile(setup *jk2.Setup) string {
	switch {
	case setup == nil:
		return ""
	case setup.Config.Logger.File == "stderr":
		return "/dev/stderr"
	}
	return setup.Config.Logger.File
}

// jk2Log is what the connector logs to: its own file or the front's log, at
// the level of its logger.
func jk2Log(setup *jk2.Setup, files logFiles, front zerolog.Logger) zerolog.Logger {
	if setup == nil {
		return front
	}
	if path := jk2LogFile(setup); path != "" && files[path] != nil {
		front = front.Output(jk2Writer(files[path]))
	}
	levels := map[jk2.Level]zerolog.Level{
		jk2.LevelDebug: zerolog.DebugLevel, jk2.LevelInfo: zerolog.InfoLevel, jk2.LevelError: zerolog.ErrorLevel, jk2.LevelEmerg: zerolog.FatalLevel,
	}
	return front.Level(levels[setup.Config.Logger.Level])
}

// jk2Writer writes readable lines that begin as those of mod_jk2's file:
// "[Tue Mar 04 13:09:26 2003] (error) ".
func jk2Writer(w io.Writer) io.Writer {
	return zerolog.ConsoleWriter{Out: w, NoColor: true,
		FormatTimestamp: func(any) string { return time.Now().Format("[Mon Jan 02 15:04:05 2006]") },
		FormatLevel:     func(level any) string { return fmt.Sprintf("(%-5v)", level) },
	}
}
