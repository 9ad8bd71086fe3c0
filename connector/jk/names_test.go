package jk

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/jkshm"
)

// namesRig is a configuration with its segment and the names of the master.
type namesRig struct {
	t     *testing.T
	setup *Setup
	seg   *jkshm.Segment
	names *Names
	serve nameService
	log   *lockedBuffer
}

func newNames(t *testing.T, text string) *namesRig {
	t.Helper()
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile("/*="+cfg.Workers[0].Name+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &namesRig{t: t, setup: &Setup{Config: cfg, Maps: []*URIMap{m}}, log: &lockedBuffer{}}
	if r.seg, err = private(r.setup); err != nil {
		t.Fatal(err)
	}
	r.names = &Names{Config: cfg, Segment: r.seg, Logger: zerolog.New(r.log), Lookup: r.serve.lookup}
	return r
}

// round looks up what is due.
func (r *namesRig) round(now time.Time) {
	r.names.group()
	r.names.round(context.Background(), r.names.due(now), func() time.Time { return now })
}

func (r *namesRig) addresses(i int) string {
	var a jkshm.Addresses
	r.seg.Worker(i).LoadAddresses(&a)
	if !a.Resolved {
		return "unresolved"
	}
	return text(a.List)
}

// F051, F053: when a name is asked for, what is published and what is logged.
func TestF053NamesAreLookedUpAgain(t *testing.T) {
	r := newNames(t, "worker.list=w\nworker.w.host=app.example\nworker.w.port=8009\nworker.w.resolve_ttl=7\n")
	now := time.Unix(1e9, 0)
	lines := 0
	step := func(after time.Duration, asked int, want, logged string) {
		t.Helper()
		now = now.Add(after)
		edits, generation := r.seg.Edits(), r.seg.Worker(0).AddressGeneration()
		before := r.addresses(0)
		r.round(now)
		if got := r.addresses(0); got != want || r.serve.asked != asked {
			t.Errorf("%s, asked %d times; want %s, %d times", got, r.serve.asked, want, asked)
		}
		if changed := before != want; changed != (r.seg.Edits() != edits) || changed != (r.seg.Worker(0).AddressGeneration() != generation) {
			t.Errorf("%s, then %s: %d edits", before, want, r.seg.Edits()-edits)
		}
		all := strings.Split(strings.TrimSuffix(r.log.String(), "\n"), "\n")
		if logged != "" {
			lines++
			if last := all[len(all)-1]; !strings.Contains(last, logged) {
				t.Errorf("logged %s, want %q", last, logged)
			}
		}
		if n := strings.Count(r.log.String(), "\n"); n != lines {
			t.Errorf("%d lines, want %d", n, lines)
		}
	}
	const second = time.Second
	none := errors.New("no such host")
	r.serve.say(none)
	step(0, 1, "unresolved", "can't resolve tomcat address app.example: nobody")
	// The pauses grow up to half a minute.
	for i, pause := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		step(pause*second-1, i+1, "unresolved", "")
		step(1, i+2, "unresolved", "")
	}
	// A child that can't connect makes it sooner, but not all the time.
	r.seg.Worker(0).Suspect()
	step(second-1, 8, "unresolved", "")
	r.seg.Worker(0).Suspect()
	step(1, 9, "unresolved", "")
	r.serve.say(nil)
	step(30*second, 10, "unresolved", "") // a name without addresses is none either
	r.serve.say(nil, "192.0.2.1", "192.0.2.2", "::ffff:192.0.2.1", "2001:db8::1")
	step(30*second, 11, "192.0.2.1:8009 192.0.2.2:8009 [2001:db8::1]:8009", "can be resolved again")
	// An answer is used for its time. In another order it is the same answer.
	r.serve.say(nil, "2001:db8::1", "192.0.2.2", "192.0.2.1", "::ffff:192.0.2.1")
	step(7*second-1, 11, "192.0.2.1:8009 192.0.2.2:8009 [2001:db8::1]:8009", "")
	step(1, 12, "192.0.2.1:8009 192.0.2.2:8009 [2001:db8::1]:8009", "")
	r.serve.say(nil, "192.0.2.3")
	step(7*second, 13, "192.0.2.3:8009", "has changed")
	// Nobody takes a connection there.
	r.serve.say(nil, "192.0.2.4")
	step(2*second, 13, "192.0.2.3:8009", "")
	n := r.seg.Worker(0).LookUps.Load()
	r.seg.Worker(0).Suspect()
	step(0, 14, "192.0.2.4:8009", "has changed")
	if r.seg.Worker(0).LookUps.Load() != n+1 {
		t.Error("those who wait are not told")
	}
	// Asked a moment ago: those who wait need not.
	r.seg.Worker(0).Suspect()
	step(second/2, 14, "192.0.2.4:8009", "")
	if r.seg.Worker(0).LookUps.Load() != n+2 {
		t.Error("those who wait are not told that there is nothing newer")
	}
	// While the name service fails, the old answer is better than none.
	r.serve.say(none)
	step(7*second, 15, "192.0.2.4:8009", "any more")
	step(second, 16, "192.0.2.4:8009", "")
	r.serve.say(nil, "192.0.2.4")
	step(2*second, 17, "192.0.2.4:8009", "can be resolved again")
}

