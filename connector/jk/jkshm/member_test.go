package jkshm

import (
	"sync"
	"sync/atomic"
	"testing"

	"jkd/connector/jk/balance"
)

func TestMemberState(t *testing.T) {
	s := mustFormat(t, testLayout())
	m := s.Balancer(0).Member(0)
	if m.State() != balance.Idle {
		t.Errorf("the first state is %v", m.State())
	}
	for st := balance.Idle; st.Valid(); st++ {
		m.SetState(st)
		want := st == balance.Recover || st == balance.Force
		if got := m.TryProbe(2, 1000); got != want {
			t.Errorf("TryProbe from %v: %v", st, got)
		}
		server, since, ok := m.Probe()
		if ok != want || want && (server != 2 || since != 1000 || m.State() != balance.Probe) || !want && m.State() != st {
			t.Errorf("after %v: %v, %d, %d, %v", st, m.State(), server, since, ok)
		}
		if m.EndProbe(1, balance.OK) {
			t.Error("another server has ended the probe")
		}
		if got := m.EndProbe(2, balance.Error); got != want || want && m.State() != balance.Error {
			t.Errorf("EndProbe after %v: %v, %v", st, got, m.State())
		}
	}
	m.SetState(balance.OK)
	if m.CompareAndSwapState(balance.Idle, balance.Error) || m.State() != balance.OK {
		t.Error("swapped from another state")
	}
	if !m.CompareAndSwapState(balance.OK, balance.Recover) || m.State() != balance.Recover {
		t.Error("not swapped")
	}
	// A state that is none is Error and can be left like Error.
	m.state.Store(200)
	if m.State() != balance.Error || !m.CompareAndSwapState(balance.Error, balance.Recover) {
		t.Error("state 200")
	}
	// An owner that cannot be is nobody.
	for _, owner := range []uint64{0, 5, ownerMask} {
		m.state.Store(stateWord(balance.Probe, owner, 1))
		if _, _, ok := m.Probe(); ok || m.State() != balance.Probe {
			t.Errorf("owner %d", owner)
		}
	}
	m.SetState(balance.Recover)
	if !m.TryProbe(0, 1<<40) {
		t.Error("no probe at a late time")
	}
	if _, since, _ := m.Probe(); since != 1<<32-1 {
		t.Errorf("since %d", since)
	}
	m.SetState(balance.Probe)
	if server, _, ok := m.Probe(); server != 0 || !ok {
		t.Error("setting the same state has taken the probe away")
	}
}

// Of all who want to probe one succeeds.
func TestOneProbe(t *testing.T) {
	s := mustFormat(t, testLayout())
	m := s.Balancer(0).Member(0)
	for range 200 {
		m.SetState(balance.Recover)
		var n atomic.Int64
		var winner atomic.Int64
		var wg sync.WaitGroup
		for server := range 4 {
			wg.Go(func() {
				if m.TryProbe(server, 5) {
					n.Add(1)
					winner.Store(int64(server))
				}
			})
		}
		wg.Wait()
		if server, _, ok := m.Probe(); n.Load() != 1 || !ok || int64(server) != winner.Load() {
			t.Fatalf("%d probes, of %d; the record says %d", n.Load(), winner.Load(), server)
		}
	}
}

func TestReclaimProbes(t *testing.T) {
	s := mustFormat(t, testLayout())
	mine, other, ok := s.Balancer(0).Member(0), s.Balancer(0).Member(1), s.Balancer(1).Member(0)
	for i, m := range []*Member{mine, other} {
		m.SetState(balance.Recover)
		if !m.TryProbe(1+i, 10) {
			t.Fatal("no probe")
		}
	}
	ok.SetState(balance.OK)
	if err := s.Balancer(0).Lock(1); err != nil {
		t.Fatal(err)
	}
	s.Reclaim(1)
	if mine.State() != balance.Recover || other.State() != balance.Probe || ok.State() != balance.OK {
		t.Errorf("%v, %v, %v", mine.State(), other.State(), ok.State())
	}
	if err := s.Balancer(0).Lock(3); err != nil {
		t.Error(err)
	}
	s.Balancer(0).Unlock(2) // not its holder
	if err := s.Balancer(0).Lock(0); err == nil {
		t.Error("locked twice")
	}
	s.Balancer(0).Unlock(3)
}

