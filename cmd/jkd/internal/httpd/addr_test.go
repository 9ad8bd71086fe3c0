//go:build unix

package httpd

import (
	"net"
	"testing"
)

// TestAddresses: what the front takes from the two ends of a connection.
func TestAddresses(t *testing.T) {
	tcp := func(ip string, port int) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	unix := &net.UnixAddr{Net: "unix", Name: "/run/jkd.sock"}
	for _, tt := range []struct {
		remote, local              net.Addr
		serverPort                 int // of ServerName
		remoteAddr, port, localAdr string
		localPort                  int
		client                     string
	}{
		{tcp("192.0.2.1", 4711), tcp("192.0.2.2", 8080), 443, "192.0.2.1", "4711", "192.0.2.2", 8080, "192.0.2.1"},
		{tcp("::ffff:192.0.2.1", 4711), tcp("2001:db8::1", 80), 0, "192.0.2.1", "4711", "2001:db8::1", 80, "192.0.2.1"},
		{&net.TCPAddr{}, tcp("192.0.2.2", 80), 0, "0.0.0.0", "0", "192.0.2.2", 80, "invalid IP"}, // it has left
		{&net.UnixAddr{Net: "unix"}, unix, 0, "unix:", "0", "unix:", 80, "invalid IP"},
		{&net.UnixAddr{Net: "unix"}, unix, 443, "unix:", "0", "unix:", 443, "invalid IP"},
	} {
		x := &exchange{}
		x.setAddrs(tcp("192.0.2.9", 9), tcp("192.0.2.9", 9), 0) // of the connection before
		port := x.setAddrs(tt.remote, tt.local, tt.serverPort)
		if string(x.RemoteAddr) != tt.remoteAddr || string(x.RemotePort) != tt.port || string(x.LocalAddr) != tt.localAdr || port != tt.localPort || x.client.String() != tt.client {
			t.Errorf("%v to %v: %s %s %s %d %s", tt.remote, tt.local, x.RemoteAddr, x.RemotePort, x.LocalAddr, port, x.client)
		}
		// Who names no host means the address.
		x.reset(false, port)
		x.serverName(nil, &Options{}, port)
		if want := tt.localAdr; string(x.ServerName) != want && (want != "unix:" || string(x.ServerName) != "127.0.0.1") || x.ServerPort != port {
			t.Errorf("%v to %v: the server is %s:%d", tt.remote, tt.local, x.ServerName, x.ServerPort)
		}
		x.serverName([]byte("www.example.test"), &Options{}, port)
		if string(x.ServerName) != "www.example.test" || x.ServerPort != port {
			t.Errorf("%v to %v: the server is %s:%d", tt.remote, tt.local, x.ServerName, x.ServerPort)
		}
	}
}
