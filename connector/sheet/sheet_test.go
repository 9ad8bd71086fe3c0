package sheet

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func fresh(room int) Sheet { return New(make([]atomic.Uint64, Words(room)), room) }

func TestSheet(t *testing.T) {
	s := fresh(13)
	if _, _, g, ok := s.Read(nil); ok || g != 0 || s.Generation() != 0 || s.Room() != 13 {
		t.Error("an empty sheet says something")
	}
	for i, text := range []string{"", "a", "12345678", "123456789", "1234567890123", "x", ""} {
		if err := s.Write([]byte(text), int64(-i)); err != nil {
			t.Fatal(err)
		}
		got, time, g, ok := s.Read([]byte("before "))
		if !ok || string(got) != "before "+text || time != int64(-i) || g != s.Generation() || g != uint64(i+1) {
			t.Errorf("%q: got %q, %d, %d, %v", text, got, time, g, ok)
		}
	}
	before := s.Generation()
	if err := s.Write(make([]byte, 14), 1); err == nil || s.Generation() != before {
		t.Error("a text without room:", err)
	}
}

// The counter may come to its end, and 0 stays "nothing".
func TestSheetWraps(t *testing.T) {
	s := fresh(8)
	s.head[wordSeq].Store(math.MaxUint64)
	for _, text := range []string{"one", "two"} {
		if err := s.Write([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
		if got, _, g, ok := s.Read(nil); !ok || g == 0 || string(got) != text {
			t.Errorf("got %q, %d, %v", got, g, ok)
		}
	}
}

// Memory that somebody else has written to.
func TestSheetHostile(t *testing.T) {
	s := fresh(20)
	for i := range s.head {
		s.head[i].Store(math.MaxUint64)
	}
	if got, _, _, ok := s.Read(nil); !ok || len(got) != 20 {
		t.Errorf("%d bytes, %v", len(got), ok)
	}
}

// Readers never see a mixture.
func TestSheetWhileWritten(t *testing.T) {
	s := fresh(100)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				got, time, _, ok := s.Read(nil)
				if ok && (int(time) != len(got) || len(got) > 0 && strings.Count(string(got), string(got[:1])) != len(got)) {
					t.Errorf("got %q for %d", got, time)
					return
				}
			}
		})
	}
	for i := range 20000 {
		n := 1 + i%100
		_ = s.Write(bytes.Repeat([]byte{byte('a' + i%26)}, n), int64(n))
	}
	close(stop)
	wg.Wait()
}
