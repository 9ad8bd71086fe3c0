package jkshm

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestMap(t *testing.T) {
	s := mustFormat(t, testLayout())
	m := s.Map(0)
	if _, _, _, ok := m.Load(nil); ok || m.Generation() != 0 {
		t.Error("something was published")
	}
	// Shorter and longer ones, in both copies.
	last, edits := uint64(0), s.Edits()
	for _, n := range []int{100, 99, 0, 1, 7, 8, 9, 100} {
		text := bytes.Repeat([]byte{byte('a' + n%26)}, n)
		if err := m.Publish(text, int64(n)); err != nil {
			t.Fatal(err)
		}
		got, mtime, g, ok := mustAttach(t, s).Map(0).Load([]byte("before:"))
		if !ok || string(got) != "before:"+string(text) || mtime != int64(n) || g != m.Generation() || g <= last {
			t.Errorf("%d bytes: %q, %d, generation %d after %d, %v", n, got, mtime, g, last, ok)
		}
		last = g
	}
	if s.Edits() != edits+8 {
		t.Errorf("%d edits", s.Edits()-edits)
	}
	err := m.Publish(make([]byte, 101), 0)
	if err == nil || !strings.Contains(err.Error(), "101 bytes are more than the 100") {
		t.Error(err)
	}
	if got, _, g, ok := m.Load(nil); !ok || len(got) != 100 || g != last {
		t.Error("the old text is gone")
	}
	if _, _, _, ok := s.Map(1).Load(nil); ok {
		t.Error("it is in the other map, too")
	}
}

// A text is one that was published, whole.
func TestMapWhilePublishing(t *testing.T) {
	s := mustFormat(t, testLayout())
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		m := mustAttach(t, s).Map(1)
		wg.Go(func() {
			var buf []byte
			for {
				select {
				case <-done:
					return
				default:
				}
				text, mtime, _, ok := m.Load(buf[:0])
				if !ok {
					continue
				}
				buf = text
				if int64(len(text)) != mtime || bytes.Count(text, []byte{byte(mtime)}) != len(text) {
					t.Errorf("mixture of %d bytes: %q", mtime, text)
					return
				}
			}
		})
	}
	for i := range rounds {
		n := i * 7 % 1000
		if err := s.Map(1).Publish(bytes.Repeat([]byte{byte(n)}, n), int64(n)); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}
