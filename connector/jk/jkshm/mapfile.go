package jkshm

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// Map is the text of one map file (JkMountFile), published by the master for
// the children, who do not read files.
type Map struct {
	seg    *Segment
	index  int
	size   int
	head   []atomic.Uint64
	copies [2][]atomic.Uint64
}

func (m *Map) init(s *Segment, i, size int, w []atomic.Uint64) {
	n := (len(w) - mapHead) / 2
	*m = Map{
		seg: s, index: i, size: size, head: w[:mapHead],
		copies: [2][]atomic.Uint64{w[mapHead : mapHead+n], w[mapHead+n:]},
	}
}

// Size is the most bytes a text may have.
func (m *Map) Size() int { return m.size }

// Publish makes data the text, of a file last changed at mtime (Unix ns). It is
// an error, and the old text stays, when it is larger than Size. Only one
// goroutine of the master calls it.
func (m *Map) Publish(data []byte, mtime int64) error {
	if len(data) > m.size {
		return fmt.Errorf("jkshm: map file %d: %d bytes are more than the %d that were reserved", m.index, len(data), m.size)
	}
	g := m.head[mapSeq].Load() + 1
	if g == 0 {
		g = 2 // 0 is "nothing was published"
	}
	c := m.copies[g&1]
	for i := 0; len(data)-i*wordSize > 0; i++ {
		var b [wordSize]byte
		copy(b[:], data[i*wordSize:])
		c[i].Store(binary.LittleEndian.Uint64(b[:]))
	}
	m.head[mapLength+g&1].Store(uint64(len(data)))
	m.head[mapTime+g&1].Store(uint64(mtime))
	m.head[mapSeq].Store(g)
	m.seg.edits.Add(1)
	return nil
}

// Generation changes with every Publish; 0: there was none. One atomic load.
func (m *Map) Generation() uint64 { return m.head[mapSeq].Load() }

// Load appends the text to dst and returns it with its mtime and generation. ok
// is false, and dst unchanged, when nothing was published or when texts came
// faster than they could be copied.
func (m *Map) Load(dst []byte) (text []byte, mtime int64, generation uint64, ok bool) {
	for range attempts {
		g := m.head[mapSeq].Load()
		if g == 0 {
			break
		}
		c := m.copies[g&1]
		n := int(min(m.head[mapLength+g&1].Load(), uint64(m.size)))
		mtime = int64(m.head[mapTime+g&1].Load())
		text = dst
		for i := 0; i < n; i += wordSize {
			var b [wordSize]byte
			binary.LittleEndian.PutUint64(b[:], c[i/wordSize].Load())
			text = append(text, b[:min(wordSize, n-i)]...)
		}
		if m.head[mapSeq].Load() == g {
			return text, mtime, g, true
		}
	}
	return dst, 0, 0, false
}
