package sock

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilter sets filters one after the other on a socket. Without the modules
// it checks that this is what is said.
func TestFilter(t *testing.T) {
	fd := listenTCP(t)
	for _, f := range []Filter{FilterHTTP, FilterHTTP, FilterData, FilterNone, FilterNone, FilterDefault, FilterData} {
		err := SetFilter(fd, f)
		if err != nil && strings.Contains(err.Error(), "kldload") {
			t.Logf("%s: %v", f, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
		if f == FilterDefault { // httpready or nothing
			continue
		}
		want := f.String()
		if f == FilterNone {
			want = ""
		}
		if has, err := unix.GetsockoptString(fd, unix.SOL_SOCKET, unix.SO_ACCEPTFILTER); has != want {
			t.Errorf("%s: the socket has %q, %v", f, has, err)
		}
	}
}
