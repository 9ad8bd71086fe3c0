package balance

import (
	"fmt"
	"testing"
)

// hotStandby is lb-main of configuration 07.
func hotStandby() *rig {
	return newRig(
		Member{Route: "main-master", Redirect: "main-spare", Factor: 1},
		Member{Route: "main-spare", Activation: Disabled, Factor: 1},
	)
}

// TestConfig07HotStandby is the table of what to expect of it: five states, and
// in each a new request and a session of either member.
func TestConfig07HotStandby(t *testing.T) {
	const master, spare = "main-master", "main-spare"
	for _, tt := range []struct {
		name    string
		prepare func(r *rig)
		// new, session of the master, session of the spare; each is what is
		// tried and who answers.
		want [3]served
	}{
		{"both up", func(*rig) {}, [3]served{
			{tried: master, member: master}, {tried: master, member: master}, {tried: spare, member: spare},
		}},
		{"master in error", func(r *rig) {
			r.down[master] = true
			r.serve(nil, Success)
		}, [3]served{
			{tried: spare, member: spare}, {tried: spare, member: spare}, {tried: spare, member: spare},
		}},
		{"master back after recover_time", func(r *rig) {
			r.down[master] = true
			r.serve(nil, Success)
			r.down[master] = false
			r.maintain(61)
		}, [3]served{
			{tried: master, member: master}, {tried: master, member: master}, {tried: spare, member: spare},
		}},
		{"spare down", func(r *rig) {
			r.down[spare] = true
			r.serve(session("x."+spare), Success)
		}, [3]served{
			{tried: master, member: master}, {tried: master, member: master}, {tried: master, member: master},
		}},
		{"both down", func(r *rig) {
			r.down[master], r.down[spare] = true, true
			r.serve(nil, Success)
		}, [3]served{
			{tried: master + " " + spare, member: "503"}, {tried: master + " " + spare, member: "503"}, {tried: spare + " " + master, member: "503"},
		}},
	} {
		for i, ids := range []*IDs{nil, session("x." + master), session("x." + spare)} {
			r := hotStandby()
			tt.prepare(r)
			got := r.serve(ids, Success)
			if got.tried != tt.want[i].tried || got.member != tt.want[i].member {
				t.Errorf("%s, request %d: tries %s, then %s, want %s, then %s", tt.name, i, got.tried, got.member, tt.want[i].tried, tt.want[i].member)
			}
		}
	}
}

// TestConfig07WhileItHappens: the request that finds the master down does not
// fail, nor do those of its sessions; the master gets one probe.
func TestConfig07WhileItHappens(t *testing.T) {
	r := hotStandby()
	r.down["main-master"] = true
	if got := r.serve(session("x.main-master"), Success); got.tried != "main-master main-spare" || got.member != "main-spare" || got.choice.Sticky {
		t.Errorf("%+v", got)
	}
	r.maintain(61)
	if s := r.state("main-master"); s != Recover {
		t.Fatalf("after recover_time: %s", s)
	}
	c := Choose(r.members, nil, Options{})
	r.members[c.Index].State = r.members[c.Index].State.On(Elected)
	if r.state("main-master") != Probe {
		t.Fatalf("elected: %s", r.state("main-master"))
	}
	if c := Choose(r.members, nil, Options{}); c.Index != 1 || c.How != ByStandby {
		t.Errorf("during the probe: %+v", c)
	}
}

func threeNodes() *rig {
	return newRig(Member{Route: "node1"}, Member{Route: "node2"}, Member{Route: "node3"})
}

