package board

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"jkd/connector/sheet"
)

const (
	wordSize = 8

	magic   = 0x4452424a444b4a0a // tells a board from other memory
	version = 1
)

// Words of the header. Every child reads generation with each request, and
// hardly anybody ever writes it; the rest has a line of its own.
const (
	wordMagic      = 0 // written last
	wordVersion    = 1
	wordServers    = 2
	wordText       = 3 // bytes of room
	wordEdits      = 4
	wordToken      = 6 // two words
	wordGeneration = 16

	wordAsked    = 32
	wordAnswered = 33
	wordLock     = 34 // server plus one that edits, one more for the master, 0 for nobody

	headWords = 48
)

// Bounds of what [Size] takes.
const (
	MaxServers = 200000
	MaxText    = 16 << 20
	// EditsRoom is the most bytes that all edits together can have.
	EditsRoom = 64 << 10
)

// Board is access to the memory. Its methods may be called concurrently.
type Board struct {
	head        []atomic.Uint64
	servers     int
	text, edits sheet.Sheet
	sleep       func(time.Duration)
}

// Size is the number of bytes for so many children and a text of so many
// bytes.
func Size(servers, text int) (int, error) {
	if servers < 1 || servers > MaxServers || text < 1 || text > MaxText {
		return 0, fmt.Errorf("board: %d servers and a text of %d bytes are out of bounds", servers, text)
	}
	return (headWords + sheet.Words(text) + sheet.Words(EditsRoom)) * wordSize, nil
}

// Format makes zeroed memory a board. Only the master calls it.
func Format(mem []byte, servers, text int) (*Board, error) {
	size, err := Size(servers, text)
	if err != nil {
		return nil, err
	}
	if err := check(mem, size); err != nil {
		return nil, err
	}
	h := words(mem)[:headWords]
	h[wordVersion].Store(version)
	h[wordServers].Store(uint64(servers))
	h[wordText].Store(uint64(text))
	h[wordEdits].Store(EditsRoom)
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return nil, err
	}
	h[wordToken].Store(binary.LittleEndian.Uint64(token[:8]))
	h[wordToken+1].Store(binary.LittleEndian.Uint64(token[8:]))
	h[wordMagic].Store(magic)
	return newBoard(mem, servers, text), nil
}

// Attach is for a child, and for the master of the generation after, which only
// reads: mem was made by Format or holds anything, then it is an error that says
// what does not fit.
func Attach(mem []byte) (*Board, error) {
	if err := check(mem, headWords*wordSize); err != nil {
		return nil, err
	}
	h := words(mem)[:headWords]
	servers, text := h[wordServers].Load(), h[wordText].Load()
	switch {
	case h[wordMagic].Load() != magic:
		return nil, fmt.Errorf("board: magic is %#x, not %#x", h[wordMagic].Load(), uint64(magic))
	case h[wordVersion].Load() != version:
		return nil, fmt.Errorf("board: version is %d, not %d", h[wordVersion].Load(), version)
	case h[wordEdits].Load() != EditsRoom:
		return nil, fmt.Errorf("board: there is room for %d bytes of edits, not %d", h[wordEdits].Load(), EditsRoom)
	case servers > MaxServers || text > MaxText:
		return nil, fmt.Errorf("board: %d servers and a text of %d bytes are out of bounds", servers, text)
	}
	size, err := Size(int(servers), int(text))
	if err != nil {
		return nil, err
	}
	if err := check(mem, size); err != nil {
		return nil, err
	}
	return newBoard(mem, int(servers), int(text)), nil
}

func check(mem []byte, size int) error {
	switch {
	case len(mem) < size || len(mem) == 0:
		return fmt.Errorf("board: memory of %d bytes is too small for %d", len(mem), size)
	case uintptr(unsafe.Pointer(&mem[0]))%wordSize != 0:
		return errors.New("board: the memory is not aligned")
	}
	return nil
}

// words is memory that is aligned, as words.
func words(mem []byte) []atomic.Uint64 {
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&mem[0])), len(mem)/wordSize)
}

func newBoard(mem []byte, servers, text int) *Board {
	w := words(mem)
	n := headWords + sheet.Words(text)
	return &Board{
		head: w[:headWords], servers: servers, sleep: time.Sleep,
		text:  sheet.New(w[headWords:n], text),
		edits: sheet.New(w[n:n+sheet.Words(EditsRoom)], EditsRoom),
	}
}

