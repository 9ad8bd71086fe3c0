//go:build unix

package sock

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// DialOptions are the properties of a connection to a back end.
type DialOptions struct {
	Timeout   time.Duration // for the connect; 0 = the kernel's
	KeepAlive bool          // SO_KEEPALIVE (mod_jk socket_keepalive)
	Buffer    int           // SO_SNDBUF and SO_RCVBUF in bytes; 0 = the kernel's (mod_jk socket_buffer)
	Source    netip.Addr    // local address to bind to; invalid = any (mod_jk source)
}

// DialFunc connects to one numeric address.
type DialFunc func(addr netip.AddrPort, o DialOptions) (Conn, error)

var (
	_ DialFunc = DialBlocking
	_ DialFunc = DialPolled
)

// DialBlocking connects for a prefork child.
func DialBlocking(addr netip.AddrPort, o DialOptions) (Conn, error) {
	family := unix.AF_INET
	if addr.Addr().Is6() && !addr.Addr().Is4In6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := connect(fd, addr, o); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return NewBlocking(fd, nil), nil
}

func connect(fd int, addr netip.AddrPort, o DialOptions) error {
	setOptions(fd, o)
	if o.Source.IsValid() {
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(o.Source, 0))); err != nil {
			return os.NewSyscallError("bind", err)
		}
	}
	return connectTo(fd, sockaddr(addr), o.Timeout)
}

// connectTo connects a non-blocking socket and waits for that, without limit
// when timeout is 0.
func connectTo(fd int, addr unix.Sockaddr, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	err := unix.Connect(fd, addr)
	if err == nil {
		return nil
	}
	if err != unix.EINPROGRESS && err != unix.EINTR {
		return os.NewSyscallError("connect", err)
	}
	p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		ms := -1
		if timeout > 0 {
			ms = int(max(0, (time.Until(deadline)+time.Millisecond-1)/time.Millisecond))
		}
		n, err := unix.Poll(p[:], ms)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return os.NewSyscallError("poll", err)
		}
		if n == 0 {
			return &net.OpError{Op: "connect", Net: "tcp", Err: os.ErrDeadlineExceeded}
		}
		break
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	if err != nil {
		return os.NewSyscallError("connect", err)
	}
	return nil
}

// setOptions asks for what the administrator asked for; a kernel that refuses
// a size keeps its own, as it would have without the request.
func setOptions(fd int, o DialOptions) {
	if o.KeepAlive {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	}
	if o.Buffer > 0 {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, o.Buffer)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, o.Buffer)
	}
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	ip := a.Addr().Unmap()
	if ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16(), ZoneId: zone(ip)}
}

func zone(ip netip.Addr) uint32 {
	if ip.Zone() == "" {
		return 0
	}
	if i, err := net.InterfaceByName(ip.Zone()); err == nil {
		return uint32(i.Index)
	}
	return 0
}

// DialPolled connects for a worker child.
func DialPolled(addr netip.AddrPort, o DialOptions) (Conn, error) {
	d := net.Dialer{Timeout: o.Timeout, KeepAlive: -1}
	if o.Source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(o.Source, 0))
	}
	c, err := d.Dial("tcp", addr.String())
	if err != nil {
		return nil, err
	}
	p, err := newPolled(c.(*net.TCPConn))
	if err != nil {
		return nil, err
	}
	_ = p.raw.Control(func(fd uintptr) { setOptions(int(fd), o) })
	return p, nil
}
