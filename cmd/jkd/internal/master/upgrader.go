//go:build unix

package master

import (
	"net"
	"syscall"

	"github.com/cloudflare/tableflip"
)

// upgrader is the part of tableflip.Upgrader that a generation needs.
type upgrader interface {
	// ListenWithCallback returns the inherited listener of that key or calls
	// the function for a new one, and keeps a copy for the next generation.
	ListenWithCallback(network, address string, listen func(network, address string) (net.Listener, error)) (net.Listener, error)
	// Ready ends the start: what was inherited and not asked for is closed
	// and the parent, if any, is told.
	Ready() error
	// HasParent tells whether this process replaces another one.
	HasParent() bool
	// Stop gives up the copies; Exit is closed when that is done.
	Stop()
	Exit() <-chan struct{}
}

// newTableflip is possible once in a process.
func newTableflip() (upgrader, error) {
	u, err := tableflip.New(tableflip.Options{})
	if err != nil {
		return nil, err
	}
	if u.HasParent() {
		// The ready and names pipes. A child that inherited the first could
		// report ready in our name.
		syscall.CloseOnExec(3)
		syscall.CloseOnExec(4)
	}
	return u, nil
}
