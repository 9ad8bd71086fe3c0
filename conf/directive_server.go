package conf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// MaxHeader bounds LimitRequestLine and LimitRequestFieldSize: a child needs
// that much memory for each connection.
const MaxHeader = 1 << 20

func serverTable() table {
	t := table{}
	t.add(directive{name: "Listen", many: true, set: setListen})
	t.add(directive{name: "ServerName", set: func(p *parser, g given) (err error) {
		p.cfg.Server.ServerName, p.cfg.Server.ServerPort, err = parseServerName(g.Value)
		return err
	}})
	t.add(directive{name: "ServerRoot", once: true, set: setServerRoot})
	t.add(directive{name: "User", set: func(p *parser, g given) (err error) {
		p.cfg.Server.User, err = unquote(g.Value)
		return err
	}})
	t.add(directive{name: "Group", set: func(p *parser, g given) (err error) {
		p.cfg.Server.Group, err = unquote(g.Value)
		return err
	}})
	addPrivileges(t)
	t.add(directive{name: "PidFile", set: func(p *parser, g given) error {
		p.cfg.Server.PidFileSet = true
		return outputPath(func(c *Config) *string { return &c.Server.PidFile })(p, g)
	}})
	t.add(directive{name: "ControlSocket", set: setControlSocket})
	t.add(directive{name: "ErrorLog", set: func(p *parser, g given) error {
		p.cfg.Server.ErrorLogSet = true
		path, err := p.log(g, g.Value)
		if err == nil {
			p.cfg.Server.ErrorLog = path
		}
		return err
	}})
	t.add(directive{name: "ErrorLogFormat", set: setErrorLogFormat})
	t.add(directive{name: "LogLevel", set: func(p *parser, g given) (err error) {
		p.cfg.Server.LogLevel, err = parseLogLevel(g.Value)
		return err
	}})
	t.add(directive{name: "CustomLog", many: true, set: setCustomLog})
	t.add(directive{name: "LogFormat", many: true, set: setLogFormat})
	addEnv(t)
	addFiles(t)
	addRedirects(t)
	addErrorDocument(t)
	addHeaders(t)
	addTypesConfig(t)
	t.add(directive{name: "MPM", set: func(p *parser, g given) error {
		name, err := parseMPM(g.Value)
		if err == nil {
			p.cfg.Server.MPM = name
		}
		return err
	}})
	t.add(directive{name: "ScoreBoardFile", set: outputPath(func(c *Config) *string { return &c.Server.ScoreBoardFile })})
	t.add(directive{name: "KeepAlive", set: onOff(func(c *Config) *bool { return &c.Server.KeepAlive })})
	t.add(directive{name: "MaxKeepAliveRequests",
		set: number(func(c *Config) *int { return &c.Server.MaxKeepAliveRequests }, 0, math.MaxInt32)})
	t.add(directive{name: "KeepAliveTimeout",
		set: seconds(func(c *Config) *time.Duration { return &c.Server.KeepAliveTimeout }, 0)})
	t.add(directive{name: "KeepAliveParking", set: onOff(func(c *Config) *bool { return &c.Server.KeepAliveParking })})
	t.add(directive{name: "TimeOut",
		set: seconds(func(c *Config) *time.Duration { return &c.Server.TimeOut }, time.Millisecond)})
	t.add(directive{name: "GracefulShutdownTimeout",
		set: seconds(func(c *Config) *time.Duration { return &c.Server.GracefulShutdownTimeout }, 0)})
	t.add(directive{name: "ListenBacklog",
		set: number(func(c *Config) *int { return &c.Server.ListenBacklog }, 1, math.MaxInt32)})
	t.add(directive{name: "AcceptFilter", many: true, set: setAcceptFilter})
	t.add(directive{name: "LimitRequestLine",
		set: smallSize(func(c *Config) *int { return &c.Server.LimitRequestLine }, 1, MaxHeader)})
	t.add(directive{name: "LimitRequestFields",
		set: number(func(c *Config) *int { return &c.Server.LimitRequestFields }, 0, 32767)})
	t.add(directive{name: "LimitRequestFieldSize",
		set: smallSize(func(c *Config) *int { return &c.Server.LimitRequestFieldSize }, 1, MaxHeader)})
	t.add(directive{name: "LimitRequestBody",
		set: size(func(c *Config) *int64 { return &c.Server.LimitRequestBody }, 0, math.MaxInt64)})
	return t
}

func setListen(p *parser, g given) error {
	if args, err := words(g.Value); err == nil && len(args) > 0 && isUnix(args[0]) {
		return setListenUnix(p, args)
	}
	l, err := parseListen(g.Value)
	if err != nil {
		return err
	}
	if slices.Contains(p.cfg.Server.Listen, l) {
		return fmt.Errorf("the address %s is given twice", l)
	}
	p.cfg.Server.Listen = append(p.cfg.Server.Listen, l)
	return nil
}

// setServerRoot only checks: parser.root has taken the value before.
func setServerRoot(p *parser, g given) error {
	if _, err := unquote(g.Value); err != nil {
		return err
	}
	info, err := os.Stat(p.cfg.Server.ServerRoot)
	if err != nil {
		return fmt.Errorf("%s: %w", p.cfg.Server.ServerRoot, reason(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", p.cfg.Server.ServerRoot)
	}
	return nil
}

// output returns the absolute path of a file that jkd will write, and warns
// when its directory is not there.
func (p *parser) output(g given, value string) (string, error) {
	path, err := unquote(value)
	switch {
	case err != nil:
		return "", err
	case path == "":
		return "", errors.New("the path is empty")
	case path[0] == '|':
		return "", errors.New("a program is no file: only the directives of logs may name one")
	case strings.HasPrefix(path, "syslog") && (len(path) == 6 || path[6] == ':'):
		return "", errors.New("logging to syslog is not supported: name a file")
	case strings.HasSuffix(path, "/"):
		return "", errors.New("the path names a directory")
	}
	path = p.path(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", fmt.Errorf("%s is a directory", path)
	}
	if dir := filepath.Dir(path); !isDir(dir) {
		p.warn(g.Line, g.Key, "the directory %s does not exist", dir)
	}
	return path, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func parseMPM(s string) (string, error) {
	known := []string{Prefork, Worker}
	for _, name := range known {
		if strings.EqualFold(s, name) {
			return name, nil
		}
	}
	if strings.EqualFold(s, "event") {
		return "", errors.New("the MPM event is not supported, use worker")
	}
	return "", fmt.Errorf("unknown MPM %q%s (prefork, worker)", s, DidYouMean(s, known))
}
