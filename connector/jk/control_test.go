package jk

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk/status"
)

// What one child is told the other one obeys with its next request.
func TestControlActivation(t *testing.T) {
	r := newPageRig(t, 3)
	if got := r.spread(6, "/app/"); len(got) != 3 {
		t.Fatal(got)
	}
	r.post(0, "cmd=update&w=lb&sw=n1&vwa=d")
	r.wants(1, "n1.activation=DIS", "n1.lbvalue=0", "n2.lbvalue=0", "n3.lbvalue=0", "lb.good=2", "lb.degraded=1")
	if got := r.spread(10, "/app/"); got["n1"] != 0 || got["n2"] != 10 || got["n3"] != 10 {
		t.Errorf("n1 is disabled: %v", got)
	}
	if got := r.spread(3, "/app/", "JSESSIONID=x.n1"); got["n1"] != 6 {
		t.Errorf("sessions of n1: %v", got)
	}
	r.post(1, "cmd=update&w=lb&sw=n1&vwa=s")
	if got := r.spread(3, "/app/", "JSESSIONID=x.n1"); got["n1"] != 0 {
		t.Errorf("n1 is stopped: %v", got)
	}
	r.wants(0, "n1.activation=STP", "lb.bad=1")
	r.post(0, "cmd=update&w=lb&sw=n1&vwa=a")
	if got := r.spread(3, "/app/"); got["n1"] != 2 || got["n2"] != 2 || got["n3"] != 2 {
		t.Errorf("n1 comes back with nothing to make up for: %v", got)
	}
	// By pattern.
	r.post(0, "cmd=update&w=lb&sw=n*&vwa=s")
	if got := r.spread(1, "/app/"); got["503"] != 2 {
		t.Errorf("all stopped: %v", got)
	}
}

// Busyness has values that are what is in hand: they are not for anybody to
// reset.
func TestControlActivationBusyness(t *testing.T) {
	r := newPageRig(t, 2, "lb.method=B", "n1.lbfactor=2")
	r.seg.Balancer(0).Member(0).LBValue.Store(77)
	r.seg.Balancer(0).Member(1).Worker().Enter(1)
	r.wants(0, "n1.lbvalue=0", "n2.lbvalue=2", "n1.lbmult=1", "n2.lbmult=2", "n2.busy=1", "lb.busy=1", "lb.max_busy=1")
	r.post(0, "cmd=update&w=lb&sw=n2&vwa=d")
	if v := r.seg.Balancer(0).Member(0).LBValue.Load(); v != 77 {
		t.Errorf("value %d", v)
	}
	r.wants(0, "n2.lbvalue=2")
}

func TestControlFactor(t *testing.T) {
	r := newPageRig(t, 2)
	r.post(1, "cmd=update&w=lb&sw=n2&vwf=3")
	r.wants(0, "n2.lbfactor=3", "n1.lbmult=3", "n2.lbmult=1", "n1.lbfactor=1")
	if got := r.spread(20, "/app/"); got["n1"] != 10 || got["n2"] != 30 {
		t.Errorf("1 to 3: %v", got)
	}
	// All members at once, as the form for one attribute does.
	r.post(0, "cmd=update&w=lb&att=vwf&val0=2&val1=2")
	r.wants(1, "n1.lbfactor=2", "n2.lbfactor=2", "n1.lbmult=1", "n2.lbmult=1")
}