// TestConfig12Rules is what the rules of configuration 12 mean for elections.
func TestConfig12Rules(t *testing.T) {
	names := []string{"node1", "node2", "node3"}
	under := func(o Override) []Member {
		m := threeNodes().members
		for i := range m {
			m[i].Activation = o.Effective(i, m[i].Activation)
		}
		return m
	}
	maint, _ := NewOverride(names, nil, []string{"node1"}, []string{"node2", "node3"})
	half, _ := NewOverride(names, nil, nil, []string{"node2"})
	ghost, _ := NewOverride(names, []string{"node9"}, nil, nil)
	legacy := &IDs{Cookie: "SID", Param: ";sid", Path: []byte("/legacy/a"), Cookies: fields("JSESSIONID=x.node2; SID=y.node3")}
	legacyPath := &IDs{Cookie: "SID", Param: ";sid", Path: []byte("/legacy/a;sid=z.node2"), Cookies: fields("SID=y.node3")}
	for _, tt := range []struct {
		name    string
		members []Member
		ids     *IDs
		want    int
		how     How
	}{
		{"maint, new", under(maint), nil, -1, NotFound},
		{"maint, session of node1", under(maint), session("x.node1"), 0, ByRoute},
		{"maint, session of node2", under(maint), session("x.node2"), -1, NotFound},
		{"maint, session of node3", under(maint), session("x.node3"), -1, NotFound},
		{"half, session of node2", under(half), session("x.node2"), 0, ByElection},
		{"half, session of node3", under(half), session("x.node3"), 2, ByRoute},
		{"ghost", under(ghost), nil, 0, ByElection},
		{"legacy, cookie", threeNodes().members, legacy, 2, ByRoute},
		{"legacy, path", threeNodes().members, legacyPath, 1, ByRoute},
		{"upload ignores sessions", threeNodes().members, nil, 0, ByElection},
	} {
		if c := Choose(tt.members, tt.ids, Options{}); c.Index != tt.want || c.How != tt.how {
			t.Errorf("%s: %d by %s, want %d by %s", tt.name, c.Index, c.How, tt.want, tt.how)
		}
	}

	// fail_on_status=404, -503: the one puts the node in error, the other not.
	r := threeNodes()
	r.serve(nil, HardStatus)
	if s := r.state("node1"); s != Error {
		t.Errorf("after a hard status: %s", s)
	}
	r = threeNodes()
	r.serve(nil, SoftStatus)
	if s := r.state("node1"); s != OK {
		t.Errorf("after a soft status: %s", s)
	}
}

// TestF032: one malformed packet does not take a member out of service.
func TestF032(t *testing.T) {
	for from := range states {
		if got := from.On(Judge(ProtocolError, Facts{Now: 1}).Event); got == Error && from != Error {
			t.Errorf("a malformed packet in %s leads to %s", from, got)
		}
	}
	r := newRig(Member{Route: "http"})
	for range 10 {
		if got := r.serve(nil, ProtocolError); got.tried != "http http" {
			t.Fatalf("%+v", got)
		}
	}
	if s := r.state("http"); s != OK {
		t.Errorf("after ten: %s", s)
	}
}

// TestF048: a slow page takes the member out at the third late reply when two
// are allowed, at the first when none is; time forgives.
func TestF048(t *testing.T) {
	r := newRig(Member{Route: "n1"})
	r.maxReplyTimeouts, r.retries = 2, 1
	for i, want := range []State{OK, OK, Error} {
		r.serve(nil, ReplyTimeout)
		if got := r.state("n1"); got != want {
			t.Errorf("slow request %d: %s, want %s", i+1, got, want)
		}
		if want == OK {
			if got := r.serve(nil, Success); got.member != "n1" {
				t.Errorf("/fast after slow request %d: %+v", i+1, got)
			}
		}
	}

	r = newRig(Member{Route: "n1"})
	r.maxReplyTimeouts, r.retries = 2, 1
	for range 5 { // one a minute
		r.serve(nil, ReplyTimeout)
		r.maintain(60)
		if got := r.state("n1"); got == Error {
			t.Errorf("a late reply a minute: %s", got)
		}
	}

	r = newRig(Member{Route: "n1"})
	r.retries = 1
	r.serve(nil, ReplyTimeout)
	if got := r.state("n1"); got != Error {
		t.Errorf("none allowed: %s", got)
	}
}

// TestF054: quoted and repeated cookies; the first usable route wins.
func TestF054(t *testing.T) {
	cookie := func(field string) *IDs { return &IDs{Cookie: "JSESSIONID", Cookies: fields(field)} }
	m := lb(3)
	for _, tt := range []struct {
		field string
		want  int
		how   How
	}{
		{`JSESSIONID=a.zzz; JSESSIONID="b.n2"`, 1, ByRoute},
		{`MYJSESSIONID=c.n3`, 0, ByElection},
		{`XJSESSIONID=c.n3; JSESSIONID = "d.n2"`, 1, ByRoute},
		{`JSESSIONID=; JSESSIONID=e.n3`, 2, ByRoute},
		{`JSESSIONID=a.n2; JSESSIONID=b.n3`, 1, ByRoute},
		{`jsessionid=a.n2`, 0, ByElection},
	} {
		if c := Choose(m, cookie(tt.field), Options{}); c.Index != tt.want || c.How != tt.how {
			t.Errorf("%s: %d by %s", tt.field, c.Index, c.How)
		}
	}
	m[1].State = Error
	if c := Choose(m, cookie(`JSESSIONID=a.n2; JSESSIONID=b.n3`), Options{}); c.Index != 2 || c.How != ByRoute {
		t.Errorf("first route unusable: %+v", c)
	}
}

