//go:build unix

package mpm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"jkd/mpm/sock"
	"jkd/scoreboard"
	"jkd/shm"
)

// The descriptors of a child. 0 to 2 are the master's. The listeners follow the
// segments, the log files the listeners; how many there are of each is in the
// handshake. Nothing else is inherited.
const (
	FDControl    = 3 // the child's end of its control socket
	FDScoreboard = 4
	FDSegments   = 5 // the first of Options.Segments, or /dev/null in its place
)

// childVar is set in the environment of children only. Its value says nothing:
// all facts come over the control socket.
const childVar = "JKD_CHILD"

// attachPatience is how long a child waits for the next piece of the
// handshake. Its master writes it at once.
const attachPatience = 60 * time.Second

// IsChild tells whether this process was started by a [Supervisor] and should
// call [AttachChild] before anything else.
func IsChild() bool { return os.Getenv(childVar) != "" }

// Child is what a child process has: its place, and what it inherited.
type Child struct {
	// Server is the index of this child in the scoreboard.
	Server int
	// Generation is that of the master.
	Generation uint32
	// Board is the scoreboard; the child writes the records of Server only.
	Board *scoreboard.Scoreboard
	// Segments are the master's Options.Segments; nil where it has none.
	Segments []*shm.Segment
	// Listeners are listening sockets in non-blocking mode, shared with all
	// other children.
	Listeners []int
	// LogFiles are the descriptors that the master passed as log files, in
	// its order.
	LogFiles []int
	// Logger is for the module. The one who builds the module sets it; the
	// zero value, as AttachChild leaves it, writes nothing.
	Logger zerolog.Logger
	// Wake fires when the child was told to leave, once WaitGo has returned
	// true. AttachChild makes one that
	// watches the control socket; a module that reads its orders there sets
	// one of its own before it serves.
	Wake *sock.Wake
	// Maintain is called every MaintainEvery, with or without traffic, and
	// never twice at the same time, until the child is told to leave. The one
	// who builds the handler sets both; without either there is no
	// maintenance. Under worker it has a goroutine of its own and may run at
	// the same time as requests. Under prefork it is called by the goroutine
	// that serves, while that waits for a connection or the next request on
	// one, and in between: then it may use what the handler uses without locks,
	// nobody is served by this child meanwhile, and a request that takes long
	// postpones it. It should end by itself within some seconds.
	Maintain func(now time.Time)
	// MaintainEvery is the time between the end of a call of Maintain and the
	// beginning of the next one.
	MaintainEvery time.Duration

	board *shm.Segment
}

// AttachError is why a process could not become a child. Code is what it
// should exit with.
type AttachError struct {
	Code ExitCode
	Err  error
}

func (e *AttachError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AttachError) Unwrap() error { return e.Err }

func handshakeError(format string, args ...any) error {
	return &AttachError{ExitBadHandshake, fmt.Errorf("mpm: handshake: "+format, args...)}
}

// AttachChild makes this process a child: it takes the descriptors, sets
// close-on-exec on all of them, hears from the master what they are, checks
// that both run the same program, gives up what rights it still has, checks
// that they are gone, and maps the scoreboard. It returns the configuration snapshot as the master was
// given it. Errors are of type *AttachError.
//
// The terminal's signals (INT, HUP, WINCH) are ignored from here on: the
// master gets them too and decides. TERM ends the process at once.
func AttachChild() (*Child, []byte, error) {
	signal.Ignore(unix.SIGINT, unix.SIGHUP, unix.SIGWINCH, unix.SIGPIPE, unix.SIGXFSZ)
	_ = os.Unsetenv(childVar)
	unix.CloseOnExec(FDControl)

	h, err := receiveHello(FDControl)
	if err != nil {
		return nil, nil, err
	}
	setCommandName(int(h.Server))
	if err := h.enter(); err != nil {
		return nil, nil, &AttachError{ExitFatal, err}
	}
	snapshot, err := receiveSnapshot(FDControl)
	if err != nil {
		return nil, nil, err
	}
	c := &Child{
		Server:     int(h.Server),
		Generation: h.Generation,
		Wake:       sock.NewWake(FDControl),
		Logger:     zerolog.Nop(),
	}
	fd := FDSegments + len(h.Segments)
	for range h.Listeners {
		c.Listeners = append(c.Listeners, fd)
		fd++
	}
	for range h.LogFiles {
		c.LogFiles = append(c.LogFiles, fd)
		fd++
	}
	for i := FDScoreboard; i < fd; i++ {
		if _, err := unix.FcntlInt(uintptr(i), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, nil, handshakeError("descriptor %d: %w", i, err)
		}
	}
	if c.board, err = shm.Attach(FDScoreboard, int(h.BoardSize)); err != nil {
		return nil, nil, handshakeError("scoreboard: %w", err)
	}
	layout := scoreboard.Layout{ServerLimit: int(h.ServerLimit), ThreadLimit: int(h.ThreadLimit)}
	if c.Board, err = scoreboard.Attach(c.board.Bytes(), &layout); err != nil {
		return nil, nil, handshakeError("scoreboard: %w", err)
	}
	c.Segments = make([]*shm.Segment, len(h.Segments))
	for i, size := range h.Segments {
		if size == 0 {
			continue
		}
		if c.Segments[i], err = shm.Attach(uintptr(FDSegments+i), int(size)); err != nil {
			return nil, nil, handshakeError("segment %d: %w", i, err)
		}
	}
	syscall.Umask(0o027)
	return c, snapshot, nil
}