// Every attribute arrives where it belongs, and nothing else changes.
func TestControlAttributes(t *testing.T) {
	r := newPageRig(t, 2)
	for _, tt := range []struct{ target, code, value, key, want string }{
		{"w=lb", "vlr", "7", "lb.retries", "7"},
		{"w=lb", "vlt", "70", "lb.recover_time", "70"},
		{"w=lb", "vlee", "35", "lb.error_escalation_time", "35"},
		{"w=lb", "vlx", "9", "lb.max_reply_timeouts", "9"},
		{"w=lb", "vls", "0", "lb.sticky_session", "False"},
		{"w=lb", "vlf", "1", "lb.sticky_session_force", "True"},
		{"w=lb", "vlm", "T", "lb.method", "Traffic"},
		{"w=lb", "vll", "P", "lb.lock", "Pessimistic"},
		{"w=lb&sw=n2", "vwn", "r2", "n2.route", "r2"},
		{"w=lb&sw=n2", "vwr", "n1", "n2.redirect", "n1"},
		{"w=lb&sw=n2", "vwc", "d2", "n2.domain", "d2"},
		{"w=lb&sw=n2", "vwd", "4", "n2.distance", "4"},
		{"w=lb&sw=n2", "vwf", "6", "n2.lbfactor", "6"},
		{"w=lb&sw=n2", "vwa", "1", "n2.activation", "DIS"},
		{"w=lb&sw=n2", "vahst", "127.0.0.2", "n2.host", "127.0.0.2"},
		{"w=lb&sw=n2", "vaprt", "8111", "n2.port", "8111"},
		{"w=lb&sw=n2", "vacpt", "81", "n2.connection_pool_timeout", "81"},
		{"w=lb&sw=n2", "vapng", "82", "n2.ping_timeout", "82"},
		{"w=lb&sw=n2", "vact", "83", "n2.connect_timeout", "83"},
		{"w=lb&sw=n2", "vapt", "84", "n2.prepost_timeout", "84"},
		{"w=lb&sw=n2", "vart", "85", "n2.reply_timeout", "85"},
		{"w=lb&sw=n2", "var", "86", "n2.retries", "86"},
		{"w=lb&sw=n2", "vacpi", "88", "n2.connection_ping_interval", "88"},
		{"w=lb&sw=n2", "varo", "3", "n2.recovery_options", "3"},
		{"w=lb&sw=n2", "vabl", "90", "n2.busy_limit", "90"},
		{"w=lb&sw=n2", "vamps", "9000", "n2.max_packet_size", "9216"},
		{"w=solo", "vahst", "127.0.0.3", "solo.host", "127.0.0.3"},
		{"w=solo", "vabl", "5", "solo.busy_limit", "5"},
	} {
		before := r.values(1)
		r.post(0, "cmd=update&"+tt.target+"&"+tt.code+"="+tt.value)
		after := r.values(1)
		if after[tt.key] != tt.want {
			t.Errorf("%s=%s: %s=%s, want %s", tt.code, tt.value, tt.key, after[tt.key], tt.want)
		}
		var also []string
		for _, key := range slices.Sorted(maps.Keys(after)) {
			_, name, _ := strings.Cut(key, ".")
			switch {
			case key == tt.key, strings.HasPrefix(key, "time_"), strings.HasPrefix(name, "time_to_"), strings.HasSuffix(name, "_ago"):
			case before[key] != after[key]:
				also = append(also, key)
			}
		}
		want := map[string]string{"vwf": "n1.lbmult", "vwa": "lb.degraded lb.good", "vahst": strings.TrimSuffix(tt.key, "host") + "address", "vaprt": "n2.address"}[tt.code]
		if got := strings.Join(also, " "); got != want {
			t.Errorf("%s=%s: changes %s too, want %q", tt.code, tt.value, got, want)
		}
	}
	// 0 can be asked for where nothing was: that is not the same.
	r.wants(0, "n1.recovery_options=27")
	r.post(0, "cmd=update&w=lb&sw=n1&varo=0")
	r.wants(1, "n1.recovery_options=0")
	// What no page shows.
	r.post(0, "cmd=update&w=lb&vlri=71")
	r.post(0, "cmd=update&w=lb&sw=n1&vari=72")
	var b jkshm.BalancerSettings
	r.seg.Balancer(0).Load(&b)
	var w jkshm.WorkerSettings
	r.seg.Balancer(0).Member(0).Worker().Load(&w)
	if b.RetryInterval != 71*time.Millisecond || w.RetryInterval != 72*time.Millisecond || !w.RecoveryOptionsSet {
		t.Errorf("%v, %v, %v", b.RetryInterval, w.RetryInterval, w.RecoveryOptionsSet)
	}
}

