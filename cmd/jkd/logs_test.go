//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector/jk2"
)

func TestAccessLogsOfSites(t *testing.T) {
	c := &conf.Config{
		VHosts: []conf.VHost{{Name: "a"}, {Name: "b"}},
		CustomLogs: []conf.CustomLog{
			{Path: "/main", Format: "%h"}, {Path: "/a", Format: "%m", VHost: 1, Env: "!x"}, {Path: "/also", Format: "%U", Env: "y"},
			{Path: "/a", Format: "%s", VHost: 1}, {Path: "/missing", Format: "%s"},
		},
	}
	c.Jk = &conf.Jk{Servers: []conf.JkServer{{LogFile: "/jk"}, {LogFile: "/main"}, {LogFile: "/jk"}}}
	if got, want := logPaths(c, nil), []logPath{{"/main", "CustomLog"}, {"/a", "CustomLog"}, {"/also", "CustomLog"}, {"/missing", "CustomLog"},
		{"/jk", "JkLogFile"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("paths %q", got)
	}
	null := func() *os.File {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	main, a, also, jk := null(), null(), null(), null()
	files := logFiles{"/main": main, "/a": a, "/also": also, "/jk": jk}
	list := sites(c)
	if err := addLogs(list, c, files); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || len(list[0].Logs) != 2 || len(list[1].Logs) != 2 || !reflect.DeepEqual(list[2].Logs, list[0].Logs) {
		t.Fatalf("got %+v", list)
	}
	if list[0].Logs[0].W != main || list[0].Logs[1].W != also || list[0].Logs[1].Env != "y" || list[1].Logs[0].W != a || list[1].Logs[0].Env != "!x" ||
		list[1].Logs[1].W != a {
		t.Errorf("got %+v", list)
	}
	c.Jk.Servers[2].RequestLogFormat, c.Jk.Servers[2].LogStampFormat = "%w", "%Y "
	if err := addLogs(list, c, files); err != nil {
		t.Fatal(err)
	}
	if len(list[0].Logs) != 2 || len(list[1].Logs) != 2 || len(list[2].Logs) != 3 || list[2].Logs[2].W != jk || !list[2].Logs[2].Mapped {
		t.Fatalf("got %+v", list)
	}
	if got := string(list[2].Logs[2].Stamp(nil, time.Unix(1e9, 0).UTC())); got != "2001 " {
		t.Errorf("stamp %q", got)
	}
	c.CustomLogs[0].Format = "%y"
	if err := addLogs(list, c, nil); err == nil || !strings.HasPrefix(err.Error(), "CustomLog: column 1: %y: ") {
		t.Errorf("got %v", err)
	}
}

func TestOpenLogs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "log")
	c := &conf.Config{CustomLogs: []conf.CustomLog{{Path: path}, {Path: path}, {Path: filepath.Join(dir, "b")}}}
	files, fds, err := openLogs(c, nil, os.Stderr, zerolog.Nop())
	if err != nil || len(fds) != 2 {
		t.Fatal(fds, err)
	}
	if _, err := syscall.Write(fds[0], []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	files.close()
	if b, err := os.ReadFile(path); err != nil || string(b) != "x\n" {
		t.Errorf("got %q, %v", b, err)
	}
	c.CustomLogs = append(c.CustomLogs, conf.CustomLog{Path: dir})
	if _, _, err := openLogs(c, nil, os.Stderr, zerolog.Nop()); err == nil || !strings.HasPrefix(err.Error(), "CustomLog: ") {
		t.Errorf("got %v", err)
	}
}

// jkd -t judges formats, each with its line.
func TestFormatsAreChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jkd.conf")
	text := "[server]\nListen = 1\nAllowRootChildren = On\nLogFormat = \"%h %y\" bad\nCustomLog = /dev/null bad\nCustomLog = /dev/null \"%h %{x\"\nCustomLog = /dev/null \"%h %D\"\n" +
		"[vhost a]\nJkLogStampFormat = %%\n[vhost b]\nJkRequestLogFormat = %w\n" +
		"[connector.jk]\nJkWorkerProperty = worker.list=w\nJkLogStampFormat = %1\nJkRequestLogFormat = \"%w %{x}n\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := loadConfig(flags{config: file})
	if err == nil {
		t.Fatal("no error")
	}
	var got []string
	for line := range strings.Lines(err.Error()) {
		rest, ok := strings.CutPrefix(line, file+":")
		at, what, _ := strings.Cut(rest, ": column ")
		if !ok || what == "" {
			t.Errorf("got %s", line)
		}
		got = append(got, at)
	}
	if want := []string{"5: CustomLog", "6: CustomLog", "14: JkLogStampFormat", "15: JkRequestLogFormat"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %q", err, want)
	}
}

