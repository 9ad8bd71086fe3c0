//go:build unix

package mpm

import (
	"syscall"
	"testing"
)

func exited(code int) syscall.WaitStatus           { return syscall.WaitStatus(code << 8) }
func signaled(s syscall.Signal) syscall.WaitStatus { return syscall.WaitStatus(s) }

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		ws   syscall.WaitStatus
		want death
		text string
	}{
		{exited(0), deathNormal, "exit code 0 (ok)"},
		{exited(1), deathSick, "exit code 1 (exit status 1)"},
		{exited(2), deathSick, "exit code 2 (exit status 2)"},
		{exited(7), deathSick, "exit code 7 (sick)"},
		{exited(15), deathFatal, "exit code 15 (fatal)"},
		{exited(16), deathHandshake, "exit code 16 (bad handshake)"},
		{signaled(syscall.SIGKILL), deathSignal, "signal 9 (killed)"},
		{signaled(syscall.SIGSEGV), deathSignal, "signal 11 (segmentation fault)"},
		{syscall.WaitStatus(0x137f), deathUnknown, "an unknown status"}, // stopped: can't come from our wait
	} {
		if d := classify(c.ws); d != c.want || describe(d, c.ws) != c.text {
			t.Errorf("%#x: %s, %q, want %s, %q", uint32(c.ws), d, describe(d, c.ws), c.want, c.text)
		}
	}
}

func TestQuietSignal(t *testing.T) {
	for s, want := range map[syscall.Signal]bool{
		syscall.SIGTERM: true, syscall.SIGHUP: true, syscall.SIGUSR1: true, syscall.SIGKILL: true,
		syscall.SIGSEGV: false, syscall.SIGBUS: false, syscall.SIGABRT: false, syscall.SIGINT: false,
	} {
		if quietSignal(s) != want {
			t.Errorf("%s: %t", s, !want)
		}
	}
}

func TestExitOf(t *testing.T) {
	for _, c := range []struct {
		ws    syscall.WaitStatus
		err   error
		want  Exit
		quiet bool
	}{
		{exited(0), nil, Exit{Known: true}, false},
		{exited(7), nil, Exit{Known: true, Code: ExitSick}, false},
		{exited(2), nil, Exit{Known: true, Code: 2}, false},
		{signaled(syscall.SIGKILL), nil, Exit{Known: true, Signal: syscall.SIGKILL}, true},
		{signaled(syscall.SIGSEGV), nil, Exit{Known: true, Signal: syscall.SIGSEGV}, false},
		{syscall.WaitStatus(0x137f), nil, Exit{}, false},
		{exited(0), syscall.ECHILD, Exit{}, false},
	} {
		if e := exitOf(c.ws, c.err); e != c.want || e.Quiet() != c.quiet {
			t.Errorf("%#x, %v: %+v, quiet %t", uint32(c.ws), c.err, e, e.Quiet())
		}
	}
}
