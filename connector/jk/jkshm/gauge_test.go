package jkshm

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestGauges(t *testing.T) {
	s := mustFormat(t, testLayout())
	w := s.Worker(0)
	w.Enter(2)
	w.Enter(2)
	w.Enter(0)
	w.Opened(3)
	if w.Busy() != 3 || w.MaxBusy() != 3 || w.Connected() != 1 || w.MaxConnected() != 1 {
		t.Errorf("busy %d, most %d; connected %d, most %d", w.Busy(), w.MaxBusy(), w.Connected(), w.MaxConnected())
	}
	if b, c := w.Held(2); b != 2 || c != 0 {
		t.Errorf("server 2 holds %d, %d", b, c)
	}
	w.Leave(2)
	w.Closed(3)
	w.Closed(3)
	w.Leave(1) // nothing to leave
	if w.Busy() != 2 || w.MaxBusy() != 3 || w.Connected() != 0 || w.MaxConnected() != 1 {
		t.Errorf("busy %d, most %d; connected %d, most %d", w.Busy(), w.MaxBusy(), w.Connected(), w.MaxConnected())
	}
	w.Reset(7)
	if w.Busy() != 2 || w.MaxBusy() != 2 || w.MaxConnected() != 0 || w.LastReset.Load() != 7 {
		t.Errorf("after Reset: busy %d, most %d, most connected %d", w.Busy(), w.MaxBusy(), w.MaxConnected())
	}
	s.Reclaim(2)
	s.Reclaim(0)
	if w.Busy() != 0 || w.busy.hint.Load() != 0 {
		t.Errorf("after Reclaim: busy %d, hint %d", w.Busy(), w.busy.hint.Load())
	}
	if s.Worker(1).Busy() != 0 {
		t.Error("the other worker is busy")
	}
}

func TestTryEnter(t *testing.T) {
	w := mustFormat(t, testLayout()).Worker(0)
	for i, want := range []bool{true, true, true, false, false} {
		if got := w.TryEnter(i%4, 3); got != want {
			t.Errorf("TryEnter %d: %v", i, got)
		}
	}
	if w.Busy() != 3 || w.MaxBusy() != 3 {
		t.Errorf("busy %d, most %d", w.Busy(), w.MaxBusy())
	}
	w.Leave(0)
	if !w.TryEnter(3, 3) || w.TryEnter(0, 3) {
		t.Error("a place that was left is not there, or twice")
	}
	if !w.TryEnter(0, 0) || !w.TryEnter(0, -1) || w.Busy() != 5 {
		t.Errorf("no limit: busy %d", w.Busy())
	}
}

// Servers beyond the range are refused before anything is changed.
func TestServerOutOfRange(t *testing.T) {
	s := mustFormat(t, testLayout())
	w, m := s.Worker(0), s.Balancer(0).Member(0)
	before := append([]byte(nil), s.mem...)
	for name, f := range map[string]func(){
		"Enter":    func() { w.Enter(4) },
		"negative": func() { w.Enter(-1) },
		"TryEnter": func() { w.TryEnter(4, 1) },
		"Leave":    func() { w.Leave(4) },
		"TryProbe": func() { m.TryProbe(4, 1) },
		"Update":   func() { m.Update(4, func(*MemberSettings) error { return nil }) },
		"Reclaim":  func() { s.Reclaim(4) },
		"Master":   func() { w.Enter(Master) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
	if string(before) != string(s.mem) {
		t.Error("the memory has changed")
	}
}

// Threads of all servers compete for few places: never are more in than the
// limit, and the gauge is exact when they have gone.
func TestTryEnterNeverExceeds(t *testing.T) {
	s := mustFormat(t, testLayout())
	const limit, threads = 3, 8
	rounds := 20000
	if testing.Short() {
		rounds = 3000
	}
	w := s.Worker(0)
	var in, most, got atomic.Int64
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for range rounds {
				if !w.TryOpen(i%s.layout.Servers, limit) {
					continue
				}
				n := in.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				got.Add(1)
				in.Add(-1)
				w.Closed(i % s.layout.Servers)
			}
		})
	}
	wg.Wait()
	if most.Load() > limit || w.MaxConnected() > limit {
		t.Errorf("%d were in at a time, the gauge says %d", most.Load(), w.MaxConnected())
	}
	if got.Load() == 0 || w.Connected() != 0 || w.connected.hint.Load() != 0 {
		t.Errorf("%d came in; afterwards %d, hint %d", got.Load(), w.Connected(), w.connected.hint.Load())
	}
}

// The maximum is exact although most requests do not take the sum.
func TestMaxBusyExact(t *testing.T) {
	s := mustFormat(t, testLayout())
	w := s.Worker(0)
	const threads = 8
	for range 50 {
		var in, done sync.WaitGroup
		in.Add(threads)
		for i := range threads {
			done.Go(func() {
				w.Enter(i % 4)
				in.Done()
				in.Wait()
				w.Leave(i % 4)
			})
		}
		done.Wait()
		if w.MaxBusy() != threads || w.Busy() != 0 {
			t.Fatalf("most %d, then %d", w.MaxBusy(), w.Busy())
		}
		w.Reset(0)
	}
}

// A hint that is wrong comes right.
func TestSettle(t *testing.T) {
	s := mustFormat(t, testLayout())
	w := s.Worker(0)
	w.Enter(1)
	w.Enter(1)
	for _, hint := range []uint64{0, 1, 1 << 40, 1 << 63, 1<<64 - 1} {
		w.busy.hint.Store(hint)
		s.Settle()
		if got := w.busy.hint.Load(); got != 2 || w.MaxBusy() != 2 {
			t.Errorf("hint %d became %d, most %d", hint, got, w.MaxBusy())
		}
	}
	w.Leave(1)
	w.busy.hint.Store(0)
	w.Leave(1)
	if got := w.busy.hint.Load(); got != 0 {
		t.Errorf("the hint went below 0: %#x", got)
	}
}
