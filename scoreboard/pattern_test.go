package scoreboard

import (
	"strconv"
	"testing"
)

// patternBytes is what each request of the pattern serves.
const patternBytes = 1000

// pattern is one connection with one request. Everything in it says i, so that
// a mixture of two updates shows: after StartConnection the client is "i" and
// there is no request; after StartRequest request, host, protocol and the
// starting time are i too.
func pattern(s *Slot, i uint64) {
	var buf [20]byte
	n := strconv.AppendUint(buf[:0], i, 10)
	now := int64(i)
	s.SetReady(now)
	s.StartConnection(now, n)
	s.StartRequest(now, n, n, n, n)
	s.EndRequest(now, patternBytes)
}

// checkPattern checks a copy of a record that follows the pattern and returns 1,
// or 0 if it is marked torn.
func checkPattern(t *testing.T, w *WorkerScore) int {
	t.Helper()
	if w.Torn {
		return 0
	}
	i := string(w.Client)
	requests := w.AccessCount * patternBytes
	switch {
	case w.BytesServed != requests || w.MyBytesServed != w.MyAccessCount*patternBytes || w.ConnBytes != w.ConnCount*patternBytes:
		t.Errorf("mixed counters: %+v", w)
	case w.ConnCount > 1 || w.MyAccessCount > w.AccessCount:
		t.Errorf("wrong counters: %+v", w)
	case len(w.Request) == 0:
		if len(w.VHost) != 0 || len(w.Protocol) != 0 {
			t.Errorf("mixed texts: no request, host %q, protocol %q", w.VHost, w.Protocol)
		}
	case string(w.VHost) != i || string(w.Protocol) != i || string(w.Request) != i+" "+i+" "+i:
		t.Errorf("mixed texts: client %q, request %q, host %q, protocol %q", i, w.Request, w.VHost, w.Protocol)
	case strconv.FormatInt(w.StartTime.UnixNano(), 10) != i:
		t.Errorf("client %s, start time %d", i, w.StartTime.UnixNano())
	}
	return 1
}