// TestF056: an id without route is balanced and is no new session.
func TestF056(t *testing.T) {
	for _, tt := range []struct {
		cookie, field string
		has           bool
	}{
		{"SESSION", "SESSION=abc=", true},
		{"JSESSIONID", "SESSION=abc=", false},
		{"JSESSIONID", "JSESSIONID=abc.", true},
	} {
		r := newRig(lb(2)...)
		r.method = BySessions
		ids := &IDs{Cookie: tt.cookie, Cookies: fields(tt.field)}
		got := r.serve(ids, Success)
		if got.member != "n1" || got.choice.How != ByElection || got.choice.HasID != tt.has || got.choice.Unknown != nil {
			t.Errorf("%s in %s: %+v", tt.cookie, tt.field, got)
		}
		if counted := r.members[0].Value != 0; counted == tt.has {
			t.Errorf("%s in %s: value %d", tt.cookie, tt.field, r.members[0].Value)
		}
		if c := Choose(r.members, ids, Options{Force: true}); c.Index < 0 {
			t.Errorf("%s in %s, forced: nobody", tt.cookie, tt.field)
		}
	}
}

// TestF057: what follows the first dot, else the last one, else the domain.
func TestF057(t *testing.T) {
	m := []Member{{Route: "node-1"}, {Route: "app1.example.com:8009", Domain: "app1"}, {Route: "n3", Domain: "dom3"}}
	for _, tt := range []struct {
		id      string
		want    int
		how     How
		unknown string
	}{
		{"x.node-1", 0, ByRoute, ""},
		{"x.dom.node-1", 0, ByRoute, ""},
		{"x.dom3.node-1", 0, ByRoute, ""}, // a member before a domain
		{"x.app1.example.com:8009", 1, ByRoute, ""},
		{"x.app1.example.com:8010", 1, ByDomain, ""},
		{"x.dom3.gone", 2, ByDomain, ""},
		{"x.worker1", 0, ByElection, "worker1"},
		{"x.NODE-1", 0, ByElection, "NODE-1"},
	} {
		c := Choose(m, session(tt.id), Options{})
		if c.Index != tt.want || c.How != tt.how || string(c.Unknown) != tt.unknown {
			t.Errorf("%s: %d by %s, unknown %q", tt.id, c.Index, c.How, c.Unknown)
		}
	}
}

// TestF058 is its matrix: three activations of n1, a session of n1 or a new
// request, forced or not.
func TestF058(t *testing.T) {
	for _, tt := range []struct {
		a          Activation
		own, force bool
		want       int
	}{
		{Active, true, false, 0},
		{Active, true, true, 0},
		{Active, false, false, 0},
		{Active, false, true, 0},
		{Disabled, true, false, 0},
		{Disabled, true, true, 0},
		{Disabled, false, false, 1},
		{Disabled, false, true, 1},
		{Stopped, true, false, 1},
		{Stopped, true, true, -1},
		{Stopped, false, false, 1},
		{Stopped, false, true, 1},
	} {
		m := lb(2)
		m[0].Activation = tt.a
		var ids *IDs
		if tt.own {
			ids = session("x.n1")
		}
		if c := Choose(m, ids, Options{Force: tt.force}); c.Index != tt.want {
			t.Errorf("%s, own %v, force %v: %d, want %d", tt.a, tt.own, tt.force, c.Index, tt.want)
		}
	}
	m := lb(2)
	m[0].Activation, m[1].Activation = Disabled, Disabled
	if c := Choose(m, nil, Options{}); c.Index != -1 {
		t.Errorf("all disabled, new: %+v", c)
	}
	m = domains()
	m[0].Activation, m[0].Redirect = Stopped, "n3"
	for _, tt := range []struct {
		name string
		edit func()
		want int
	}{
		{"redirect first", func() {}, 2},
		{"then the domain", func() { m[2].State = Error }, 1},
		{"then any", func() { m[1].State = Error }, 3},
	} {
		tt.edit()
		if c := Choose(m, session("x.n1"), Options{}); c.Index != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, c.Index, tt.want)
		}
	}
}

