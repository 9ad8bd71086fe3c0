//go:build unix

package mpm

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// On a control socket a frame is one byte of kind, four bytes of payload
// length (all numbers little-endian) and the payload. At the start the master
// sends hello and snapshot; after that only orders, whose payload is empty.
type frameKind uint8

const (
	frameHello    frameKind = 'H' // facts a child needs to attach
	frameSnapshot frameKind = 'C' // the configuration, opaque here
	frameGraceful frameKind = 'G' // Order Graceful
	frameStop     frameKind = 'S' // Order Stop
	frameGo       frameKind = 'A' // Order Go
)

const (
	frameHead = 5
	// MaxSnapshot bounds the configuration that children are sent.
	MaxSnapshot = 16 << 20
	maxHello    = 64 << 10
	maxGroups   = 4096
	// maxFiles bounds listeners and log files each.
	maxFiles    = 512
	maxSegments = 16
	maxSegment  = 1 << 40
)

// limit is the longest payload of a kind; unknown kinds are an error.
func (k frameKind) limit() (int, error) {
	switch k {
	case frameHello:
		return maxHello, nil
	case frameSnapshot:
		return MaxSnapshot, nil
	case frameGraceful, frameStop, frameGo:
		return 0, nil
	}
	return 0, fmt.Errorf("mpm: control message of unknown kind %#x", uint8(k))
}

// appendFrame adds a frame to b.
func appendFrame(b []byte, k frameKind, payload []byte) []byte {
	b = append(b, byte(k))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// decodeHead reads a frame's kind and length and checks both.
func decodeHead(b [frameHead]byte) (frameKind, int, error) {
	k := frameKind(b[0])
	limit, err := k.limit()
	if err != nil {
		return 0, 0, err
	}
	n := binary.LittleEndian.Uint32(b[1:])
	if uint64(n) > uint64(limit) {
		return 0, 0, fmt.Errorf("mpm: control message %q of %d bytes, at most %d are allowed", byte(k), n, limit)
	}
	return k, int(n), nil
}

// Order is what a child is told.
type Order uint8

const (
	// OrderGraceful: accept nothing more, finish running requests, serve one
	// more request on each connection that is kept alive, leave.
	OrderGraceful Order = iota + 1
	// OrderStop: close everything and leave now.
	OrderStop
	// OrderGo: accept connections from now on. It comes once, before all
	// others, or never.
	OrderGo
)

func (o Order) String() string {
	switch o {
	case OrderGraceful:
		return "graceful"
	case OrderStop:
		return "stop"
	case OrderGo:
		return "go"
	}
	return "unknown"
}

// frame is the order on the wire.
func (o Order) frame() []byte {
	switch o {
	case OrderStop:
		return appendFrame(nil, frameStop, nil)
	case OrderGo:
		return appendFrame(nil, frameGo, nil)
	}
	return appendFrame(nil, frameGraceful, nil)
}

// decodeOrder reads an order; anything else than an order is an error.
func decodeOrder(b [frameHead]byte) (Order, error) {
	k, _, err := decodeHead(b)
	if err != nil {
		return 0, err
	}
	switch k {
	case frameGraceful:
		return OrderGraceful, nil
	case frameStop:
		return OrderStop, nil
	case frameGo:
		return OrderGo, nil
	}
	return 0, fmt.Errorf("mpm: control message %q in the place of an order", byte(k))
}

// helloVersion changes with the meaning of hello or of the descriptors.
const helloVersion = 3

// hello is what a child has to know before it can attach.
type hello struct {
	Build       uint64
	Server      uint32
	Generation  uint32
	ServerLimit uint32
	ThreadLimit uint32
	BoardSize   uint64
	Segments    []uint64 // sizes; 0: its descriptor is a placeholder
	Listeners   uint32
	LogFiles    uint32
	confinement
}

func (h *hello) append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, helloVersion)
	b = le.AppendUint64(b, h.Build)
	for _, v := range []uint32{h.Server, h.Generation, h.ServerLimit, h.ThreadLimit} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint64(b, h.BoardSize)
	b = le.AppendUint32(b, uint32(len(h.Segments)))
	for _, n := range h.Segments {
		b = le.AppendUint64(b, n)
	}
	b = le.AppendUint32(b, h.Listeners)
	b = le.AppendUint32(b, h.LogFiles)
	for _, path := range []string{h.Chroot, h.Cores} {
		b = le.AppendUint32(b, uint32(len(path)))
		b = append(b, path...)
	}
	if h.Credential == nil {
		return append(b, 0)
	}
	b = append(b, 1)
	b = le.AppendUint32(b, h.Credential.UID)
	b = le.AppendUint32(b, h.Credential.GID)
	b = le.AppendUint32(b, uint32(len(h.Credential.Groups)))
	for _, g := range h.Credential.Groups {
		b = le.AppendUint32(b, g)
	}
	return b
}

var errShortHello = errors.New("mpm: hello is cut short")

// decodeHello reads all of b. A hello of another version or build is decoded
// only so far, with the rest zero: the caller compares them first.
func decodeHello(b []byte) (h hello, version uint32, err error) {
	r := reader{b: b}
	version = r.u32()
	h.Build = r.u64()
	if r.short {
		return hello{}, 0, errShortHello
	}
	if version != helloVersion {
		return h, version, nil
	}
	h.Server, h.Generation, h.ServerLimit, h.ThreadLimit = r.u32(), r.u32(), r.u32(), r.u32()
	h.BoardSize = r.u64()
	segments := r.u32()
	if segments > maxSegments {
		return hello{}, 0, fmt.Errorf("mpm: hello names %d segments", segments)
	}
	for range segments {
		n := r.u64()
		if n > maxSegment {
			return hello{}, 0, fmt.Errorf("mpm: hello names a segment of %d bytes", n)
		}
		h.Segments = append(h.Segments, n)
	}
	h.Listeners, h.LogFiles = r.u32(), r.u32()
	for _, path := range []*string{&h.Chroot, &h.Cores} {
		n := r.u32()
		if n > maxPath {
			return hello{}, 0, fmt.Errorf("mpm: hello names a path of %d bytes", n)
		}
		*path = string(r.take(int(n)))
	}
	if r.u8() == 1 {
		c := &Credential{UID: r.u32(), GID: r.u32()}
		n := r.u32()
		if n > maxGroups {
			return hello{}, 0, fmt.Errorf("mpm: hello names %d groups", n)
		}
		for range n {
			c.Groups = append(c.Groups, r.u32())
		}
		h.Credential = c
	}
	switch {
	case r.short:
		return hello{}, 0, errShortHello
	case len(r.b) != 0:
		return hello{}, 0, fmt.Errorf("mpm: hello has %d bytes too many", len(r.b))
	case h.Listeners > maxFiles || h.LogFiles > maxFiles:
		return hello{}, 0, fmt.Errorf("mpm: hello names %d listeners and %d log files", h.Listeners, h.LogFiles)
	case h.Server >= h.ServerLimit:
		return hello{}, 0, fmt.Errorf("mpm: hello names server %d of %d", h.Server, h.ServerLimit)
	case h.BoardSize > maxSegment:
		return hello{}, 0, fmt.Errorf("mpm: hello names a scoreboard of %d bytes", h.BoardSize)
	}
	return h, version, nil
}

// reader takes numbers off the front of b; past the end it yields zeros and
// remembers that it did.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.short, r.b = true, nil
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}
