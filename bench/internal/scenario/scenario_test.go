package scenario

import (
	"testing"
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/measure"
)

func TestOutage(t *testing.T) {
	at := func(text string) (records []load.Record) { // a request each second: '+' answered, '-' failed
		for i, c := range text {
			records = append(records, load.Record{Start: time.Duration(i) * time.Second, OK: c == '+'})
		}
		return records
	}
	for text, want := range map[string]time.Duration{"": 0, "+++": 0, "+--+": 2, "--+-+": 2, "+-+---+": 3, "+++--": 1, "-": 0} {
		if got := outage(at(text)); got != want*time.Second {
			t.Errorf("%q: %v, want %vs", text, got, int64(want))
		}
	}
}

func TestPerRequest(t *testing.T) {
	calls := measure.Syscalls{"write": 200, "read": 300, "brk": 1, "futex": 200}
	if got := perRequest(calls, 200); got != "read 1.50, futex 1.00, write 1.00" {
		t.Error(got)
	}
}

// Every scenario's contenders exist, and names are not taken twice.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if s.Name == "" || s.About == "" || seen[s.Name] {
			t.Errorf("scenario %q: no name, no text or a second one", s.Name)
		}
		seen[s.Name] = true
		if _, unknown := contender.Select(s.contenders); len(unknown) > 0 {
			t.Errorf("%s: no contender %q", s.Name, unknown)
		}
	}
}
