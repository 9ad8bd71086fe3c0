package board

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// memory is aligned memory of a size.
func memory(size int) []byte {
	w := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), size)
}

// pair is a board as the master and a child have it.
func pair(t *testing.T, servers, text int) (master, child *Board, mem []byte) {
	t.Helper()
	size, err := Size(servers, text)
	if err != nil {
		t.Fatal(err)
	}
	mem = memory(size)
	if master, err = Format(mem, servers, text); err != nil {
		t.Fatal(err)
	}
	if child, err = Attach(mem); err != nil {
		t.Fatal(err)
	}
	return master, child, mem
}

func TestBoard(t *testing.T) {
	m, c, _ := pair(t, 3, 100)
	if _, _, ok := c.Text(nil); ok || c.Generation() != 0 || len(c.Edits(nil)) != 0 {
		t.Error("an empty board says something")
	}
	if m.Token() != c.Token() || m.Token() == [16]byte{} {
		t.Error("the token")
	}
	if err := m.Publish([]byte("[shm:]"), 42); err != nil {
		t.Fatal(err)
	}
	if text, mtime, ok := c.Text([]byte(">")); !ok || string(text) != ">[shm:]" || mtime != 42 || c.Generation() != 1 {
		t.Errorf("%q, %d, %v, %d", text, mtime, ok, c.Generation())
	}
	if err := m.Publish(make([]byte, 101), 43); err == nil || m.Generation() != 1 {
		t.Error("a text without room:", err)
	}
	err := c.Edit(2, func(old []byte) ([]byte, error) { return append(old, "a\n"...), nil })
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Edits(nil); string(e) != "a\n" || m.Generation() != 1 {
		t.Errorf("%q, %d", e, m.Generation())
	}
	refusal := errors.New("no")
	if err := c.Edit(2, func([]byte) ([]byte, error) { return nil, refusal }); err != refusal || string(m.Edits(nil)) != "a\n" {
		t.Errorf("%v, %q", err, m.Edits(nil))
	}
	if err := c.Edit(2, func([]byte) ([]byte, error) { return make([]byte, EditsRoom+1), nil }); err == nil || string(m.Edits(nil)) != "a\n" {
		t.Errorf("%v, %q", err, m.Edits(nil))
	}
	for _, server := range []int{-1, 3} {
		if err := c.Edit(server, func(old []byte) ([]byte, error) { return old, nil }); err == nil {
			t.Error("edited by server", server)
		}
	}
	c.Announce()
	if m.Generation() != 2 {
		t.Error(m.Generation())
	}
	if n := c.Ask(); n != 1 || m.Asked() != 1 || c.Answered() != 0 {
		t.Error(n, m.Asked(), c.Answered())
	}
	m.Answer(1)
	if c.Answered() != 1 {
		t.Error(c.Answered())
	}
}

// An edit waits for another one, for a while; one that is dead is none.
func TestBoardLock(t *testing.T) {
	m, c, _ := pair(t, 3, 10)
	slept := time.Duration(0)
	c.sleep = func(d time.Duration) { slept += d }
	edit := func() error {
		return c.Edit(1, func(old []byte) ([]byte, error) { return append(old, 'x'), nil })
	}
	c.head[wordLock].Store(3)
	if err := edit(); err == nil || !strings.Contains(err.Error(), "server 2") || slept < editWait {
		t.Errorf("%v after %v", err, slept)
	}
	m.Reclaim(0)
	if c.head[wordLock].Load() != 3 {
		t.Error("the lock of another one was freed")
	}
	m.Reclaim(2)
	if err := edit(); err != nil {
		t.Error(err)
	}
	c.head[wordLock].Store(math.MaxUint64) // nobody
	if err := edit(); err != nil || string(m.Edits(nil)) != "xx" {
		t.Errorf("%v, %q", err, m.Edits(nil))
	}
}

func TestBoardEditsAtTheSameTime(t *testing.T) {
	_, c, _ := pair(t, 8, 10)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				err := c.Edit(i, func(old []byte) ([]byte, error) { return fmt.Appendf(old, "%d\n", i), nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		if n := bytes.Count(c.Edits(nil), fmt.Appendf(nil, "%d\n", i)); n != 20 {
			t.Errorf("%d: %d edits", i, n)
		}
	}
}

func TestBoardRefused(t *testing.T) {
	_, _, mem := pair(t, 3, 10)
	for _, b := range [][2]int{{0, 1}, {1, 0}, {MaxServers + 1, 1}, {1, MaxText + 1}} {
		if _, err := Size(b[0], b[1]); err == nil {
			t.Error("a size for", b)
		}
		if _, err := Format(mem, b[0], b[1]); err == nil {
			t.Error("formatted for", b)
		}
	}
	if _, err := Format(mem[:len(mem)-1], 3, 10); err == nil {
		t.Error("formatted memory that is too small")
	}
	for name, m := range map[string][]byte{"short": mem[:len(mem)-1], "head only": mem[:headWords*wordSize], "nothing": {}, "not aligned": mem[1:]} {
		if _, err := Attach(m); err == nil {
			t.Error("attached:", name)
		}
	}
	for i := range wordEdits + 1 {
		for _, v := range []uint64{0, 1 << 40, math.MaxUint64} {
			_, _, mem := pair(t, 3, 10)
			words(mem)[i].Store(v)
			if _, err := Attach(mem); err == nil {
				t.Errorf("attached with %#x in word %d", v, i)
			}
		}
	}
}

// FuzzAttach: whatever the memory holds, nothing is read or written outside of
// it.
func FuzzAttach(f *testing.F) {
	size, _ := Size(2, 8)
	mem := memory(size)
	b, _ := Format(mem, 2, 8)
	_ = b.Publish([]byte("text"), 1)
	f.Add(bytes.Clone(mem[:headWords*wordSize+64]))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		mem := memory(size)
		copy(mem, data)
		b, err := Attach(mem)
		if err != nil {
			return
		}
		b.sleep = func(time.Duration) {}
		text, _, _ := b.Text(nil)
		if len(text) > MaxText || len(b.Edits(nil)) > EditsRoom {
			t.Error("more than there is room for")
		}
		_ = b.Edit(0, func(old []byte) ([]byte, error) { return old, nil })
		b.Reclaim(0)
		b.Answer(b.Ask())
	})
}
