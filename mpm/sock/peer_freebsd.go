package sock

import "golang.org/x/sys/unix"

// solLocal is SOL_LOCAL of sys/un.h.
const solLocal = 0

func peer(fd int) (uid int, err error) {
	c, err := unix.GetsockoptXucred(fd, solLocal, unix.LOCAL_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
