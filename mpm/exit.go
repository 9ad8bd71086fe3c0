//go:build unix

package mpm

import (
	"fmt"
	"syscall"
)

// ExitCode is a child's last word to the master. The numbers are Apache's.
type ExitCode int

// The codes. Any other means a fault that the child could not classify, such
// as a Go panic (2); the master treats it like Sick.
const (
	// ExitOK is the normal end: told to leave, or MaxConnectionsPerChild.
	ExitOK ExitCode = 0
	// ExitSick is a child that cannot go on but whose successor may, for
	// instance after accept failed (APEXIT_CHILDSICK).
	ExitSick ExitCode = 7
	// ExitFatal is a fault that all children will share, such as a credential
	// that didn't take effect: the whole server stops (APEXIT_CHILDFATAL).
	ExitFatal ExitCode = 15
	// ExitBadHandshake is a child that isn't the program the master is, or
	// wasn't started by a master: the binary was replaced since.
	ExitBadHandshake ExitCode = 16
)

func (c ExitCode) String() string {
	switch c {
	case ExitOK:
		return "ok"
	case ExitSick:
		return "sick"
	case ExitFatal:
		return "fatal"
	case ExitBadHandshake:
		return "bad handshake"
	}
	return fmt.Sprintf("exit status %d", int(c))
}

// Exit is how a child ended.
type Exit struct {
	// Known is false for a child that somebody else has waited for; the rest
	// then means nothing.
	Known  bool
	Signal syscall.Signal // that ended it; 0: it ended itself
	Code   ExitCode       // if Signal is 0
}

// exitOf reads what waiting for a process has yielded.
func exitOf(ws syscall.WaitStatus, err error) Exit {
	switch {
	case err != nil:
	case ws.Signaled():
		return Exit{Known: true, Signal: ws.Signal()}
	case ws.Exited():
		return Exit{Known: true, Code: ExitCode(ws.ExitStatus())}
	}
	return Exit{}
}

// Quiet tells whether a signal has ended the child that administrators and the
// master itself use for that.
func (e Exit) Quiet() bool { return e.Signal != 0 && quietSignal(e.Signal) }

// death is what the master makes of a wait status.
type death uint8

const (
	deathNormal    death = iota // exit 0
	deathSick                   // exit code sick, or one that is not in the table
	deathFatal                  // the server must stop
	deathHandshake              // not our binary
	deathSignal                 // killed, or crashed
	deathUnknown                // somebody else waited for it
)

func (d death) String() string {
	switch d {
	case deathNormal:
		return "normal"
	case deathSick:
		return "sick"
	case deathFatal:
		return "fatal"
	case deathHandshake:
		return "bad handshake"
	case deathSignal:
		return "signal"
	case deathUnknown:
		return "unknown"
	}
	return "invalid"
}

// classify reads a wait status of a process that has ended.
func classify(ws syscall.WaitStatus) death {
	switch {
	case ws.Signaled():
		return deathSignal
	case !ws.Exited():
		return deathUnknown
	}
	switch ExitCode(ws.ExitStatus()) {
	case ExitOK:
		return deathNormal
	case ExitFatal:
		return deathFatal
	case ExitBadHandshake:
		return deathHandshake
	}
	return deathSick
}

// quietSignal are signals that administrators and the master itself use to end
// a child; Apache doesn't report them either.
func quietSignal(s syscall.Signal) bool {
	switch s {
	case syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGKILL:
		return true
	}
	return false
}
