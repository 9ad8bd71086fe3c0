//go:build unix

package sock

import (
	"encoding/binary"
	"io"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxIovecs is the smallest IOV_MAX of the supported kernels.
const maxIovecs = 1024

// appendIovecs adds the non-empty buffers of v.
func appendIovecs(iov []unix.Iovec, v [][]byte) []unix.Iovec {
	for _, b := range v {
		if len(b) == 0 {
			continue
		}
		e := unix.Iovec{Base: &b[0]}
		e.SetLen(len(b))
		iov = append(iov, e)
	}
	return iov
}

// advance drops the first n bytes.
func advance(iov []unix.Iovec, n int) []unix.Iovec {
	for len(iov) > 0 && n >= int(iov[0].Len) {
		n -= int(iov[0].Len)
		iov = iov[1:]
	}
	if n > 0 {
		rest := unsafe.Slice(iov[0].Base, int(iov[0].Len))[n:]
		iov[0].Base = &rest[0]
		iov[0].SetLen(len(rest))
	}
	return iov
}

// The following are system calls the scheduler isn't told of. They must not
// wait for long: the descriptor is non-blocking, or has a kernel time-out, or
// the call has one. A call that was interrupted counts as one that found
// nothing (EAGAIN): the caller looks at the clock before it tries again.

func again(e syscall.Errno) error {
	if e == unix.EINTR {
		return unix.EAGAIN
	}
	return e
}

func rawRead(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}

// rawRecv reads without waiting, whatever the mode of the descriptor.
func rawRecv(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}

func rawWrite(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}

// rawSend writes without waiting, whatever the mode of the descriptor.
func rawSend(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}

func rawWritev(fd int, iov []unix.Iovec) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&iov[0])), uintptr(min(len(iov), maxIovecs)))
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}

// peek tells whether a read would return at once, and with io.EOF that it would
// find the end. It never waits, so the scheduler need not know of it.
func peek(fd int) (bool, error) {
	var b [1]byte
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1,
			unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
		switch {
		case e == 0 && n == 0:
			return true, io.EOF
		case e == 0:
			return true, nil
		case e == unix.EINTR:
		case e == unix.EAGAIN:
			return false, nil
		default:
			return true, e
		}
	}
}

// rawAccept takes a connection from a listening socket in non-blocking mode. The
// address is nil for a family that names no TCP port.
func rawAccept(fd, flags int) (int, net.Addr, error) {
	var sa unix.RawSockaddrAny
	size := uint32(unsafe.Sizeof(sa))
	n, _, e := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&size)), uintptr(flags), 0, 0)
	if e != 0 {
		return -1, nil, e
	}
	return int(n), tcpAddr(&sa), nil
}

// tcpAddr is netAddr for what the kernel has written.
func tcpAddr(sa *unix.RawSockaddrAny) net.Addr {
	port := func(p *uint16) int { return int(binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(p))[:])) }
	switch sa.Addr.Family {
	case unix.AF_INET:
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return &net.TCPAddr{IP: append(net.IP(nil), a.Addr[:]...), Port: port(&a.Port)}
	case unix.AF_INET6:
		a := (*unix.RawSockaddrInet6)(unsafe.Pointer(sa))
		return &net.TCPAddr{IP: append(net.IP(nil), a.Addr[:]...), Port: port(&a.Port)}
	}
	return nil
}

// rawClose closes a connection, which is no reason to wait for one that does not
// linger or is to be reset.
func rawClose(fd int) error {
	if _, _, e := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0); e != 0 {
		return e
	}
	return nil
}

// abort sets SO_LINGER to zero.
func abort(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// netAddr converts what accept, getsockname and getpeername return. It is
// never nil.
func netAddr(sa unix.Sockaddr) net.Addr {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Net: "unix", Name: a.Name}
	}
	return &net.TCPAddr{} // the peer has left before it was looked at
}
