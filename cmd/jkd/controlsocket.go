//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/control"
	"jkd/cmd/jkd/internal/master"
	"jkd/cmd/jkd/internal/status"
	"jkd/conf"
	"jkd/mpm"
	"jkd/mpm/sock"
)

// addControl makes the socket that jkd -k and jkd -top ask, and the goroutine
// of the master that answers. The socket goes with that goroutine; close
// removes it if the master did not get so far. replaces is the master of the
// generation before, 0 for none.
func addControl(o *master.Options, s *conf.ServerConfig, source status.Source, replaces int, reload func(hard bool, stop <-chan struct{}) error, log zerolog.Logger) (close func(), err error) {
	path := s.Control(o.PidFile)
	if path == "" {
		return func() {}, nil
	}
	if len(path) > sock.MaxUnixPath && s.ControlSocket == "" {
		log.Warn().Msgf("jkd -k and jkd -top will not work: ControlSocket is not set, and %s is too long for a socket", path)
		return func() {}, nil
	}
	l, err := control.Listen(path, replaces)
	if err != nil {
		return nil, err
	}
	o.Publish = append(o.Publish, l.Publish)
	server := &control.Server{Reload: moved(reload), Listener: l, Build: mpm.BuildID(), Source: source, Stop: stopSelf(o.Foreground), Logger: log}
	o.Background = append(o.Background, server.Run)
	return l.Close, nil
}

// moved translates the master's error for the client.
func moved(reload func(bool, <-chan struct{}) error) func(bool, <-chan struct{}) error {
	return func(hard bool, stop <-chan struct{}) error {
		err := reload(hard, stop)
		if errors.Is(err, master.ErrMoved) {
			return control.ErrMoved
		}
		return err
	}
}

// stopSelf sends this process the signal that stops the master.
func stopSelf(foreground bool) func(graceful bool) error {
	return func(graceful bool) error {
		if !graceful {
			return syscall.Kill(os.Getpid(), syscall.SIGTERM)
		}
		if foreground && mpm.IsTerminal(0) {
			return errors.New("in the foreground on a terminal there is only the stop at once")
		}
		return syscall.Kill(os.Getpid(), syscall.SIGWINCH)
	}
}
