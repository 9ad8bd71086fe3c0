package sock

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestFilter(t *testing.T) {
	fd := listenTCP(t)
	for _, tt := range []struct {
		f    Filter
		want bool
	}{{FilterDefault, true}, {FilterHTTP, true}, {FilterNone, false}, {FilterData, true}, {FilterData, true}, {FilterNone, false}, {FilterDefault, true}} {
		if err := SetFilter(fd, tt.f); err != nil {
			t.Fatalf("%s: %v", tt.f, err)
		}
		// The kernel makes whole retransmissions of the seconds.
		n, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT)
		if err != nil || (n > 0) != tt.want {
			t.Errorf("%s: TCP_DEFER_ACCEPT is %d, %v; want it set: %t", tt.f, n, err, tt.want)
		}
	}
}
