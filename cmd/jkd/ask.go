//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"jkd/cmd/jkd/internal/control"
	"jkd/cmd/jkd/internal/master"
	"jkd/cmd/jkd/internal/status"
	"jkd/cmd/jkd/internal/top"
	"jkd/conf"
	"jkd/mpm"
)

// What jkd -k can be asked for.
const (
	askStatus   = "status"
	askStop     = "stop"
	askGraceful = "graceful-stop"
	askReload   = "graceful"
	askRestart  = "restart"
)

var asks = []string{askStatus, askReload, askRestart, askStop, askGraceful}

// How long -k waits by itself: for an end, and for a reload, before which the
// generation before may have to drain.
const (
	stopWait   = time.Minute
	reloadWait = 3 * time.Minute
)

// notRunning is the exit status of jkd -k and jkd -top when there is no server
// to ask, as of status scripts.
const notRunning = 3

// target is a server that may be running.
type target struct {
	server *conf.ServerConfig
	socket string // "": it has none
}

func findTarget(f flags) (target, error) {
	s, err := conf.Whereabouts(f.config)
	if err != nil {
		return target{}, err
	}
	return target{s, s.Control(s.PidFile)}, nil
}

// runAsk is jkd -k.
func runAsk(f flags, stdout, stderr io.Writer) int {
	t, err := findTarget(f)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if f.ask == askStatus {
		s, note, err := t.status()
		if err != nil {
			return t.complain(err, stderr)
		}
		if note != "" {
			fmt.Fprintln(stderr, "jkd:", note)
		}
		if err := status.WriteText(stdout, s); err != nil {
			fmt.Fprintln(stderr, "jkd:", err)
			return 1
		}
		return 0
	}
	if f.ask == askReload || f.ask == askRestart {
		return t.reload(f, stdout, stderr)
	}
	pid, err := t.stop(f.ask == askGraceful, f.wait)
	switch {
	case errors.Is(err, control.ErrPatience):
		fmt.Fprintf(stderr, "jkd: process %d was told to stop and has not ended after %s\n", pid, f.wait)
		return 1
	case err != nil:
		return t.complain(err, stderr)
	}
	fmt.Fprintf(stdout, "jkd: process %d has stopped\n", pid)
	return 0
}

// runTop is jkd -top.
func runTop(f flags, stderr io.Writer) int {
	t, err := findTarget(f)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	err = top.Run(top.Options{Fetch: t.status, In: os.Stdin, Out: os.Stdout, Interval: f.interval, Frames: f.frames, Getenv: os.Getenv})
	if err != nil {
		return t.complain(err, stderr)
	}
	return 0
}

// status asks the server. note is what should be known about the answer.
func (t target) status() (s *status.Status, note string, err error) {
	if t.socket == "" {
		return nil, "", control.ErrNotRunning
	}
	s, r, err := (&control.Client{Path: t.socket}).Status()
	if err == nil && r.Build != mpm.BuildID() {
		note = fmt.Sprintf("process %d is another build of jkd than this program: what only one of them knows is missing", r.PID)
	}
	return s, note, err
}

// stop stops the server, by its socket or, without one, by a signal to the
// process of the pid file, and waits for its end.
func (t target) stop(graceful bool, wait time.Duration) (pid int, err error) {
	err = control.ErrNotRunning
	if t.socket != "" {
		var r control.Reply
		r, err = (&control.Client{Path: t.socket, Patience: wait}).Stop(graceful, nil)
		pid = r.PID
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return pid, err
	}
	pid, alive := master.Running(t.server.PidFile)
	if !alive {
		return pid, err
	}
	s := syscall.SIGTERM
	if graceful {
		s = syscall.SIGWINCH
	}
	if err := syscall.Kill(pid, s); err != nil {
		return pid, fmt.Errorf("process %d of PidFile %s: %w", pid, t.server.PidFile, err)
	}
	return pid, t.await(wait, func(now int, alive bool) bool { return !alive || now != pid })
}

// await waits until the pid file says what is awaited.
func (t target) await(wait time.Duration, done func(pid int, alive bool) bool) error {
	for end := time.Now().Add(wait); ; time.Sleep(20 * time.Millisecond) {
		if done(master.Running(t.server.PidFile)) {
			return nil
		}
		if time.Now().After(end) {
			return control.ErrPatience
		}
	}
}

// reload replaces the server by its next generation. Apache starts one if there
// is none; here who reloads what does not run is told so, as a script that
// rotates logs must not start a server that was stopped.
func (t target) reload(f flags, stdout, stderr io.Writer) int {
	err := control.ErrNotRunning
	if t.socket != "" {
		_, err = (&control.Client{Path: t.socket, Patience: f.wait}).Reload(f.ask == askRestart)
	}
	old, alive := master.Running(t.server.PidFile)
	switch {
	case err == nil:
		fmt.Fprintln(stdout, "jkd: the next generation serves")
		return 0
	case errors.Is(err, control.ErrPatience):
		fmt.Fprintf(stderr, "jkd: the next generation does not serve yet after %s; the error log will say what becomes of it\n", f.wait)
		return 1
	case errors.Is(err, control.ErrNotRunning) && alive && t.socket == "" && f.ask == askReload:
		// Only the pid file tells what became of it.
		if err := syscall.Kill(old, syscall.SIGHUP); err != nil {
			fmt.Fprintf(stderr, "jkd: process %d of PidFile %s: %v\n", old, t.server.PidFile, err)
			return 1
		}
		if t.await(f.wait, func(now int, alive bool) bool { return alive && now != old }) != nil {
			fmt.Fprintf(stderr, "jkd: the next generation does not serve after %s; see the error log\n", f.wait)
			return 1
		}
		fmt.Fprintln(stdout, "jkd: the next generation serves")
		return 0
	case errors.Is(err, control.ErrNotRunning):
		return t.complain(err, stderr)
	}
	fmt.Fprintln(stderr, "jkd:", err)
	return 1
}

// complain says why nobody could be asked and returns the exit status.
func (t target) complain(err error, w io.Writer) int {
	if !errors.Is(err, control.ErrNotRunning) {
		fmt.Fprintf(w, "jkd: ControlSocket %s: %v\n", t.socket, err)
		return 1
	}
	pid, alive := master.Running(t.server.PidFile)
	left := ""
	if t.socket != "" && !errors.Is(err, fs.ErrNotExist) {
		left = fmt.Sprintf("; the socket %s is left from one that has died", t.socket)
	}
	switch {
	case alive && t.socket == "":
		fmt.Fprintf(w, "jkd: process %d runs, but has no ControlSocket to ask\n", pid)
		return 1
	case alive:
		fmt.Fprintf(w, "jkd: process %d runs, but nobody listens at ControlSocket %s\n", pid, t.socket)
		return 1
	case pid != 0:
		fmt.Fprintf(w, "jkd is not running: PidFile %s names process %d, which is gone%s\n", t.server.PidFile, pid, left)
	default:
		fmt.Fprintf(w, "jkd is not running: there is no PidFile %s%s\n", t.server.PidFile, left)
	}
	return notRunning
}
