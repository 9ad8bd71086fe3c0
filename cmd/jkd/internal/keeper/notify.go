//go:build unix

package keeper

import (
	"fmt"
	"net"
	"os"
	"strings"
)

// notifyVar names the datagram socket on which systemd hears of the state of
// the service, as in sd_notify(3).
const notifyVar = "NOTIFY_SOCKET"

// notifier tells systemd. The nil notifier has nobody to tell.
type notifier struct{ addr net.UnixAddr }

// newNotifier returns nil for a socket that is none: a path is absolute, an
// abstract name begins with @.
func newNotifier(socket string) *notifier {
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") || len(socket) < 2 {
		return nil
	}
	return &notifier{net.UnixAddr{Name: socket, Net: "unixgram"}}
}

// takeNotifier makes the notifier that the environment names and takes the name
// away: only the main process of the service may use it.
func takeNotifier() *notifier {
	defer os.Unsetenv(notifyVar)
	return newNotifier(os.Getenv(notifyVar))
}

// ready: the master of that pid serves; a reload, if there was one, is over.
func (n *notifier) ready(pid int) error {
	return n.send(fmt.Sprintf("READY=1\nSTATUS=process %d serves", pid))
}

// reloading: a master is preparing its successor. systemd compares the time
// with that of its own request.
func (n *notifier) reloading() error {
	if n == nil {
		return nil
	}
	now, err := monotonic()
	if err != nil {
		return err
	}
	return n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d\nSTATUS=reloading", now.Microseconds()))
}

// stopping: the end was asked for.
func (n *notifier) stopping() error { return n.send("STOPPING=1\nSTATUS=stopping") }

func (n *notifier) send(state string) error {
	if n == nil {
		return nil
	}
	c, err := net.DialUnix("unixgram", nil, &n.addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte(state))
	return err
}
