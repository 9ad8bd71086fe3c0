//go:build unix

package sock

import "syscall"

// PeerUID is the effective user of the process at the other end of a connected
// Unix socket, as of when it connected or began to listen. Where the system
// does not tell, the error is errors.ErrUnsupported.
func PeerUID(c syscall.Conn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var peerErr error
	err = raw.Control(func(fd uintptr) { uid, peerErr = peer(int(fd)) })
	if err == nil {
		err = peerErr
	}
	if err != nil {
		return -1, err
	}
	return uid, nil
}
