package connector

// UnixAddr stands for the addresses of a connection over a Unix socket, which
// has none, in logs and where it matters who a client is: nginx's word. It is no
// address, so that no rule about addresses has it.
const UnixAddr = "unix:"

// Numeric is addr, or 127.0.0.1 for UnixAddr: what those are told who expect an
// address. The client is on this machine.
func Numeric(addr []byte) []byte {
	if string(addr) == UnixAddr {
		return loopback
	}
	return addr
}

var loopback = []byte("127.0.0.1")
