//go:build unix

package mpm

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func sampleHello() hello {
	return hello{
		Build: 0x1122334455667788, Server: 3, Generation: 9, ServerLimit: 16, ThreadLimit: 64,
		BoardSize: 1 << 20, Segments: []uint64{4096, 0, 1 << 16}, Listeners: 2, LogFiles: 1,
		confinement: confinement{&Credential{UID: 80, GID: 81, Groups: []uint32{82, 83}}, "/var/jail", "/cores"},
	}
}

func TestHelloRoundTrip(t *testing.T) {
	plain := sampleHello()
	plain.confinement = confinement{}
	for _, h := range []hello{sampleHello(), plain} {
		b := h.append(nil)
		got, version, err := decodeHello(b)
		if err != nil || version != helloVersion || !reflect.DeepEqual(got, h) {
			t.Errorf("%+v, %d, %v", got, version, err)
		}
		// Every cut is noticed.
		for n := range b {
			if _, _, err := decodeHello(b[:n]); err == nil {
				t.Errorf("%d of %d bytes are taken for a hello", n, len(b))
			}
		}
		if _, _, err := decodeHello(append(b, 0)); err == nil {
			t.Error("a byte too many is accepted")
		}
	}
}

func TestHelloRefused(t *testing.T) {
	for name, spoil := range map[string]func(*hello){
		"server out of range": func(h *hello) { h.Server = h.ServerLimit },
		"too many listeners":  func(h *hello) { h.Listeners = maxFiles + 1 },
		"too many log files":  func(h *hello) { h.LogFiles = 1 << 31 },
		"huge scoreboard":     func(h *hello) { h.BoardSize = 1 << 50 },
		"huge segment":        func(h *hello) { h.Segments[1] = 1 << 63 },
		"too many segments":   func(h *hello) { h.Segments = make([]uint64, maxSegments+1) },
		"long path":           func(h *hello) { h.Chroot = strings.Repeat("x", maxPath+1) },
		"too many groups":     func(h *hello) { h.Credential.Groups = make([]uint32, maxGroups+1) },
	} {
		h := sampleHello()
		spoil(&h)
		if _, _, err := decodeHello(h.append(nil)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestHelloOfAnotherVersion: the version can be read whatever follows it.
func TestHelloOfAnotherVersion(t *testing.T) {
	b := append([]byte{99, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, "what a later version adds"...)
	h, version, err := decodeHello(b)
	if err != nil || version != 99 || h.Build != 0x0807060504030201 {
		t.Errorf("%+v, %d, %v", h, version, err)
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		b    [frameHead]byte
		kind frameKind
		n    int
		err  string
	}{
		{[frameHead]byte{'H', 10, 0, 0, 0}, frameHello, 10, ""},
		{[frameHead]byte{'C', 0, 0, 0, 1}, frameSnapshot, 16 << 20, ""},
		{[frameHead]byte{'C', 1, 0, 0, 1}, 0, 0, "at most"},
		{[frameHead]byte{'H', 0xff, 0xff, 0xff, 0xff}, 0, 0, "at most"},
		{[frameHead]byte{'G'}, frameGraceful, 0, ""},
		{[frameHead]byte{'S'}, frameStop, 0, ""},
		{[frameHead]byte{'A'}, frameGo, 0, ""},
		{[frameHead]byte{'A', 1}, 0, 0, "at most"},
		{[frameHead]byte{'S', 1}, 0, 0, "at most"},
		{[frameHead]byte{'x'}, 0, 0, "unknown kind"},
		{[frameHead]byte{}, 0, 0, "unknown kind"},
	} {
		k, n, err := decodeHead(c.b)
		if k != c.kind || n != c.n || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v: %q, %d, %v", c.b, byte(k), n, err)
		}
	}
}

func TestOrderRoundTrip(t *testing.T) {
	for _, o := range []Order{OrderGraceful, OrderStop, OrderGo} {
		b := o.frame()
		if len(b) != frameHead {
			t.Fatalf("%s takes %d bytes", o, len(b))
		}
		if got, err := decodeOrder([frameHead]byte(b)); got != o || err != nil {
			t.Errorf("%s became %s, %v", o, got, err)
		}
	}
	if _, err := decodeOrder([frameHead]byte{'H'}); err == nil {
		t.Error("a hello is taken for an order")
	}
}

// FuzzControl: decoding is total, bounded, and what is accepted means the same
// when it is encoded again.
func FuzzControl(f *testing.F) {
	h := sampleHello()
	f.Add(appendFrame(nil, frameHello, h.append(nil)))
	f.Add(appendFrame(nil, frameSnapshot, []byte("configuration")))
	f.Add(OrderGraceful.frame())
	f.Add(OrderStop.frame())
	f.Add(OrderGo.frame())
	f.Add([]byte{'H', 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < frameHead {
			return
		}
		head := [frameHead]byte(b)
		kind, n, err := decodeHead(head)
		if err == nil {
			if limit, err := kind.limit(); err != nil || n > limit {
				t.Fatalf("kind %q length %d", byte(kind), n)
			}
		}
		if o, err := decodeOrder(head); err == nil && n == 0 && !bytes.Equal(o.frame(), b[:frameHead]) {
			t.Fatalf("%v became %v", b[:frameHead], o.frame())
		}
		payload := b[frameHead:]
		got, version, err := decodeHello(payload)
		if err != nil || version != helloVersion {
			return
		}
		again, _, err := decodeHello(got.append(nil))
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%+v became %+v, %v", got, again, err)
		}
	})
}
