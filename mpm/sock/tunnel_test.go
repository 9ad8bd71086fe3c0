//go:build unix

package sock

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// tunnelled is a tunnel between two connections of a kind, and what it returned.
type tunnelled struct {
	a, b           *net.TCPConn // the peers
	sent, received int64
	err            error
	doneC          chan struct{}
}

func startTunnel(t *testing.T, toPeer, toHere string, idle time.Duration, f func(t *testing.T, tun *tunnelled)) {
	kinds(t, func(t *testing.T, here Conn, a *net.TCPConn, _ func()) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		dialed, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer dialed.Close()
		conn, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fd := dup(t, conn.(*net.TCPConn))
		conn.Close()
		var there Conn
		if _, ok := here.(*Blocking); ok {
			there = NewBlocking(fd, nil)
		} else {
			there = Accepted{FD: fd}.Polled()
		}
		tun := &tunnelled{a: a, b: dialed.(*net.TCPConn), doneC: make(chan struct{})}
		go func() {
			tun.sent, tun.received, tun.err = here.Tunnel(there, []byte(toPeer), []byte(toHere), idle)
			here.Close()
			there.Close()
			close(tun.doneC)
		}()
		end := time.Now().Add(20 * time.Second)
		_ = tun.a.SetDeadline(end)
		_ = tun.b.SetDeadline(end)
		f(t, tun)
		tun.a.Close()
		tun.b.Close()
		<-tun.doneC
	})
}

// TestTunnel: what has come before goes first, ends are passed on one by one.
func TestTunnel(t *testing.T) {
	startTunnel(t, "early", "first", 0, func(t *testing.T, tun *tunnelled) {
		want := func(c *net.TCPConn, text string) {
			t.Helper()
			b := make([]byte, len(text))
			if _, err := io.ReadFull(c, b); err != nil || string(b) != text {
				t.Fatalf("%q, %v, want %q", b, err, text)
			}
		}
		want(tun.b, "early")
		want(tun.a, "first")
		io.WriteString(tun.a, "there")
		want(tun.b, "there")
		io.WriteString(tun.b, "and back")
		want(tun.a, "and back")
		tun.a.CloseWrite()
		if b, err := io.ReadAll(tun.b); err != nil || len(b) != 0 {
			t.Errorf("after the end: %q, %v", b, err)
		}
		io.WriteString(tun.b, "more")
		want(tun.a, "more")
		tun.b.CloseWrite()
		if b, err := io.ReadAll(tun.a); err != nil || len(b) != 0 {
			t.Errorf("after the end: %q, %v", b, err)
		}
		<-tun.doneC
		if tun.sent != 10 || tun.received != 17 || tun.err != nil {
			t.Errorf("%d sent, %d received, %v", tun.sent, tun.received, tun.err)
		}
	})
}

// TestTunnelFull: both sides send more than is buffered before either reads.
func TestTunnelFull(t *testing.T) {
	data := make([]byte, 8<<20)
	_, _ = rand.Read(data)
	startTunnel(t, "", "", time.Minute, func(t *testing.T, tun *tunnelled) {
		for _, c := range []*net.TCPConn{tun.a, tun.b} {
			go func() {
				_, _ = c.Write(data)
				_ = c.CloseWrite()
			}()
		}
		time.Sleep(50 * time.Millisecond) // until all is full
		for _, c := range []*net.TCPConn{tun.b, tun.a} {
			if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, data) {
				t.Errorf("got %d bytes of %d, %v", len(got), len(data), err)
			}
		}
		<-tun.doneC
		if tun.sent != int64(len(data)) || tun.received != int64(len(data)) || tun.err != nil {
			t.Errorf("%d sent, %d received, %v", tun.sent, tun.received, tun.err)
		}
	})
}

// TestTunnelReset: a side that breaks ends both.
func TestTunnelReset(t *testing.T) {
	startTunnel(t, "", "", 0, func(t *testing.T, tun *tunnelled) {
		_ = tun.b.SetLinger(0)
		tun.b.Close()
		<-tun.doneC
		if tun.err == nil {
			t.Error("no error")
		}
	})
}

// TestTunnelIdle: nothing from either side for the time is the end.
func TestTunnelIdle(t *testing.T) {
	startTunnel(t, "", "", 30*time.Millisecond, func(t *testing.T, tun *tunnelled) {
		<-tun.doneC
		if !errors.Is(tun.err, os.ErrDeadlineExceeded) {
			t.Errorf("%v, want the end of the time", tun.err)
		}
	})
}

// TestTunnelClosed: another goroutine closes one of the connections.
func TestTunnelClosed(t *testing.T) {
	c, _ := pair(t)
	d, _ := pair(t)
	doneC := make(chan error)
	go func() {
		_, _, err := c.Tunnel(d, nil, nil, 0)
		doneC <- err
	}()
	time.Sleep(10 * time.Millisecond) // in the tunnel, as a rule
	c.Close()
	if err := <-doneC; err == nil {
		t.Error("no error")
	}
	if _, _, err := c.Tunnel(nil, nil, nil, 0); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("with nothing: %v", err)
	}
}