// One back end's addresses can't be published because somebody is in the middle
// of an edit for long: those of others with the same name are.
func TestNamesArePublishedOneByOne(t *testing.T) {
	r := newNames(t, "worker.list=a,b\nworker.a.host=app.example\nworker.b.host=app.example\n")
	r.serve.say(nil, "192.0.2.1")
	inside, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	waited := time.Duration(0)
	r.seg.Sleep = func(d time.Duration) {
		waited += d
		if waited > 3*time.Second { // the first has given up
			select {
			case <-left:
			default:
				close(leave)
				<-left
			}
		}
	}
	go func() {
		defer close(left)
		_ = r.seg.Worker(0).Update(0, func(*jkshm.WorkerSettings) error {
			close(inside)
			<-leave
			return errors.New("nothing is to be changed")
		})
	}()
	<-inside
	now := time.Unix(1e9, 0)
	r.round(now)
	if a, b := r.addresses(0), r.addresses(1); a != "unresolved" || b != "192.0.2.1:8009" {
		t.Errorf("%q and %q", a, b)
	}
	r.round(now.Add(time.Second))
	if a, b := r.addresses(0), r.addresses(1); a != "192.0.2.1:8009" || b != "192.0.2.1:8009" {
		t.Errorf("%q and %q", a, b)
	}
}

// More names are suspected at a time than are looked up at a time: the others
// have their turn.
func TestNoSuspicionIsLost(t *testing.T) {
	text := "worker.list="
	for i := range mostLookups + 4 {
		text += fmt.Sprintf("w%d,", i)
	}
	for i := range mostLookups + 4 {
		text += fmt.Sprintf("\nworker.w%d.host=app%d.example", i, i)
	}
	r := newNames(t, text+"\n")
	r.serve.say(nil, "192.0.2.1")
	now := time.Unix(1e9, 0)
	r.round(now)
	for i := range r.seg.Workers() {
		r.seg.Worker(i).Suspect()
	}
	now = now.Add(resolveAgain)
	hosts := r.names.due(now)
	if len(hosts) != mostLookups+4 {
		t.Fatalf("%d names are due", len(hosts))
	}
	for _, h := range hosts[:mostLookups] {
		h.asking = true
	}
	if hosts = r.names.due(now); len(hosts) != 4 {
		t.Errorf("%d names are left, want 4", len(hosts))
	}
}