// Reset takes back what was counted, and no more than that.
func TestControlReset(t *testing.T) {
	r := newPageRig(t, 2)
	r.spread(5, "/app/")
	r.spread(2, "/solo")
	r.setBroken("n1", true)
	r.spread(2, "/app/", "JSESSIONID=x.n1")
	r.setBroken("n1", false)
	m := r.seg.Balancer(0).Member(0)
	if m.Errors.Load() == 0 || m.FirstError.Load() == 0 {
		t.Fatalf("n1 has %d errors, state %v", m.Errors.Load(), m.State())
	}
	m.Worker().Enter(1)
	r.post(0, "cmd=reset&w=lb&sw=n1")
	r.wants(1, "n1.errors=0", "n1.elected=0", "n1.sessions=0", "n1.lbvalue=0", "n1.state=OK/IDLE", "n1.transferred=0", "n1.read=0", "n1.busy=1", "n1.max_busy=1", "n1.last_reset_ago=0", "n2.state=OK")
	if v := r.values(1); v["n2.elected"] == "0" || v["n1.error_time_ago"] != "" {
		t.Errorf("n2 lost its counters: %v", v["n2.elected"])
	}
	r.post(1, "cmd=reset&w=lb")
	r.wants(0, "n2.elected=0", "n2.state=OK/IDLE", "lb.last_reset_ago=0", "solo.used=4")
	r.post(1, "cmd=reset&w=solo")
	r.wants(0, "solo.used=0", "solo.transferred=0")
}

// Recover lets one request try, without the flood that a low value would bring.
func TestControlRecover(t *testing.T) {
	r := newPageRig(t, 2, "lb.recover_time=3600")
	r.setBroken("n1", true)
	if got := r.spread(3, "/app/", "JSESSIONID=x.n1"); got["n2"] == 0 {
		t.Fatal(got)
	}
	r.spread(10, "/app/")
	m := r.seg.Balancer(0).Member(0)
	if m.State() != balance.Error {
		t.Fatal(m.State())
	}
	r.setBroken("n1", false)
	m.ReplyTimeouts.Store(5)
	if got := r.spread(3, "/app/"); got["n1"] != 0 {
		t.Errorf("before: %v", got)
	}
	r.post(1, "cmd=recover&w=lb&sw=n1")
	r.wants(0, "n1.state=ERR/REC", "n1.reply_timeouts=0")
	if v := r.values(0); v["n1.lbvalue"] != v["n2.lbvalue"] {
		t.Errorf("values %s and %s", v["n1.lbvalue"], v["n2.lbvalue"])
	}
	if got := r.spread(10, "/app/"); got["n1"] != 10 || got["n2"] != 10 {
		t.Errorf("after: %v", got)
	}
	r.wants(1, "n1.state=OK")
	for _, form := range []string{"cmd=recover&w=lb&sw=n1", "cmd=recover&w=lb", "cmd=recover&w=solo"} {
		if a := r.ask(0, "POST", form+"&mime=prop"); !strings.Contains(string(a.body), "worker.result.type=ERROR\n") {
			t.Errorf("%s: %s", form, a.body)
		}
	}
}

// A page can be older than what it asks for.
func TestControlStale(t *testing.T) {
	r := newPageRig(t, 1)
	p := &control{c: r.kids[0], now: time.Now()}
	change := []status.Change{{Attribute: status.Activation, Int: int(balance.Stopped)}}
	for _, err := range []error{
		p.Update("nobody", "", change), p.Update("lb", "n9", change), p.Update("solo", "n1", change), p.Update("st", "", change),
		p.Reset("nobody", "", p.now), p.Reset("lb", "n9", p.now), p.Recover("lb", "n9"), p.Recover("nobody", "n1"), p.Recover("lb", "n1"),
		p.Update("lb", "n1", []status.Change{{Attribute: status.LBFactor, Int: -1}}),
		p.Update("solo", "", []status.Change{{Attribute: status.Port, Int: -1}}),
		p.Update("lb", "", []status.Change{{Attribute: status.LBRetries, Int: -1}}),
	} {
		if err == nil || strings.Contains(err.Error(), pageSecret) {
			t.Errorf("%v", err)
		}
	}
	r.wants(1, "n1.activation=ACT", "n1.lbfactor=1", "lb.retries=2")
}