// The connector has a log of its own when it is given one.
func TestConnectorLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jk")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var front strings.Builder
	base := zerolog.New(&front).Level(zerolog.WarnLevel).With().Timestamp().Int("server", 3).Logger()
	for _, tc := range []struct {
		name      string
		set       func(*conf.JkServer)
		own, rest string
	}{
		{"nothing said", func(*conf.JkServer) {}, "", "warn"},
		{"a level", func(s *conf.JkServer) { s.LogLevelSet, s.LogLevel = true, conf.LogInfo }, "", "info warn"},
		{"a file", func(s *conf.JkServer) { s.LogFile = path }, "[stamp] [info] said server=3\n[stamp] [warn] said server=3\n", ""},
		{"both", func(s *conf.JkServer) { s.LogFile, s.LogLevelSet, s.LogLevel = path, true, conf.LogWarn }, "[stamp] [warn] said server=3\n", ""},
		{"no stamp", func(s *conf.JkServer) { s.LogFile, s.LogStampFormat = path, "" }, "[info] said server=3\n[warn] said server=3\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			front.Reset()
			if err := errors.Join(f.Truncate(0), func() error { _, err := f.Seek(0, 0); return err }()); err != nil {
				t.Fatal(err)
			}
			s := conf.DefaultJkServer()
			s.LogStampFormat = "[stamp] "
			tc.set(&s)
			log, err := connectorLog(&conf.Config{Jk: &conf.Jk{Servers: []conf.JkServer{s}}}, logFiles{path: f}, base)
			if err != nil {
				t.Fatal(err)
			}
			log.Debug().Msg("said")
			log.Info().Msg("said")
			log.Warn().Msg("said")
			b, err := os.ReadFile(path)
			if err != nil || strings.TrimLeft(string(b), " ") != tc.own {
				t.Errorf("file %q, %v; want %q", b, err, tc.own)
			}
			var levels []string
			for _, l := range []string{"debug", "info", "warn"} {
				if strings.Contains(front.String(), `"level":"`+l+`"`) {
					levels = append(levels, l)
				}
			}
			if got := strings.Join(levels, " "); got != tc.rest {
				t.Errorf("front has %q, want %q", got, tc.rest)
			}
		})
	}
}

// What is said of a virtual host's requests goes to its own log, if it has one.
func TestSiteLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jk")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	servers := []conf.JkServer{
		{LogFile: "/m", LogStampFormat: "m "}, {LogFile: "/m", LogStampFormat: "m "}, {LogFile: path, LogStampFormat: "v "},
		{LogFile: "/m", LogStampFormat: "m ", LogLevelSet: true, LogLevel: conf.LogDebug}, {LogFile: "/m", LogStampFormat: "v "},
	}
	logs, err := siteLogs(&conf.Config{Jk: &conf.Jk{Servers: servers}}, logFiles{"/m": f, path: f}, zerolog.Nop().With().Timestamp().Logger())
	if err != nil || len(logs) != len(servers) {
		t.Fatal(logs, err)
	}
	for i, own := range []bool{false, false, true, true, true} {
		if (logs[i] != nil) != own {
			t.Errorf("server %d: %v, want %v", i, logs[i] != nil, own)
		}
	}
	for i := 2; i < len(logs); i++ {
		logs[i].Debug().Msgf("to %d", i)
		logs[i].Info().Msgf("to %d", i)
	}
	if b, err := os.ReadFile(path); string(b) != "v [info] to 2\nm [debug] to 3\nm [info] to 3\nv [info] to 4\n" {
		t.Errorf("got %q, %v", b, err)
	}
	servers[1].LogStampFormat = "%1"
	if _, err := siteLogs(&conf.Config{Jk: &conf.Jk{Servers: servers}}, logFiles{"/m": f}, zerolog.Nop()); err == nil {
		t.Error("a bad format is used")
	}
}

// The file of the logger that workerEnv selects is opened as the other logs
// are, and none for the server's own log.
func TestJk2LogFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		"[logger]\nlevel=DEBUG\n":    "",
		"[logger.file:x]\nfile=/a\n": "",
		"[workerEnv:]\nlogger=logger.file:x\n[logger.file:x]\nfile=/a\n":     "/a",
		"[workerEnv:]\nlogger=logger.file:x\n[logger.file:x]\nfile=b\n":      "/srv/b",
		"[workerEnv:]\nlogger=logger.file:\n[logger.file:]\n":                "/srv/logs/jk2.log",
		"[workerEnv:]\nlogger=logger.file:x\n[logger.file:x]\nfile=stderr\n": "/dev/stderr",
	} {
		c := &conf.Config{Server: conf.ServerConfig{ServerRoot: "/srv"}, Jk2: &conf.Jk2{File: &conf.File{Path: "/srv/w", Data: []byte(text)}}}
		setup, _, err := jk2.Load(c)
		if err != nil {
			t.Fatal(err)
		}
		var paths []logPath
		if want != "" {
			paths = []logPath{{want, "[logger.file:] file"}}
		}
		if got := logPaths(c, setup); !reflect.DeepEqual(got, paths) {
			t.Errorf("%q: %q, want %q", text, got, paths)
		}
	}
}
