package sock

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// filterSize is that of struct accept_filter_arg: the name in 16 bytes, and
// an argument that these filters do not take.
const filterSize = 256

func setFilter(fd int, f Filter) error {
	want, module := "", ""
	switch f {
	case FilterHTTP, FilterDefault:
		want, module = "httpready", "accf_http"
	case FilterData:
		want, module = "dataready", "accf_data"
	}
	// An error means that there is none.
	has, err := unix.GetsockoptString(fd, unix.SOL_SOCKET, unix.SO_ACCEPTFILTER)
	if err == nil && has != "" {
		if has == want {
			return nil
		}
		// No value: without one.
		if err := unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_ACCEPTFILTER, ""); err != nil {
			return err
		}
	}
	if want == "" {
		return nil
	}
	var arg [filterSize]byte
	copy(arg[:], want)
	err = unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_ACCEPTFILTER, string(arg[:]))
	if errors.Is(err, unix.ENOENT) {
		if f == FilterDefault {
			return nil
		}
		return fmt.Errorf("the kernel does not have it: kldload %s, on the host if this is a jail", module)
	}
	return err
}
