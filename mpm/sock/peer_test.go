//go:build linux || freebsd

package sock

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestPeerUID(t *testing.T) {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.DialUnix("unix", nil, ln.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := ln.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, end := range map[string]*net.UnixConn{"client": c, "server": s} {
		if uid, err := PeerUID(end); err != nil || uid != os.Geteuid() {
			t.Errorf("%s sees user %d, %v, want %d", name, uid, err, os.Geteuid())
		}
	}
	s.Close()
	if uid, err := PeerUID(s); err == nil {
		t.Errorf("closed: user %d, want an error", uid)
	}
}
