//go:build unix

package sock

import (
	"net"
	"testing"
)

// listenTCP is the descriptor of a listener on the loopback interface.
func listenTCP(t *testing.T) (fd int) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	raw, err := ln.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(n uintptr) { fd = int(n) }); err != nil {
		t.Fatal(err)
	}
	return fd
}
