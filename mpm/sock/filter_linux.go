package sock

import "golang.org/x/sys/unix"

// deferred is how long the kernel waits for the first byte, in seconds;
// Apache's value. Then the connection is accepted without it.
const deferred = 30

func setFilter(fd int, f Filter) error {
	seconds := deferred
	if f == FilterNone {
		seconds = 0
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, seconds)
}
