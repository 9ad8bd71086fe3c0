//go:build unix

package master

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"jkd/mpm/sock"
)

// endpoint is one socket to listen on. network and address are canonical, as
// an upgrade finds a socket again by these very strings.
type endpoint struct {
	network string // tcp4 or tcp6
	address string
	given   string // the directive's argument
	// lenient: a failure is tolerated, as the same port is opened for IPv4
	// too and the machine may have no IPv6.
	lenient bool
}

// parseListen reads the arguments of Listen directives: port, *:port,
// address:port or name:port. Any address means one socket for each protocol,
// IPv6 first.
func parseListen(list []string) ([]endpoint, error) {
	var all []endpoint
	seen := make(map[string]bool)
	for _, given := range list {
		eps, err := parseOne(given)
		if err != nil {
			return nil, fmt.Errorf("Listen %s: %w", given, err)
		}
		for _, ep := range eps {
			if seen[ep.address] {
				return nil, fmt.Errorf("Listen %s: %s is given twice", given, ep.address)
			}
			_, port, _ := net.SplitHostPort(ep.address)
			seen[ep.address] = port != "0" // the kernel chooses: never the same
			all = append(all, ep)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("Listen: no listening sockets available, at least one is needed")
	}
	return all, nil
}

func parseOne(given string) ([]endpoint, error) {
	host, service := "", given
	if _, err := strconv.Atoi(given); err != nil {
		if host, service, err = net.SplitHostPort(given); err != nil {
			return nil, errors.New("expected port or address:port")
		}
	}
	n, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("port %q is not a number below 65536", service)
	}
	port := uint16(n)
	if host == "" || host == "*" {
		return []endpoint{
			{"tcp6", netip.AddrPortFrom(netip.IPv6Unspecified(), port).String(), given, true},
			{"tcp4", netip.AddrPortFrom(netip.IPv4Unspecified(), port).String(), given, false},
		}, nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []endpoint{endpointOf(a, port, given)}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(context.Background(), "ip", host)
	if err != nil {
		return nil, fmt.Errorf("could not resolve %q", host)
	}
	var eps []endpoint
	for _, a := range addrs {
		eps = append(eps, endpointOf(a, port, given))
	}
	return eps, nil
}

func endpointOf(a netip.Addr, port uint16, given string) endpoint {
	a = a.Unmap()
	network := "tcp6"
	if a.Is4() {
		network = "tcp4"
	}
	return endpoint{network, netip.AddrPortFrom(a, port).String(), given, false}
}

// listener is an open socket. Its descriptor is non-blocking, close-on-exec
// and not known to the runtime's poller: a poller that watches it would wake
// the master for each connection that a child accepts.
type listener struct {
	fd   int
	addr net.Addr
}

// openListeners opens all endpoints or none.
func openListeners(u upgrader, eps []endpoint, backlog int) (ls []listener, err error) {
	defer func() {
		if err != nil {
			closeListeners(ls)
		}
	}()
	for _, ep := range eps {
		l, err := openListener(u, ep, backlog)
		if err != nil {
			if ep.lenient {
				continue
			}
			return ls, fmt.Errorf("Listen %s: could not bind to %s: %w", ep.given, ep.address, err)
		}
		ls = append(ls, l)
	}
	return ls, nil
}

func closeListeners(ls []listener) {
	for _, l := range ls {
		_ = syscall.Close(l.fd)
	}
}

func openListener(u upgrader, ep endpoint, backlog int) (listener, error) {
	var cause error // what tableflip only quotes
	ln, err := u.ListenWithCallback(ep.network, ep.address, func(network, address string) (net.Listener, error) {
		ln, err := newBareListener(network, address)
		if err != nil {
			cause = err
			return nil, err
		}
		return ln, nil
	})
	if cause != nil {
		return listener{}, bindCause(cause)
	}
	if err != nil {
		return listener{}, err
	}
	defer ln.Close()
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return listener{}, fmt.Errorf("%T has no descriptor", ln)
	}
	fd, err := dup(sc)
	if err != nil {
		return listener{}, err
	}
	if err = syscall.SetNonblock(fd, true); err == nil {
		err = sock.Backlog(fd, backlog)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return listener{}, err
	}
	return listener{fd, ln.Addr()}, nil
}

// bindCause cuts the address, which the caller names, out of the error.
func bindCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if se, ok := errors.AsType[*os.SyscallError](err); ok {
		err = se.Err
	}
	return err
}

// dup copies the descriptor of c.
func dup(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var dupErr error
	err = raw.Control(func(old uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if fd, dupErr = syscall.Dup(int(old)); dupErr == nil {
			syscall.CloseOnExec(fd)
		}
	})
	if err == nil {
		err = dupErr
	}
	return fd, err
}

// bareListener is a listening socket that the runtime's poller doesn't know,
// in blocking mode, so that those who make an os.File from a copy don't tell
// the poller either. It cannot accept.
type bareListener struct {
	fd   int
	addr net.Addr
}

func newBareListener(network, address string) (*bareListener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // costs more and offers nothing here
	ln, err := lc.Listen(context.Background(), network, address)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	fd, err := dup(ln.(*net.TCPListener))
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return &bareListener{fd, ln.Addr()}, nil
}

func (l *bareListener) Accept() (net.Conn, error) { return nil, errors.ErrUnsupported }
func (l *bareListener) Close() error              { return syscall.Close(l.fd) }
func (l *bareListener) Addr() net.Addr            { return l.addr }

// SyscallConn implements syscall.Conn.
func (l *bareListener) SyscallConn() (syscall.RawConn, error) { return bareConn(l.fd), nil }

// bareConn gives access to a descriptor and does no waiting.
type bareConn int

func (c bareConn) Control(f func(uintptr)) error  { f(uintptr(c)); return nil }
func (c bareConn) Read(func(uintptr) bool) error  { return errors.ErrUnsupported }
func (c bareConn) Write(func(uintptr) bool) error { return errors.ErrUnsupported }
