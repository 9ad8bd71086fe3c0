// Package sheet keeps a text in shared memory of which there is always one
// complete copy: a writer fills the one that is not valid and then makes it the
// valid one. A writer that dies on the way has changed nothing.
package sheet

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

const wordSize = 8

// Words before the two copies.
const (
	wordSeq    = 0 // its lowest bit tells which copy is valid; 0: nothing was written
	wordLength = 1 // of both, bytes
	wordTime   = 3 // of both

	head = 16
)

// Sheet is access to one text. Read and Generation may be called at any time;
// one goroutine of all processes at a time may call Write.
type Sheet struct {
	head   []atomic.Uint64
	copies [2][]atomic.Uint64
	room   int
}

// Words is how many words of memory a text of at most room bytes needs.
func Words(room int) int { return head + 2*((room+wordSize-1)/wordSize) }

// New gives access to w, which has Words(room) words or more.
func New(w []atomic.Uint64, room int) Sheet {
	n := (len(w) - head) / 2
	return Sheet{head: w[:head], copies: [2][]atomic.Uint64{w[head : head+n], w[head+n:]}, room: room}
}

// Room is the most bytes a text may have.
func (s *Sheet) Room() int { return s.room }

// Write makes data the text, with a time that means what the caller likes. It
// is an error, and the old text stays, when it is larger than Room.
func (s *Sheet) Write(data []byte, time int64) error {
	if len(data) > s.room {
		return fmt.Errorf("%d bytes are more than the %d that were reserved", len(data), s.room)
	}
	seq := s.head[wordSeq].Load() + 1
	if seq == 0 {
		seq = 2
	}
	c := s.copies[seq&1]
	for i := 0; i*wordSize < len(data); i++ {
		var b [wordSize]byte
		copy(b[:], data[i*wordSize:])
		c[i].Store(binary.LittleEndian.Uint64(b[:]))
	}
	s.head[wordLength+seq&1].Store(uint64(len(data)))
	s.head[wordTime+seq&1].Store(uint64(time))
	s.head[wordSeq].Store(seq)
	return nil
}

// Generation changes with every Write; 0: there was none. One atomic load.
func (s *Sheet) Generation() uint64 { return s.head[wordSeq].Load() }

// attempts is how often a reader whom a writer overtook tries again.
const attempts = 100

// Read appends the text to dst and returns it with its time and generation. ok
// is false, and dst unchanged, when nothing was written or when texts came
// faster than they could be copied. Whatever the memory holds, no more than Room
// is appended.
func (s *Sheet) Read(dst []byte) (text []byte, time int64, generation uint64, ok bool) {
	for range attempts {
		g := s.head[wordSeq].Load()
		if g == 0 {
			break
		}
		c := s.copies[g&1]
		n := int(min(s.head[wordLength+g&1].Load(), uint64(s.room)))
		time, text = int64(s.head[wordTime+g&1].Load()), dst
		for i := 0; i < n; i += wordSize {
			var b [wordSize]byte
			binary.LittleEndian.PutUint64(b[:], c[i/wordSize].Load())
			text = append(text, b[:min(wordSize, n-i)]...)
		}
		if s.head[wordSeq].Load() == g {
			return text, time, g, true
		}
	}
	return dst, 0, 0, false
}