// TestF060: a cookie of the balancer's own is needed when the session is not
// where its route says.
func TestF060(t *testing.T) {
	r := newRig(lb(2)...)
	first := r.serve(nil, Success)
	if first.choice.Sticky || first.choice.RouteSent != "n1" {
		t.Errorf("first request: %+v", first)
	}
	if second := r.serve(session("."+first.choice.RouteSent), Success); !second.choice.Sticky || second.member != "n1" {
		t.Errorf("second request: %+v", second)
	}
	r.down["n1"] = true
	third := r.serve(session("."+first.choice.RouteSent), Success)
	if third.choice.Sticky || third.tried != "n1 n2" || third.choice.RouteSent != "n2" {
		t.Errorf("with its member down: %+v", third)
	}
}

// TestF062: with all members down nobody waits for recover_time.
func TestF062(t *testing.T) {
	r := newRig(lb(2)...)
	r.down["n1"], r.down["n2"] = true, true
	if got := r.serve(nil, Success); got.tried != "n1 n2 n1 n2" && got.tried != "n1 n2 n2 n1" || got.member == "n1" || got.member == "n2" {
		t.Errorf("both down: %+v", got)
	}
	r.down["n2"] = false
	if got := r.serve(nil, Success); got.member != "n2" {
		t.Errorf("one is back: %+v", got)
	}
	if r.state("n2") != OK {
		t.Errorf("the one that is back: %s", r.state("n2"))
	}

	// A session that is bound to its member is tried there once more.
	r = newRig(lb(2)...)
	r.o.Force = true
	r.down["n1"] = true
	r.serve(session("x.n1"), Success)
	if got := r.serve(session("x.n1"), Success); got.tried != "n1" || got.member != "503" {
		t.Errorf("forced, down: %+v", got)
	}
	r.down["n1"] = false
	if got := r.serve(session("x.n1"), Success); got.tried != "n1" || got.member != "n1" {
		t.Errorf("forced, back: %+v", got)
	}
}

// TestF062OneProbe: while others work a member in error gets one request
// recover_time after the last failure, not all that come.
func TestF062OneProbe(t *testing.T) {
	r := newRig(lb(3)...)
	r.down["n1"] = true
	r.serve(nil, Success)
	failed := r.now
	for r.now < failed+300 {
		r.maintain(1)
		var tried int
		for range 20 {
			for _, route := range []string{"n1", "n2", "n3"} {
				got := r.serve(session("x."+route), Success)
				if got.member != "n2" && got.member != "n3" {
					t.Fatalf("%+v", got)
				}
				if got.tried != got.member {
					tried++
				}
			}
		}
		want := 0
		if since := r.now - failed; since%61 == 0 {
			want = 1
		}
		if tried != want {
			t.Fatalf("%d s after the failure: %d requests tried the member", r.now-failed, tried)
		}
	}
}

// TestEscalation: failures are tolerated as long as other requests are in hand
// and some succeed, but not for ever.
func TestEscalation(t *testing.T) {
	one := func() *rig {
		r := newRig(lb(2)...)
		r.others[0] = true
		return r
	}
	// try gives a request to n1.
	try := func(r *rig, result Result) State {
		r.attempt(found(r.members, 0, ByElection), result)
		return r.state("n1")
	}
	r := one()
	for i := range 10 {
		r.maintain(10)
		a, b := try(r, Success), try(r, Failure)
		if a != OK || b != OK {
			t.Errorf("failures and successes, %d: %s %s", i, a, b)
		}
	}
	r = one()
	var log []State
	for _, step := range []int64{0, 10, 10, 9, 1} {
		r.now += step
		log = append(log, try(r, Failure))
	}
	if got := fmt.Sprint(log); got != "[OK OK OK OK ERR]" {
		t.Errorf("only failures: %s", got)
	}
	r = one()
	try(r, Failure)
	r.maintain(29)
	before := r.state("n1")
	r.maintain(1)
	if after := r.state("n1"); before != OK || after != Error {
		t.Errorf("a failure and then nothing: %s, %s", before, after)
	}
}
