//go:build unix

package child

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

type nop struct{}

func (nop) ServeConn(c sock.Conn, _ *scoreboard.Seat) { c.Close() }

func TestCheck(t *testing.T) {
	l := scoreboard.Layout{ServerLimit: 4, ThreadLimit: 2}
	size, err := scoreboard.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]uint64, (size+7)/8)
	b, err := scoreboard.New(bytesOf(mem)[:size], l, scoreboard.Global{})
	if err != nil {
		t.Fatal(err)
	}
	c := &mpm.Child{Board: b}
	run := func(*mpm.Child, mpm.ConnHandler) mpm.ExitCode { return mpm.ExitOK }
	for _, tt := range []struct {
		name string
		m    mpm.Module
		h    mpm.ConnHandler
		ok   bool
	}{
		{"good", mpm.Module{ServerLimit: 4, ThreadLimit: 2, Run: run}, nop{}, true},
		{"no handler", mpm.Module{ServerLimit: 4, ThreadLimit: 2, Run: run}, nil, false},
		{"no run", mpm.Module{ServerLimit: 4, ThreadLimit: 2}, nop{}, false},
		{"servers", mpm.Module{ServerLimit: 5, ThreadLimit: 2, Run: run}, nop{}, false},
		{"threads", mpm.Module{ServerLimit: 4, ThreadLimit: 1, Run: run}, nop{}, false},
	} {
		if err := check(tt.m, tt.h, c); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFail(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want mpm.ExitCode
	}{
		{errors.New("no space"), mpm.ExitSick},
		{&mpm.AttachError{Code: mpm.ExitFatal, Err: errors.New("still root")}, mpm.ExitFatal},
		{fmt.Errorf("wrapped: %w", &mpm.AttachError{Code: mpm.ExitBadHandshake, Err: errors.New("old")}), mpm.ExitBadHandshake},
	} {
		var log strings.Builder
		if got := fail(zerolog.New(&log), tt.err); got != tt.want || !strings.Contains(log.String(), tt.err.Error()) {
			t.Errorf("%v: %s, log %s", tt.err, got, log.String())
		}
	}
}

// TestRunOutsideAMaster: a process that nobody started as a child says so
// instead of hanging. Descriptor 3 of a test is not a control socket.
func TestRunOutsideAMaster(t *testing.T) {
	var st syscall.Stat_t
	if syscall.Fstat(3, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFSOCK {
		t.Skip("descriptor 3 is a socket here")
	}
	var log strings.Builder
	code := Run(Options{Logger: zerolog.New(&log), Build: func([]byte, *mpm.Child) (mpm.Module, mpm.ConnHandler, error) {
		t.Error("Build was called")
		return mpm.Module{}, nil, nil
	}})
	if code != mpm.ExitBadHandshake || !strings.Contains(log.String(), "handshake") {
		t.Errorf("%s, log %s", code, log.String())
	}
}
