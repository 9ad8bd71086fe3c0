package tomcattest

import (
	"fmt"
	"syscall"
)

// hold keeps a port of 127.0.0.1 from being given to anybody who asks for any
// port, also while the container that it belongs to is down. The socket does
// not listen, so connections are refused meanwhile, and the container, which
// names the port, may bind it all the same.
func hold(port int) (release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("tomcattest: socket: %w", err)
	}
	if err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("tomcattest: hold port %d: %w", port, err)
	}
	return func() { syscall.Close(fd) }, nil
}
