package sock

import "golang.org/x/sys/unix"

func peer(fd int) (uid int, err error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(c.Uid), nil
}
