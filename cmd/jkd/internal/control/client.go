//go:build unix

package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"jkd/cmd/jkd/internal/status"
	"jkd/mpm/sock"
)

// ErrNotRunning: nobody listens at the socket. Either there is none
// (fs.ErrNotExist is in the error too), or the one who made it is gone.
var ErrNotRunning = errors.New("no jkd listens there")

// ErrPatience: what was asked for has not happened in time, but may yet.
var ErrPatience = errors.New("not yet done")

var errNoAnswer = errors.New("the process that listens there does not answer")

// maxStatus bounds what a client reads: MaxSlots of package conf, with every
// text as long as can be, fit.
const maxStatus = 1 << 30

// Client asks a master. Its methods may be called concurrently, each with a
// connection of its own.
type Client struct {
	Path string
	// Patience bounds each call; 0 means 10 seconds.
	Patience time.Duration
}

// Reply is the master's, with every command.
type Reply struct {
	PID   int
	Build uint64 // its mpm.BuildID
}

// PID asks who is there.
func (c *Client) PID() (Reply, error) {
	r, conn, err := c.ask("pid")
	if err == nil {
		_ = conn.Close()
	}
	return r, err
}

// Status asks for the state of the server.
func (c *Client) Status() (*status.Status, Reply, error) {
	r, conn, err := c.ask("status")
	if err != nil {
		return nil, r, err
	}
	defer conn.Close()
	s := new(status.Status)
	if err := json.NewDecoder(io.LimitReader(conn, maxStatus)).Decode(s); err != nil {
		return nil, r, fmt.Errorf("the status is not readable: %w", err)
	}
	return s, r, nil
}

// Stop makes the server stop and waits until the master has gone, as long as
// Patience lasts; then the error is ErrPatience. began, if not nil, is called
// when the master has said that it does.
func (c *Client) Stop(graceful bool, began func(Reply)) (Reply, error) {
	command := "stop"
	if graceful {
		command = "graceful-stop"
	}
	r, conn, err := c.ask(command)
	if err != nil {
		return r, err
	}
	defer conn.Close()
	if began != nil {
		began(r)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		return r, ErrPatience
	}
	return r, nil // end of file or a reset: either way it is gone
}

// Reload makes the server replace itself by its next generation, with the
// configuration and the program as they are now. It returns the one that was
// asked when the next one serves, or the reason why the old one goes on; after
// Patience ErrPatience, and then it may yet happen. hard cuts what the old
// generation has in hand.
func (c *Client) Reload(hard bool) (Reply, error) {
	command := "graceful"
	if hard {
		command = "restart"
	}
	for end := time.Now().Add(c.Patience); ; time.Sleep(50 * time.Millisecond) {
		one := *c
		one.Patience = max(time.Until(end), time.Second)
		r, conn, err := one.ask(command)
		switch {
		case err == nil:
			_ = conn.Close()
			return r, nil
		case err.Error() == ErrMoved.Error() && time.Now().Before(end):
			// The one who listens now is somebody else.
		case errors.Is(err, errNoAnswer):
			return r, ErrPatience
		default:
			return r, err
		}
	}
}

// conn reads what follows the first line.
type conn struct {
	*bufio.Reader
	io.Closer
}

// ask sends a command and reads the first line.
func (c *Client) ask(command string) (Reply, conn, error) {
	patience := c.Patience
	if patience == 0 {
		patience = 10 * time.Second
	}
	until := time.Now().Add(patience)
	nc, err := (&net.Dialer{Deadline: until}).Dial("unix", c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Reply{}, conn{}, errors.Join(ErrNotRunning, fs.ErrNotExist)
	case errors.Is(err, syscall.ECONNREFUSED):
		return Reply{}, conn{}, ErrNotRunning
	case err != nil:
		return Reply{}, conn{}, sock.Cause(err)
	}
	_ = nc.SetDeadline(until)
	r, rd, err := exchange(nc.(*net.UnixConn), command)
	if err != nil {
		_ = nc.Close()
		return Reply{}, conn{}, err
	}
	return r, conn{rd, nc}, nil
}

func exchange(nc *net.UnixConn, command string) (r Reply, rd *bufio.Reader, err error) {
	// Somebody else's socket could tell us anything.
	if uid, err := sock.PeerUID(nc); err == nil && uid != 0 && uid != os.Geteuid() {
		return r, nil, fmt.Errorf("the process that listens there belongs to user %d", uid)
	}
	if _, err := io.WriteString(nc, command+"\n"); err != nil {
		return r, nil, sock.Cause(err)
	}
	rd = bufio.NewReaderSize(nc, 8<<10)
	line, err := rd.ReadSlice('\n')
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return r, nil, errNoAnswer
	case err != nil:
		return r, nil, errors.New("the process that listens there gave no answer")
	}
	if reason, ok := strings.CutPrefix(string(line), "error "); ok {
		return r, nil, errors.New(strings.TrimSpace(reason))
	}
	if n, err := fmt.Sscanf(string(line), "ok %x %d\n", &r.Build, &r.PID); n != 2 || err != nil {
		return r, nil, errors.New("the process that listens there does not speak as jkd does")
	}
	return r, rd, nil
}
