package jk

import (
	"fmt"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/counters"
)

// setup makes a connector of several workers; rules are lines of a map file.
func setup(t *testing.T, properties, rules string, o Options) *Connector {
	t.Helper()
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(properties)})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile(rules))
	if err != nil {
		t.Fatal(err)
	}
	o.Logger = zerolog.Nop()
	c := New(&Setup{Config: cfg, Maps: []*URIMap{m}}, o)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestMatch(t *testing.T) {
	c := setup(t, "worker.list=a,b,st\nworker.a.port=1\nworker.b.port=2\nworker.st.type=status\n",
		"/*=a\n/b/*=b\n/b/slow=b;reply_timeout=7\n!/b/static/*=b\n-/off/*=b\n/status=st\n", Options{Threads: 1})
	for path, want := range map[string]string{
		"/": "a", "/x": "a", "/b/x": "b", "/b/slow": "b", "/b/static/x": "", "/off/x": "a", "/status": "st", "*": "",
	} {
		w := c.Match(at(path))
		switch {
		case w == nil && want != "":
			t.Errorf("%s is not mapped", path)
		case w != nil && w.Name() != want:
			t.Errorf("%s is mapped to %s, want %q", path, w.Name(), want)
		}
	}
	// The rules of a worker share its connections.
	if c.Match(at("/b/slow")).(*single).worker != c.Match(at("/b/x")).(*single).worker {
		t.Error("a rule has a worker of its own")
	}
	if n := testing.AllocsPerRun(100, func() { c.Match(at("/b/slow")) }); n != 0 {
		t.Errorf("a match allocates %v times", n)
	}
	stats := c.Stats()
	if len(stats) != 2 || stats[0].Worker != "a" || stats[1].Worker != "b" || len(stats[0].Closed) != int(counters.NumCloseReasons) {
		t.Errorf("%+v", stats)
	}
}

// Close closes what is idle at once, and what is in use when it comes back.
func TestClose(t *testing.T) {
	for _, cache := range []string{"cachesize=5", "connection_pool_size=5"} {
		bothKinds(t, func(t *testing.T, dial DialFunc) {
			g := &gates{}
			c := ajptest.New(t, g.handler)
			r := newRig(t, dial, c, 5, cache)
			r.hold(c, g, 3)
			done := make(chan string, 1)
			go func() { done <- r.get("/hold/last") }()
			c.WaitRequests(4, long)
			r.c.Close()
			if !c.WaitOpen(1, long) {
				t.Errorf("%d open", c.Open())
			}
			close(g.of("/hold/last"))
			<-done
			if !c.WaitOpen(0, long) {
				t.Errorf("%d open", c.Open())
			}
			r.want("requests 4 hits 1 misses 3 opened 3 closed-shutdown 3")
			if err := r.c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each process has its own connections: two connectors share nothing.
func TestConnectorsShareNothing(t *testing.T) {
	c := ajptest.New(t, nil)
	a, b := newRig(t, dialKinds[0].dial, c, 1), newRig(t, dialKinds[0].dial, c, 1)
	a.get("/")
	b.get("/")
	a.want("requests 1 misses 1 opened 1 idle 1")
	b.want("requests 1 misses 1 opened 1 idle 1")
}

// The caches of the two deployments.
func TestDeploymentCaches(t *testing.T) {
	for _, tt := range []struct {
		file    string
		threads int
		want    string
	}{
		{"freebsd-2003-workers.properties", 1, "cache 25 0s keep 25"},
		{"freebsd-2003-workers.properties", 25, "cache 25 0s keep 25"},
		{"tomcat6-2009-workers.properties", 25, "pool 150 10m0s keep 150"},
	} {
		cfg, _ := mustParse(t, testEnv(), file(t, tt.file))
		c := New(&Setup{Config: cfg, Maps: []*URIMap{{}}}, Options{Threads: tt.threads})
		p, l := c.workers[0].pool, c.workers[0].live()
		if got := fmt.Sprintf("%v %d %v keep %d", p.mode, p.size, l.s.ConnectionPoolTimeout, p.keep); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.want)
		}
	}
}

// at is a request for a path.
func at(path string) *connector.Request { return &connector.Request{MatchPath: []byte(path)} }