// lookUps plays the master that resolves names, until the test ends.
func (r *pageRig) lookUps(names map[string]string) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			for i := range r.seg.Workers() {
				rec := r.seg.Worker(i)
				if !rec.TakeSuspect() {
					continue
				}
				var s jkshm.WorkerSettings
				rec.Load(&s)
				if a, err := netip.ParseAddr(names[s.Host]); err == nil {
					_ = rec.SetAddresses(jkshm.Master, jkshm.Addresses{Resolved: true, List: []netip.AddrPort{netip.AddrPortFrom(a, uint16(s.Port))}})
				}
				rec.LookUps.Add(1)
			}
		}
	})
	r.t.Cleanup(func() { close(stop); wg.Wait() })
}

// A new host is looked up by the master; one that is not there changes nothing.
func TestControlHost(t *testing.T) {
	r := newPageRig(t, 1)
	r.lookUps(map[string]string{"node.example": "127.0.0.1", "other.example": "127.0.0.9"})
	r.post(0, "cmd=update&w=lb&sw=n1&vahst=node.example")
	r.wants(1, "n1.host=node.example", "n1.address="+r.nodes[0].Addr())
	if got := r.spread(2, "/app/"); got["n1"] != 4 {
		t.Errorf("%v", got)
	}
	a := r.ask(0, "POST", "cmd=update&mime=prop&w=lb&sw=n1&vahst=tpyo.example&vaprt=8111&vwd=2")
	if body := string(a.body); a.status != 200 || !strings.Contains(body, "worker.result.type=ERROR\n") || !strings.Contains(body, "host 'tpyo.example' could not be resolved, host 'node.example' is restored") {
		t.Errorf("%d %s", a.status, body)
	}
	r.wants(1, "n1.host=node.example", "n1.address=127.0.0.1:8111", "n1.distance=2")
	r.post(1, "cmd=update&w=solo&vahst=other.example")
	r.wants(0, "solo.host=other.example", fmt.Sprint("solo.address=127.0.0.9:", r.nodes[1].Port()))
	r.post(1, "cmd=update&w=solo&vahst=127.0.0.1")
	if got := r.spread(1, "/solo"); got["solo"] != 2 {
		t.Errorf("%v", got)
	}
}