// F053: more addresses than there is room for, and those that can't be kept.
func TestF053ManyAddresses(t *testing.T) {
	r := newNames(t, "worker.list=w\nworker.w.host=app.example\nworker.w.port=9\nworker.w.prefer_ipv6=1\n")
	many := []string{"fe80::1%em0", "2001:db8::1"}
	for i := range 20 {
		many = append(many, fmt.Sprint("192.0.2.", i+1))
	}
	r.serve.say(nil, many...)
	r.round(time.Unix(1e9, 0))
	want := "[2001:db8::1]:9"
	for i := range jkshm.MaxAddresses - 1 {
		want += fmt.Sprintf(" 192.0.2.%d:9", i+1)
	}
	if got := r.addresses(0); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A name is asked for once for all back ends that have it; addresses and port 0
// are never asked for. Edits of the host are followed.
func TestNamesFollowEdits(t *testing.T) {
	r := newNames(t, `worker.list=lb,c,d,e
worker.lb.type=lb
worker.lb.balance_workers=a,b
worker.a.host=app.example
worker.a.port=1
worker.b.host=app.example
worker.b.port=2
worker.c.host=127.0.0.1
worker.d.host=::1
worker.e.host=off.example
worker.e.port=0
`)
	index := map[string]int{}
	for i := range r.seg.Workers() {
		index[r.seg.Worker(i).Name()] = i
	}
	edit := func(name string, f func(*jkshm.WorkerSettings)) {
		t.Helper()
		if err := r.seg.Worker(index[name]).Update(0, func(s *jkshm.WorkerSettings) error { f(s); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(1e9, 0)
	step := func(asked int, a, b, c, e string) {
		t.Helper()
		now = now.Add(time.Second)
		r.round(now)
		got := []string{r.addresses(index["a"]), r.addresses(index["b"]), r.addresses(index["c"]), r.addresses(index["e"])}
		if want := []string{a, b, c, e}; !slices.Equal(got, want) || r.serve.asked != asked {
			t.Errorf("%q, asked %d times; want %q, %d times", got, r.serve.asked, want, asked)
		}
	}
	const none = "unresolved"
	r.serve.say(nil, "192.0.2.1")
	step(1, "192.0.2.1:1", "192.0.2.1:2", none, none)
	// Another port, a name that is known, one that is not.
	edit("a", func(s *jkshm.WorkerSettings) { s.Port = 7 })
	edit("c", func(s *jkshm.WorkerSettings) { s.Host = "app.example" })
	step(1, "192.0.2.1:7", "192.0.2.1:2", "192.0.2.1:8009", none)
	edit("b", func(s *jkshm.WorkerSettings) { s.Host = "other.example" })
	edit("e", func(s *jkshm.WorkerSettings) { s.Port = 5 })
	r.serve.say(nil, "192.0.2.9")
	step(3, "192.0.2.1:7", "192.0.2.9:2", "192.0.2.1:8009", "192.0.2.9:5")
	// The name that nobody has any more is forgotten.
	edit("b", func(s *jkshm.WorkerSettings) { s.Host = "127.0.0.9" })
	step(3, "192.0.2.1:7", none, "192.0.2.1:8009", "192.0.2.9:5")
	if len(r.names.hosts) != 2 {
		t.Errorf("%d names", len(r.names.hosts))
	}
}

// F051: a start takes no longer for names that nobody can tell; the goroutine
// goes on with them, and ends when it is to.
func TestF051StartAndRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		text.WriteString("worker.list=lb\nworker.lb.type=lb\n")
		for i := range 2 * mostLookups {
			fmt.Fprintf(&text, "worker.lb.balance_workers=n%d\nworker.n%d.host=h%d.example\n", i, i, i)
		}
		r := newNames(t, text.String())
		var asking, most atomic.Int32
		var dead atomic.Bool
		dead.Store(true)
		r.names.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			n := asking.Add(1)
			defer asking.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if dead.Load() {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		}
		start := time.Now()
		r.names.First(2 * time.Second)
		if took := time.Since(start); took != 2*time.Second || r.addresses(0) != "unresolved" {
			t.Errorf("took %v; %s", took, r.addresses(0))
		}
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { r.names.Run(stop); close(done) }()
		dead.Store(false)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		for i := range r.seg.Workers() {
			if got := r.addresses(i); got != "192.0.2.1:8009" {
				t.Errorf("n%d: %s", i, got)
			}
		}
		dead.Store(true)
		time.Sleep(30 * time.Second) // look-ups that never end by themselves
		synctest.Wait()
		if asking.Load() == 0 {
			t.Error("nobody asks")
		}
		close(stop)
		<-done
		if asking.Load() != 0 || most.Load() > mostLookups {
			t.Errorf("%d look-ups are left, %d at a time", asking.Load(), most.Load())
		}
	})
}

// child is a connector on the segment of a master that asks for names.
func (r *namesRig) child(n *nets) *Connector {
	c := New(r.setup, Options{Threads: 1, Dial: n.counting(dialKinds[1].dial), Segment: r.seg, Logger: zerolog.Nop(), WriteTimeout: long})
	r.t.Cleanup(func() { c.Close() })
	return c
}

// F053: children do not ask themselves; the request that finds nobody at the old
// address waits for the master and goes to the new one.
func TestF053Children(t *testing.T) {
	old := ajptest.New(t, nil)
	r := newNames(t, fmt.Sprintf("worker.list=w\nworker.w.host=app.example\nworker.w.port=%d\nworker.w.retries=1\n", old.Port()))
	var n nets
	c := r.child(&n)
	get := func() error {
		a := &answer{}
		q := request("GET", "/", "")
		return c.Match(q).Service(q, a)
	}
	if err := get(); !errors.Is(err, errUnresolved) {
		t.Errorf("before the name is known: %v", err)
	}
	if c.workers[0].reachable() {
		t.Error("reachable without an address")
	}
	r.serve.say(nil, "127.0.0.1")
	r.names.First(long)
	if err := get(); err != nil || !c.workers[0].reachable() {
		t.Error(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { r.names.Run(stop); close(done) }()
	defer func() { close(stop); <-done }()

	moved, err := ajptest.Start("tcp", fmt.Sprint("127.0.0.2:", old.Port()), ajptest.Options{}, nil)
	if err != nil {
		t.Skip(err)
	}
	defer moved.Close()
	old.Close()
	time.Sleep(resolveAgain) // the name was asked for a moment ago
	r.serve.say(nil, "127.0.0.2")
	for range 3 {
		if err := get(); err != nil {
			t.Error(err)
		}
	}
	if moved.Requests() != 3 {
		t.Errorf("%d requests at the new address", moved.Requests())
	}
}