// receiveHello hears what comes first, from a master of the same build.
func receiveHello(fd int) (h hello, err error) {
	tv := unix.NsecToTimeval(int64(attachPatience))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return h, handshakeError("descriptor %d: %w; children are started by jkd itself only", fd, err)
	}
	b, err := receiveFrame(fd, frameHello)
	if err != nil {
		return h, err
	}
	h, version, err := decodeHello(b)
	switch {
	case err != nil:
		return h, handshakeError("%w", err)
	case version != helloVersion || h.Build != BuildID():
		return h, handshakeError("the master runs another build: the program file was replaced; restart or upgrade jkd")
	}
	return h, nil
}

// receiveSnapshot hears the configuration, after which orders may take as long
// as they like.
func receiveSnapshot(fd int) ([]byte, error) {
	snapshot, err := receiveFrame(fd, frameSnapshot)
	if err != nil {
		return nil, err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{}); err != nil {
		return nil, handshakeError("%w", err)
	}
	return snapshot, nil
}

func receiveFrame(fd int, want frameKind) ([]byte, error) {
	var head [frameHead]byte
	if err := readFull(fd, head[:]); err != nil {
		return nil, handshakeError("%w", err)
	}
	k, n, err := decodeHead(head)
	if err != nil {
		return nil, handshakeError("%w", err)
	}
	if k != want {
		return nil, handshakeError("message %q instead of %q", byte(k), byte(want))
	}
	b := make([]byte, n)
	if err := readFull(fd, b); err != nil {
		return nil, handshakeError("%w", err)
	}
	return b, nil
}

func readFull(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return errors.New("the master says nothing")
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			b = b[n:]
		}
	}
	return nil
}

// setCommandName corrects the short name that ps and pgrep show where the
// program was started by way of /proc/self/exe, which would be "exe".
func setCommandName(server int) {
	if executable() != "/proc/self/exe" {
		return
	}
	fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0) // see BuildID
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, fmt.Appendf(nil, "jkd: child %d", server))
	_ = unix.Close(fd)
}

// Slot is the scoreboard record of one of this child's threads.
func (c *Child) Slot(thread int) *scoreboard.Slot { return c.Board.Slot(c.Server, thread) }

// Process is this child's own record in the scoreboard.
func (c *Child) Process() *scoreboard.Process { return c.Board.Process(c.Server) }

// Stopping tells whether the child was told to leave. It is cheap enough to
// ask before every wait for a request.
func (c *Child) Stopping() bool { return c.Wake.Woken() }

// WaitOrder blocks until the next order. End of file, when the master is gone,
// is the order graceful with io.EOF; a message that is no order counts as
// graceful too, with an error that says so: nothing sensible can follow it.
// After WaitGo it is for modules that spare a goroutine for it.
func (c *Child) WaitOrder() (Order, error) {
	var b [frameHead]byte
	if err := readFull(FDControl, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		return OrderGraceful, err
	}
	o, err := decodeOrder(b)
	if err != nil {
		return OrderGraceful, err
	}
	return o, nil
}

// WaitGo is called by a module when it is ready and has said so in the
// scoreboard, before it accepts anything: it blocks until the master says that
// this generation is the one that serves. It returns false when that will not
// happen: the child was told to leave before, or the master is gone. Until
// WaitGo has returned true nobody may ask Stopping or wait on Wake, which both
// take any message for an order to leave.
func (c *Child) WaitGo() bool {
	o, err := c.WaitOrder()
	return err == nil && o == OrderGo
}

// EndOrders makes a WaitOrder in progress in another goroutine return.
func (c *Child) EndOrders() { _ = unix.Shutdown(FDControl, unix.SHUT_RD) }

// CloseListeners gives up this child's copies of the listeners, so that
// nothing queues for it any more. Other processes' copies are not affected.
func (c *Child) CloseListeners() {
	for _, fd := range c.Listeners {
		_ = unix.Close(fd)
	}
	c.Listeners = nil
}

// FirstMaintain is how long after its start a module calls Maintain first, or
// false if it shall not at all. It is at most MaintainEvery and differs between
// the children, so that those that were started together neither ask the back
// ends at the same moment nor are all away from their listeners at once.
func (c *Child) FirstMaintain() (time.Duration, bool) {
	if c.Maintain == nil || c.MaintainEvery <= 0 {
		return 0, false
	}
	// The fractions of the multiples of the golden ratio lie as far apart as
	// possible, however many there are.
	_, frac := math.Modf(float64(c.Server) * math.Phi)
	return time.Duration(float64(c.MaintainEvery) * (1 - frac)), true
}

// RecordCPU writes what CPU time the process has used into its record. Only
// one goroutine may do so.
func (c *Child) RecordCPU() {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) == nil {
		c.Process().SetCPU(time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano()))
	}
}