// Edits from all sides at a time: none is lost, and requests go on.
func TestControlTogether(t *testing.T) {
	r := newPageRig(t, 4)
	var wg sync.WaitGroup
	for kid := range r.kids {
		for i := range 2 {
			name := fmt.Sprint("n", 2*kid+i+1)
			wg.Go(func() {
				for n := range 20 {
					r.post(kid, fmt.Sprintf("cmd=update&w=lb&sw=%s&vwf=%d&vabl=%d&vwd=0", name, n+2, n+100))
				}
			})
		}
		wg.Go(func() {
			for range 100 {
				if got := r.get(kid, "/app/"); !strings.HasPrefix(got, "n") {
					t.Errorf("answer %q", got)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				r.ask(kid, "GET", "mime=xml")
			}
		})
	}
	wg.Wait()
	for i := range 4 {
		r.wants(i%2, fmt.Sprintf("n%d.lbfactor=21", i+1), fmt.Sprintf("n%d.busy_limit=119", i+1), fmt.Sprintf("n%d.busy=0", i+1))
	}
}

// F058: draining with the requests that scripts know from mod_jk.
func TestF058StatusDrain(t *testing.T) {
	r := newPageRig(t, 2, "st.allow_get_update=1")
	script := func(text string) string {
		return string(r.ask(0, "GET", text+"&from=list&re=10&mime=txt").body)
	}
	const ok = "Result: type=OK"
	if got := script("cmd=update&w=lb&sw=n1&vwa=d"); !strings.Contains(got, ok) {
		t.Fatal(got)
	}
	for range 3 {
		if got := r.spread(1, "/app/"); got["n2"] != 2 {
			t.Errorf("a new session at a disabled node: %v", got)
		}
		if got := r.spread(1, "/app/", "JSESSIONID=x.n1"); got["n1"] != 2 {
			t.Errorf("an old session is thrown off a disabled node: %v", got)
		}
	}
	if got := script("cmd=update&w=lb&sw=n1&vwa=s"); !strings.Contains(got, ok) {
		t.Fatal(got)
	}
	if got := r.spread(2, "/app/", "JSESSIONID=x.n1"); got["n2"] != 4 {
		t.Errorf("stopped: %v", got)
	}
	if got := script("cmd=update&w=lb&vlf=1"); !strings.Contains(got, ok) {
		t.Fatal(got)
	}
	if got := r.spread(1, "/app/", "JSESSIONID=x.n1"); got["503"] != 2 {
		t.Errorf("forced: %v", got)
	}
	// The rest of what such a form sends: all values, only one of which is new.
	if got := script("cmd=update&w=lb&sw=n1&vwa=0&vwf=1&vwn=n1&vwr=&vwc=&vwd=0"); !strings.Contains(got, ok) {
		t.Fatal(got)
	}
	if got := r.spread(2, "/app/"); got["n1"] != 2 || got["n2"] != 2 {
		t.Errorf("back: %v", got)
	}
	if n := strings.Count(r.log.String(), `changing `); n != 4 {
		t.Errorf("%d changes in the log:\n%s", n, r.log.String())
	}
}

// F058: with all members disabled new users get 503, old ones their node.
func TestF058StatusAllDisabled(t *testing.T) {
	r := newPageRig(t, 2)
	r.post(0, "cmd=update&w=lb&att=vwa&val0=d&val1=d")
	if got := r.spread(1, "/app/"); got["503"] != 2 {
		t.Errorf("new: %v", got)
	}
	if got := r.spread(1, "/app/", "JSESSIONID=x.n2"); got["n2"] != 2 {
		t.Errorf("old: %v", got)
	}
}

// F066: what the page shows in hand comes back to zero whatever happened.
func TestF066StatusGauges(t *testing.T) {
	r := newPageRig(t, 2, "lb.method=B", "lb.retry_interval=1", "n1.retry_interval=1", "n2.retry_interval=1")
	var wg sync.WaitGroup
	for kid := range r.kids {
		for i := range 4 {
			wg.Go(func() {
				for n := range 25 {
					switch {
					case n%5 == 4 && i == 0:
						r.setBroken("n1", n%10 == 9)
					case n%3 == 0: // a client that leaves
						q := request("GET", "/app/", "")
						_ = r.kids[kid].Match(q).Service(q, &answer{leaves: true, gone: -1})
					default:
						r.get(kid, "/app/")
					}
				}
			})
		}
	}
	wg.Wait()
	// A child that is killed with requests in hand.
	r.seg.Balancer(0).Member(0).Worker().Enter(1)
	r.seg.Balancer(0).Member(0).Worker().Opened(1)
	if v := r.values(0); v["n1.busy"] != "1" {
		t.Errorf("busy %s", v["n1.busy"])
	}
	r.seg.Reclaim(1)
	r.wants(0, "n1.busy=0", "n2.busy=0", "lb.busy=0", "n1.lbvalue=0", "n2.lbvalue=0")
	r.kids[0].Close()
	r.kids[1].Close()
	r.wants(0, "n1.connected=0", "n2.connected=0")
}

// F071: a status worker that is mounted but not in worker.list is a fault of
// the configuration, not a surprise for the administrator.
func TestF071StatusNotListed(t *testing.T) {
	c := servers(jkServer(0, "", "/jkstatus jkstatus"))
	c.Jk.WorkersFile.Data = []byte("worker.list=a\nworker.a.port=8009\nworker.jkstatus.type=status\n")
	_, _, err := Load(c)
	if err == nil || !strings.Contains(err.Error(), "jkstatus") {
		t.Errorf("%v", err)
	}
}

// F020: no command shows a secret, wherever it was written.
func TestF020StatusSecret(t *testing.T) {
	r := newPageRig(t, 1, "solo.secret=$(pw)-"+pageSecret, "n1.secret="+pageSecret)
	for _, cmd := range []string{"list", "dump", "show&w=solo", "show&w=lb", "edit&w=lb&sw=n1", "edit&w=solo", "version"} {
		for _, mime := range []string{"html", "xml", "txt", "prop"} {
			if a := r.ask(0, "GET", "cmd="+cmd+"&mime="+mime); a.status != 200 { // ask looks for it
				t.Errorf("%s: %d", cmd, a.status)
			}
		}
	}
	r.post(0, "cmd=update&w=solo&vaprt=1")
	r.get(0, "/solo")
	if strings.Contains(r.log.String(), pageSecret) {
		t.Error("the secret is in the log")
	}
}