// Token is random bytes that are the same in all processes: only who has seen
// them on the status page can tell them.
func (b *Board) Token() (t [16]byte) {
	binary.LittleEndian.PutUint64(t[:8], b.head[wordToken].Load())
	binary.LittleEndian.PutUint64(t[8:], b.head[wordToken+1].Load())
	return t
}

// Generation changes whenever children have to look at text and edits again.
// One atomic load.
func (b *Board) Generation() uint64 { return b.head[wordGeneration].Load() }

// Announce changes the generation.
func (b *Board) Announce() { b.head[wordGeneration].Add(1) }

// Publish makes data the text, of a file last changed at mtime (Unix ns), and
// announces it. It is an error, and the old text stays, when there is no room
// for it. Only one goroutine of the master calls it.
func (b *Board) Publish(data []byte, mtime int64) error {
	if err := b.text.Write(data, mtime); err != nil {
		return fmt.Errorf("board: text: %w", err)
	}
	b.Announce()
	return nil
}

// Begin makes data the text as Publish does, without announcing it: it is what
// the children start with anyway, written down for the generation that follows.
// Only the master calls it, before there are children.
func (b *Board) Begin(data []byte) error {
	if err := b.text.Write(data, 0); err != nil {
		return fmt.Errorf("board: text: %w", err)
	}
	return nil
}

// InheritToken takes over the token of another board, which may hold anything, so
// that a page made by the generation before can still be used. Only the master
// calls it, before there are children.
func (b *Board) InheritToken(from *Board) {
	if from.Token() == ([16]byte{}) {
		return
	}
	for i := range 2 {
		b.head[wordToken+i].Store(from.head[wordToken+i].Load())
	}
}

// Room is the most bytes a text may have.
func (b *Board) Room() int { return b.text.Room() }

// Text appends the text to dst and returns it with its mtime. ok is false when
// there was no Publish yet, or when texts came faster than they could be
// copied.
func (b *Board) Text(dst []byte) (text []byte, mtime int64, ok bool) {
	text, mtime, _, ok = b.text.Read(dst)
	return text, mtime, ok
}

// Edits appends the edits to dst; none is no error.
func (b *Board) Edits(dst []byte) []byte {
	out, _, _, _ := b.edits.Read(dst)
	return out
}

// editWait is how long an edit waits for another one.
const editWait = 2 * time.Second

// Edit replaces the edits by what fn makes of them, for a server. It announces
// nothing. fn must not keep old. An error of fn is returned, and nothing has
// changed then.
func (b *Board) Edit(server int, fn func(old []byte) ([]byte, error)) error {
	if server < 0 || server >= b.servers {
		return fmt.Errorf("board: server %d of %d", server, b.servers)
	}
	return b.edit(uint64(server)+1, fn)
}

// EditAll is Edit by the master.
func (b *Board) EditAll(fn func(old []byte) ([]byte, error)) error {
	return b.edit(uint64(b.servers)+1, fn)
}

func (b *Board) edit(me uint64, fn func(old []byte) ([]byte, error)) error {
	lock := &b.head[wordLock]
	for left, pause := editWait, 100*time.Microsecond; ; left -= pause {
		holder := lock.Load()
		if (holder == 0 || holder > uint64(b.servers)+1) && lock.CompareAndSwap(holder, me) {
			break // whoever is out of range is nobody
		}
		if left <= 0 {
			if holder > uint64(b.servers) {
				return errors.New("board: the master is in the middle of an edit")
			}
			return fmt.Errorf("board: server %d is in the middle of an edit", holder-1)
		}
		b.sleep(pause)
	}
	defer lock.CompareAndSwap(me, 0)
	data, err := fn(b.Edits(nil))
	if err != nil {
		return err
	}
	if err := b.edits.Write(data, 0); err != nil {
		return fmt.Errorf("board: edits: %w", err)
	}
	return nil
}

// Reclaim frees what a child that is gone held. The master calls it after
// wait.
func (b *Board) Reclaim(server int) { b.head[wordLock].CompareAndSwap(uint64(server)+1, 0) }

// Ask asks the master to look at the file. What it returns has been answered
// when [Board.Answered] is as large.
func (b *Board) Ask() uint64 { return b.head[wordAsked].Add(1) }

// Asked is how often was asked.
func (b *Board) Asked() uint64 { return b.head[wordAsked].Load() }

// Answer tells that the file has been looked at for all who had asked until
// Asked was n.
func (b *Board) Answer(n uint64) { b.head[wordAnswered].Store(n) }

// Answered is the argument of the last Answer.
func (b *Board) Answered() uint64 { return b.head[wordAnswered].Load() }
