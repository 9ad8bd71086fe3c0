package proxy

import (
	"testing"
	"time"
)

// TestRest: a back end that has failed rests for its retry time, and not until a
// clock that was set back is where it was.
func TestRest(t *testing.T) {
	began := time.Unix(1_000_000, 0)
	for _, tt := range []struct {
		after time.Duration
		retry time.Duration
		want  bool
	}{
		{0, time.Minute, false}, {59 * time.Second, time.Minute, false}, {time.Minute, time.Minute, true},
		{-time.Second, time.Minute, true}, {-24 * time.Hour, time.Minute, true}, {24 * time.Hour, time.Minute, true},
	} {
		w := &worker{Worker: &Worker{}, now: func() time.Time { return began }}
		w.Retry = tt.retry
		if !w.usable(began) {
			t.Error("one that has not failed may not be used")
		}
		w.failed()
		if got := w.usable(began.Add(tt.after)); got != tt.want {
			t.Errorf("%s after it has failed: %v", tt.after, got)
		}
	}
}
