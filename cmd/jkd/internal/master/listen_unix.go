//go:build unix

package master

import (
	"fmt"
	"net"

	"jkd/conf"
	"jkd/mpm/sock"
)

// unixListener takes over a Unix socket, if clients still find that of the
// generation before there, or makes one, which is not found before publishUnix.
func unixListener(h *Heritage, key string, u conf.ListenUnix) (listener, error) {
	l := listener{fd: -1, addr: &net.UnixAddr{Name: u.Path, Net: "unix"}, unix: u}
	if before := h.socket(u.Path); before.There() {
		if l.fd = h.take(key); l.fd >= 0 {
			l.file, l.shared = before, true
			return l, nil
		}
	}
	if err := sock.VacantUnix(u.Path); err != nil {
		return l, err
	}
	ln, file, err := sock.ListenUnix(u.Path, u.Mode, u.UID, u.GID)
	if err != nil {
		return l, err
	}
	defer ln.Close()
	if l.fd, err = dup(ln); err != nil {
		file.Remove()
		return l, err
	}
	l.file = file
	return l, nil
}

// publishUnix lets clients find the Unix sockets that were made, and gives those
// that were taken over the mode and owner that they should have now.
func publishUnix(ls []listener) error {
	for _, l := range ls {
		if l.file.Path == "" {
			continue
		}
		var err error
		if l.shared {
			err = l.file.Change(l.unix.Mode, l.unix.UID, l.unix.GID)
		} else if err = sock.VacantUnix(l.file.Path); err == nil { // still, or two have started at once
			err = l.file.Publish()
		}
		if err != nil {
			return fmt.Errorf("Listen %s: %w", l.unix, err)
		}
	}
	return nil
}

// removeUnix removes the files of Unix sockets, unless another generation listens
// there.
func removeUnix(ls []listener) {
	for _, l := range ls {
		if l.file.Path != "" && !l.shared {
			l.file.Remove()
		}
	}
}
