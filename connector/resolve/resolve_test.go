package resolve

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// answers is a name service that always says the same.
func answers(addrs ...string) func(context.Context, string) ([]netip.Addr, error) {
	var found []netip.Addr
	for _, a := range addrs {
		found = append(found, netip.MustParseAddr(a))
	}
	return func(context.Context, string) ([]netip.Addr, error) { return found, nil }
}

// nameService can be told what to say, and counts.
type nameService struct {
	mu    sync.Mutex
	addrs []string
	err   error
	asked int
}

func (n *nameService) say(err error, addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addrs, n.err = addrs, err
}

func (n *nameService) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if _, ok := ctx.Deadline(); !ok {
		return nil, errors.New("a look-up without a limit")
	}
	if n.err != nil {
		return nil, n.err
	}
	return answers(n.addrs...)(ctx, host)
}

func text(addrs []netip.AddrPort) string {
	var s []string
	for _, a := range addrs {
		s = append(s, a.String())
	}
	return strings.Join(s, " ")
}

func TestResolver(t *testing.T) {
	var n nameService
	r := New("app.example", 8009, false)
	r.lookup = n.lookup
	now := time.Unix(1e9, 0)
	step := func(after time.Duration, asked int, want, fault string) {
		t.Helper()
		now = now.Add(after)
		got, err := r.Addresses(now)
		if text(got) != want || n.asked != asked || (err == nil) != (fault == "") || err != nil && err.Error() != fault {
			t.Errorf("%s, %v, asked %d times; want %s, %q, %d times", text(got), err, n.asked, want, fault, asked)
		}
	}
	const ms = time.Millisecond
	// No name service yet: asked again, but not by every request.
	n.say(errors.New("no such host"))
	step(0, 1, "", "can't resolve app.example: no such host")
	step(500*ms, 1, "", "can't resolve app.example: no such host")
	n.say(nil)
	step(1500*ms, 2, "", "can't resolve app.example: the name has no address")
	n.say(nil, "192.0.2.1")
	step(1500*ms, 3, "192.0.2.1:8009", "")
	// An answer is used for its time, and no longer.
	n.say(nil, "192.0.2.2")
	step(TTL-ms, 3, "192.0.2.1:8009", "")
	step(ms+100*ms, 4, "192.0.2.2:8009", "")
	// Nobody takes a connect there.
	n.say(nil, "192.0.2.3")
	step(ms, 4, "192.0.2.2:8009", "")
	r.Expire()
	step(ms, 5, "192.0.2.3:8009", "")
	step(ms, 5, "192.0.2.3:8009", "")
	// The name service fails: the old answer is better than none, and it is
	// asked again soon.
	n.say(errors.New("timeout"))
	r.Expire()
	step(ms, 6, "192.0.2.3:8009", "")
	step(ms, 6, "192.0.2.3:8009", "")
	n.say(nil, "192.0.2.4")
	step(again+100*ms, 7, "192.0.2.4:8009", "")
	n.say(nil)
	step(TTL+100*ms, 8, "192.0.2.4:8009", "")
}

// A name service that takes its time and then fails is not asked by one request
// after the other: the time until the next question counts from the answer.
func TestResolverSlowFailure(t *testing.T) {
	r := New("app.example", 8009, false)
	asked := 0
	r.lookup = func(context.Context, string) ([]netip.Addr, error) {
		asked++
		time.Sleep(20 * time.Millisecond)
		return nil, errors.New("timeout")
	}
	now := time.Now()
	r.Addresses(now)
	if until := r.until; until.Before(now.Add(again + 20*time.Millisecond)) {
		t.Errorf("asked again %v after the question", until.Sub(now))
	}
	// Those that waited for it take what it brought.
	if _, err := r.Addresses(now); err == nil || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

// While one request asks, others use the last answer, unless it turned out
// wrong: then they wait for the new one.
func TestResolverWhileAsking(t *testing.T) {
	for _, suspect := range []bool{false, true} {
		r := New("app.example", 1, false)
		r.lookup = answers("192.0.2.1")
		now := time.Unix(1e9, 0)
		r.Addresses(now)
		asking, done := make(chan struct{}), make(chan struct{})
		var asked atomic.Int32
		r.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			if asked.Add(1) == 1 {
				close(asking)
				<-done
			}
			return answers("192.0.2.2")(ctx, host)
		}
		if suspect {
			r.Expire()
		}
		now = now.Add(TTL + time.Second)
		var wg sync.WaitGroup
		ask := func(want string) {
			wg.Go(func() {
				if got, err := r.Addresses(now); text(got) != want || err != nil {
					t.Errorf("suspect %v: %s, %v, want %s", suspect, text(got), err, want)
				}
			})
		}
		ask("192.0.2.2:1")
		<-asking
		if suspect {
			ask("192.0.2.2:1")
			ask("192.0.2.2:1")
		} else if got, _ := r.Addresses(now); text(got) != "192.0.2.1:1" {
			t.Errorf("%s while another request asks", text(got))
		}
		close(done)
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("suspect %v: asked %d times", suspect, asked.Load())
		}
	}
}

func TestNumericHostAsksNobody(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1": "127.0.0.1:8009", "::1": "[::1]:8009", "::ffff:127.0.0.1": "127.0.0.1:8009"} {
		r := New(host, 8009, true)
		r.lookup = func(context.Context, string) ([]netip.Addr, error) {
			t.Error("asked")
			return nil, nil
		}
		r.Expire()
		for _, now := range []time.Time{{}, time.Unix(1, 0), time.Now().Add(1e6 * time.Hour)} {
			if got, err := r.Addresses(now); text(got) != want || err != nil {
				t.Errorf("%s: %s, %v", host, text(got), err)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	tests := []struct {
		found  string
		v6     bool
		sorted string
	}{
		{"::1 127.0.0.1", false, "127.0.0.1:9 [::1]:9"},
		{"127.0.0.1 ::1", false, "127.0.0.1:9 [::1]:9"},
		{"127.0.0.1 ::1", true, "[::1]:9 127.0.0.1:9"},
		{"192.0.2.2 192.0.2.1 192.0.2.2", false, "192.0.2.2:9 192.0.2.1:9"},
		{"::ffff:192.0.2.1 192.0.2.1 2001:db8::1", true, "[2001:db8::1]:9 192.0.2.1:9"},
		{"2001:db8::2 2001:db8::1", false, "[2001:db8::2]:9 [2001:db8::1]:9"},
	}
	for _, tt := range tests {
		found, _ := answers(strings.Fields(tt.found)...)(context.Background(), "")
		before := slices.Clone(found)
		if got := text(Order(found, 9, tt.v6)); got != tt.sorted {
			t.Errorf("%s: %s, want %s", tt.found, got, tt.sorted)
		}
		if !slices.Equal(found, before) {
			t.Errorf("%s: the answer itself was changed", tt.found)
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1", "localhost", "LocalHost"} {
		if !Loopback(host) {
			t.Errorf("%s may be somewhere else", host)
		}
	}
	for _, host := range []string{"", "126.0.0.1", "::2", "0.0.0.0", "localhost.example.test", "127.0.0.1.example.test"} {
		if Loopback(host) {
			t.Errorf("%s is this machine", host)
		}
	}
}
