//go:build unix

package master

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"jkd/conf"
	"jkd/mpm/sock"
)

// endpoint is one socket to listen on. network and address are canonical, as
// an upgrade finds a socket again by these very strings.
type endpoint struct {
	network string // tcp4, tcp6 or unix
	address string
	given   string // the directive's argument
	// lenient: a failure is tolerated, as the same port is opened for IPv4
	// too and the machine may have no IPv6.
	lenient bool
	unix    conf.ListenUnix // if that is the network
}

// endpoints are those of all Listen directives.
func endpoints(list []string, unix []conf.ListenUnix) ([]endpoint, error) {
	all, err := parseListen(list)
	for _, u := range unix {
		all = append(all, endpoint{network: "unix", address: u.Path, given: u.String(), unix: u})
	}
	if err == nil && len(all) == 0 {
		err = errors.New("Listen: no listening sockets available, at least one is needed")
	}
	return all, err
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
			{network: "tcp6", address: netip.AddrPortFrom(netip.IPv6Unspecified(), port).String(), given: given, lenient: true},
			{network: "tcp4", address: netip.AddrPortFrom(netip.IPv4Unspecified(), port).String(), given: given},
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
	return endpoint{network: network, address: netip.AddrPortFrom(a, port).String(), given: given}
}

// listener is an open socket. Its descriptor is non-blocking, close-on-exec
// and not known to the runtime's poller: a poller that watches it would wake
// the master for each connection that a child accepts.
type listener struct {
	fd   int
	addr net.Addr
	key  string          // by which the next generation finds it
	unix conf.ListenUnix // the directive of a Unix socket
	file sock.UnixFile
	// shared: another generation listens there too, and more rightfully.
	shared bool
}

func share(ls []listener, shared bool) {
	for i := range ls {
		ls[i].shared = shared
	}
}

// openListeners opens all endpoints or none. Those that the generation before
// has are its sockets; h is nil if there was none.
func openListeners(h *Heritage, eps []endpoint, backlog int) (ls []listener, err error) {
	defer func() {
		if err != nil {
			removeUnix(ls)
			closeListeners(ls)
		}
	}()
	for _, ep := range eps {
		l, err := openListener(h, ep, backlog)
		if err != nil {
			if ep.lenient {
				continue
			}
			return ls, fmt.Errorf("Listen %s: %w", ep.given, err)
		}
		ls = append(ls, l)
	}
	return ls, nil
}

// shutListeners makes the kernel refuse connections although children that
// finish a request have copies of the sockets for a while yet. Linux does that
// for all copies at once; where shutdown doesn't apply to listeners, closing
// is left to the last child. Not for sockets that another generation has.
func shutListeners(ls []listener) {
	for _, l := range ls {
		if !l.shared {
			_ = syscall.Shutdown(l.fd, syscall.SHUT_RDWR)
		}
	}
}

func closeListeners(ls []listener) {
	for _, l := range ls {
		_ = syscall.Close(l.fd)
	}
}

func openListener(h *Heritage, ep endpoint, backlog int) (l listener, err error) {
	key := listenerKey(ep.network, ep.address)
	if ep.network == "unix" {
		l, err = unixListener(h, key, ep.unix)
	} else {
		if fd := h.take(key); fd >= 0 {
			l, err = adopted(fd)
			l.shared = true
		} else {
			l, err = newListener(ep.network, ep.address)
		}
		if err != nil {
			err = fmt.Errorf("could not bind to %s: %w", ep.address, err)
		}
	}
	l.key = key
	if err == nil {
		err = syscall.SetNonblock(l.fd, true)
	}
	if err == nil {
		err = sock.Backlog(l.fd, backlog)
	}
	if err != nil && l.fd > 0 {
		removeUnix([]listener{l})
		closeListeners([]listener{l})
	}
	return l, err
}

// dup copies the descriptor of c.
func dup(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var dupErr error
	err = raw.Control(func(old uintptr) { fd, dupErr = copyFD(int(old)) })
	if err == nil {
		err = dupErr
	}
	return fd, err
}

// newListener binds a socket.
func newListener(network, address string) (listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // costs more and offers nothing here
	ln, err := lc.Listen(context.Background(), network, address)
	if err != nil {
		return listener{}, sock.Cause(err)
	}
	defer ln.Close()
	fd, err := dup(ln.(*net.TCPListener))
	return listener{fd: fd, addr: ln.Addr()}, err
}