// Elections under the lock are one after the other.
func TestBalancerLock(t *testing.T) {
	s := mustFormat(t, testLayout())
	b := s.Balancer(0)
	n := 0 // the race detector watches it
	var wg sync.WaitGroup
	var lost atomic.Int64
	for server := range 4 {
		wg.Go(func() {
			for range 100 {
				if err := b.Lock(server); err != nil {
					lost.Add(1)
					continue
				}
				n++
				b.Unlock(server)
			}
		})
	}
	wg.Wait()
	if int64(n)+lost.Load() != 400 {
		t.Errorf("%d under the lock, %d without", n, lost.Load())
	}
}

func TestCounters(t *testing.T) {
	s := mustFormat(t, testLayout())
	m, b, w := s.Balancer(0).Member(0), s.Balancer(0), s.Worker(0)
	if m.LBValue.Add(10) != 10 || m.LBValue.Sub(3) != 7 || m.LBValue.Sub(100) != 0 || m.LBValue.Load() != 0 {
		t.Error("Add and Sub")
	}
	m.LBValue.Store(9)
	m.LBValue.Shift(2)
	if m.LBValue.Load() != 2 {
		t.Errorf("9 shifted by 2 is %d", m.LBValue.Load())
	}
	m.LBValue.Shift(100)
	if m.LBValue.Load() != 0 {
		t.Error("shifted by 100")
	}
	if !m.LBValue.CompareAndSwap(0, 5) || m.LBValue.CompareAndSwap(0, 6) {
		t.Error("CompareAndSwap")
	}
	b.MaxBusy.Raise(4)
	b.MaxBusy.Raise(3)
	if b.MaxBusy.Load() != 4 {
		t.Error("Raise")
	}
	if !m.FirstError.CompareAndSwap(0, 100) || m.FirstError.CompareAndSwap(0, 200) || m.FirstError.Load() != 100 {
		t.Error("first error")
	}
	m.FirstError.Store(-5)
	if m.FirstError.Load() != 0 {
		t.Error("before 1970")
	}
	b.SetNext(1)
	if b.Next() != 1 {
		t.Error("Next")
	}
	b.SetNext(2)
	if b.Next() != 0 {
		t.Error("Next out of range")
	}

	m.Elected.Add(1)
	m.SetState(balance.Error)
	m.Reset(50)
	if m.Elected.Load() != 0 || m.LBValue.Load() != 0 || m.State() != balance.Idle || m.LastReset.Load() != 50 {
		t.Error("Reset of a member")
	}
	b.UnknownRoutes.Add(1)
	b.Reset(51)
	if b.MaxBusy.Load() != 0 || b.UnknownRoutes.Load() != 0 || b.LastReset.Load() != 51 {
		t.Error("Reset of a balancer")
	}
	w.Read.Add(5)
	w.SetState(WorkerError)
	w.ErrorTime.Store(1)
	w.Reset(52)
	if w.Read.Load() != 0 || w.State() != WorkerIdle || w.ErrorTime.Load() != 0 || w.LastReset.Load() != 52 {
		t.Error("Reset of a worker")
	}
}

func TestWorkerState(t *testing.T) {
	w := mustFormat(t, testLayout()).Worker(0)
	for i, want := range []string{"OK/IDLE", "OK", "ERR", "ERR/PRB", "WorkerState(4)"} {
		if got := WorkerState(i).String(); got != want {
			t.Errorf("%d is %s, not %s", i, got, want)
		}
	}
	w.SetState(WorkerError)
	if w.CompareAndSwapState(WorkerOK, WorkerProbe) || !w.CompareAndSwapState(WorkerError, WorkerProbe) || w.State() != WorkerProbe {
		t.Error("CompareAndSwapState")
	}
	w.state.Store(4)
	if w.State() != WorkerError || !w.CompareAndSwapState(WorkerError, WorkerProbe) {
		t.Error("state 4")
	}
}
