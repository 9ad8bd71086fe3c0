package jk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
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

// A name with two addresses of which one is dead costs nobody anything.
func TestOneFamilyListens(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		c, err := ajptest.Start("tcp", addr, ajptest.Options{}, nil)
		if err != nil {
			t.Logf("%s: %v", addr, err)
			continue
		}
		defer c.Close()
		for _, prefer := range []string{"false", "true"} {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				r := rigAt(t, dial, 1, "localhost", c.Port(), "retries=1", "prefer_ipv6="+prefer)
				r.w.own.names.Lookup = answers("::1", "127.0.0.1")
				r.get("/")
				r.get("/")
				r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
			})
		}
	}
	// The real name, as most files have it.
	c := ajptest.New(t, nil)
	rigAt(t, dialKinds[0].dial, 1, "localhost", c.Port(), "retries=1").get("/")
}

// F051: a worker whose name is unknown at first is 503 until it is known.
func TestF051UnresolvedAtStart(t *testing.T) {
	c := ajptest.New(t, nil)
	r := rigAt(t, dialKinds[0].dial, 1, "nosuch.invalid", c.Port(), "retries=1")
	var n nameService
	n.say(&net.DNSError{Err: "no such host", Name: "nosuch.invalid", IsNotFound: true})
	r.w.own.names.Lookup = n.lookup
	for range 5 {
		e := r.fails(request("GET", "/", ""), &answer{}, 503)
		if e.Op != "resolve" || e.Addr != fmt.Sprint("nosuch.invalid:", c.Port()) || !e.Recoverable {
			t.Errorf("%+v", e)
		}
	}
	if n.asked != 1 {
		t.Errorf("5 requests at once asked %d times", n.asked)
	}
	n.say(nil, "127.0.0.1")
	r.clock.add(2 * time.Second)
	r.get("/")
	r.want("requests 6 errors 5 misses 6 opened 1 idle 1")
}

// F053: the back end has another address; nobody but those in flight fails.
func TestF053Moved(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		old := ajptest.New(t, nil)
		r := rigAt(t, dial, 1, "app.example", old.Port(), "retry_interval=0")
		var n nameService
		n.say(nil, "127.0.0.1")
		r.w.own.names.Lookup = n.lookup
		r.get("/")
		moved, err := ajptest.Start("tcp", fmt.Sprint("127.0.0.2:", old.Port()), ajptest.Options{}, nil)
		if err != nil {
			t.Skip(err)
		}
		defer moved.Close()
		old.Close()
		n.say(nil, "127.0.0.2")
		r.clock.add(2 * time.Second)
		for range 3 {
			r.get("/")
		}
		if moved.Requests() != 3 || n.asked != 2 {
			t.Errorf("%d requests at the new address, asked %d times", moved.Requests(), n.asked)
		}
	})
}
