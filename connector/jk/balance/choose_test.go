package balance

import "testing"

// session is the ids of a request with such cookies.
func session(values ...string) *IDs {
	ids := &IDs{Cookie: "JSESSIONID", Param: ";jsessionid"}
	for _, v := range values {
		ids.Cookies = append(ids.Cookies, []byte("JSESSIONID="+v))
	}
	return ids
}

// domains is n1 and n2 of domain a, n3 and n4 of domain b.
func domains() []Member {
	m := lb(4)
	m[0].Domain, m[1].Domain, m[2].Domain, m[3].Domain = "a", "a", "b", "b"
	return m
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name    string
		members []Member
		edit    func(m []Member)
		ids     *IDs
		o       Options
		want    int
		how     How
		sent    string // "": the member's route
		unknown string
	}{
		{name: "nobody", members: nil, want: -1},
		{name: "new", members: lb(2), want: 0, how: ByElection},
		{name: "new, from", members: lb(2), o: Options{From: 1}, want: 1, how: ByElection},
		{name: "own", members: lb(2), ids: session("x.n2"), want: 1, how: ByRoute},
		{name: "own, probe by a session", members: lb(2), edit: func(m []Member) { m[1].State = Recover }, ids: session("x.n2"), want: 1, how: ByRoute},
		{name: "own, disabled", members: lb(2), edit: func(m []Member) { m[1].Activation = Disabled }, ids: session("x.n2"), want: 1, how: ByRoute},
		{name: "own, stopped", members: lb(2), edit: func(m []Member) { m[1].Activation = Stopped }, ids: session("x.n2"), want: 0, how: ByElection},
		{name: "own, in error", members: lb(2), edit: func(m []Member) { m[1].State = Error }, ids: session("x.n2"), want: 0, how: ByElection},
		{name: "own, being probed", members: lb(2), edit: func(m []Member) { m[1].State = Probe }, ids: session("x.n2"), want: 0, how: ByElection},
		{name: "own, failed before", members: lb(2), edit: func(m []Member) { m[1].Failed = true }, ids: session("x.n2"), want: 0, how: ByElection},
		{name: "own, busy, forced", members: lb(2), edit: func(m []Member) { m[1].State = Busy }, ids: session("x.n2"), o: Options{Force: true}, want: -1},
		{name: "forced, new", members: lb(2), o: Options{Force: true}, want: 0, how: ByElection},
		{name: "forced, id without route", members: lb(2), ids: session("x"), o: Options{Force: true}, want: 0, how: ByElection},
		{name: "forced, unknown route", members: lb(2), ids: session("x.gone"), o: Options{Force: true}, want: -1, unknown: "gone"},
		{name: "forced, second id is usable", members: lb(2), edit: func(m []Member) { m[0].State = Error }, ids: session("x.n1", "y.n2"), o: Options{Force: true}, want: 1, how: ByRoute},
		{name: "unknown route", members: lb(2), ids: session("x.gone"), want: 0, how: ByElection, unknown: "gone"},
		{name: "unknown, then known", members: lb(2), ids: session("x.gone", "y.gone2", "z.n2"), want: 1, how: ByRoute, unknown: "gone"},
		{name: "first id unusable, second usable", members: lb(3), edit: func(m []Member) { m[0].State = Error }, ids: session("x.n1", "y.n3"), want: 2, how: ByRoute},
		{name: "route is exact", members: lb(2), ids: session("x.n", "y.n22", "z.N2"), want: 0, how: ByElection, unknown: "n"},
		{name: "after the last dot", members: lb(2), ids: session("x.dom.n2"), want: 1, how: ByRoute},
		{name: "route that begins with a dot", members: domains(), ids: session("x..gone"), want: 0, how: ByElection, unknown: ".gone"},
		{name: "JK_ROUTE", members: lb(2), ids: &IDs{Route: []byte("n2"), Cookie: "JSESSIONID", Cookies: fields("JSESSIONID=x.n1")}, want: 1, how: ByRoute},

		{name: "domain in the route", members: domains(), ids: session("x.b.other"), want: 2, how: ByDomain, sent: "b"},
		{name: "domain is the route", members: domains(), ids: session("x.b"), want: 2, how: ByDomain, sent: "b"},
		{name: "domain, lowest value", members: domains(), edit: func(m []Member) { m[2].Value = 2; m[3].Value = 1 }, ids: session("x.b"), want: 3, how: ByDomain, sent: "b"},
		{name: "domain, lowest distance", members: domains(), edit: func(m []Member) { m[2].Distance = 2; m[3].Value = 9 }, ids: session("x.b"), want: 3, how: ByDomain, sent: "b"},
		{name: "domain, disabled is no choice", members: domains(), edit: func(m []Member) { m[2].Activation = Disabled }, ids: session("x.b"), want: 3, how: ByDomain, sent: "b"},
		{name: "domain, all down", members: domains(), edit: func(m []Member) { m[2].State, m[3].State = Error, Error }, ids: session("x.b"), want: 0, how: ByElection},
		{name: "member down, domain", members: domains(), edit: func(m []Member) { m[3].State = Error }, ids: session("x.n4"), want: 2, how: ByDomain, sent: "b"},
		{name: "member and domain down", members: domains(), edit: func(m []Member) { m[2].State, m[3].State = Error, Error }, ids: session("x.n4"), want: 0, how: ByElection},
		{name: "member down, domain, forced", members: domains(), edit: func(m []Member) { m[3].State = Error }, ids: session("x.n4"), o: Options{Force: true}, want: -1},
		{name: "redirect before domain", members: domains(), edit: func(m []Member) { m[3].State, m[3].Redirect = Error, "n2" }, ids: session("x.n4"), want: 1, how: ByRedirect},
		{name: "redirect to a disabled one", members: domains(), edit: func(m []Member) { m[3].State, m[3].Redirect, m[1].Activation = Error, "n2", Disabled }, ids: session("x.n4"), want: 1, how: ByRedirect},
		{name: "redirect to a stopped one, domain", members: domains(), edit: func(m []Member) { m[3].State, m[3].Redirect, m[1].Activation = Error, "n2", Stopped }, ids: session("x.n4"), want: 2, how: ByDomain, sent: "b"},
		{name: "redirect to nobody", members: lb(2), edit: func(m []Member) { m[1].State, m[1].Redirect = Error, "gone" }, ids: session("x.n2"), want: 0, how: ByElection},
		{name: "redirect, forced", members: lb(2), edit: func(m []Member) { m[1].State, m[1].Redirect = Error, "n1" }, ids: session("x.n2"), o: Options{Force: true}, want: -1},
		{name: "redirect to itself", members: lb(2), edit: func(m []Member) { m[1].State, m[1].Redirect = Error, "n2" }, ids: session("x.n2"), want: 0, how: ByElection},

		{name: "standby", members: lb(3), edit: func(m []Member) {
			m[0].State, m[1].State, m[2].Activation, m[1].Redirect = Error, Error, Disabled, "n3"
		}, want: 2, how: ByStandby},
		{name: "standby, only the first redirect", members: lb(4), edit: func(m []Member) {
			m[0].State, m[1].State, m[2].State, m[3].Activation = Error, Error, Error, Disabled
			m[0].Redirect, m[1].Redirect = "n3", "n4"
		}, want: -1},
		{name: "standby's own redirect", members: lb(4), edit: func(m []Member) {
			m[0].State, m[1].State, m[2].State, m[3].Activation = Error, Error, Error, Disabled
			m[0].Redirect, m[2].Redirect = "n3", "n4"
		}, want: 3, how: ByStandby},
		{name: "standby stopped", members: lb(2), edit: func(m []Member) { m[0].State, m[0].Redirect, m[1].Activation = Error, "n2", Stopped }, want: -1},
		{name: "standby is nobody", members: lb(2), edit: func(m []Member) { m[0].State, m[0].Redirect, m[1].Activation = Error, "gone", Disabled }, want: -1},

		{name: "single", members: lb(1), want: 0, how: BySingle},
		{name: "single, other route", members: lb(1), ids: session("x.gone"), o: Options{Force: true}, want: 0, how: BySingle},
		{name: "single, disabled, new", members: lb(1), edit: func(m []Member) { m[0].Activation = Disabled }, want: -1},
		{name: "single, disabled, own", members: lb(1), edit: func(m []Member) { m[0].Activation = Disabled }, ids: session("x.n1"), want: 0, how: ByRoute},
		{name: "single, disabled, its own standby", members: lb(1), edit: func(m []Member) { m[0].Activation, m[0].Redirect = Disabled, "n1" }, want: 0, how: ByStandby},
		{name: "single, stopped", members: lb(1), edit: func(m []Member) { m[0].Activation = Stopped }, ids: session("x.n1"), want: -1},
		{name: "single, in error", members: lb(1), edit: func(m []Member) { m[0].State = Error }, ids: session("x.n1"), want: -1},
	} {
		if tt.edit != nil {
			tt.edit(tt.members)
		}
		c := Choose(tt.members, tt.ids, tt.o)
		if c.Index != tt.want || c.How != tt.how {
			t.Errorf("%s: %d by %s, want %d by %s", tt.name, c.Index, c.How, tt.want, tt.how)
			continue
		}
		sent := tt.sent
		if sent == "" && tt.want >= 0 {
			sent = tt.members[tt.want].Route
		}
		if c.RouteSent != sent || string(c.Unknown) != tt.unknown {
			t.Errorf("%s: sends %q, unknown %q, want %q %q", tt.name, c.RouteSent, c.Unknown, sent, tt.unknown)
		}
		if sticky := tt.how == ByRoute || tt.how == BySingle; c.Sticky != sticky {
			t.Errorf("%s: sticky %v", tt.name, c.Sticky)
		}
		if has := tt.ids != nil; c.HasID != has {
			t.Errorf("%s: has an id %v", tt.name, c.HasID)
		}
	}
}

func TestResolveWithoutRoute(t *testing.T) {
	if c := Resolve(lb(2), ParseID([]byte("x.")), Options{}); c.Index != -1 || c.How != NotFound || c.Unknown != nil {
		t.Errorf("%+v", c)
	}
}

func TestChooseEmptyID(t *testing.T) {
	for _, n := range []int{1, 2} {
		if c := Choose(lb(n), session(""), Options{}); !c.EmptyID || c.HasID || c.Index != 0 {
			t.Errorf("%d members: %+v", n, c)
		}
	}
}

// worst is a request whose ids all have to be looked at, among many members.
func worst() ([]Member, *IDs) {
	m := lb(20)
	m[19].State, m[19].Redirect, m[0].State = Error, "n1", Error
	return m, session("x.gone", "y.dom.gone", `"z.n20"; a=b; JSESSIONID=q`)
}

func TestChooseAllocates(t *testing.T) {
	m, ids := worst()
	if n := testing.AllocsPerRun(100, func() {
		if Choose(m, ids, Options{From: 3}).Index != 3 {
			t.Error("another member")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChoose(b *testing.B) {
	b.Run("new of 2", func(b *testing.B) {
		m := lb(2)
		b.ReportAllocs()
		for b.Loop() {
			Choose(m, nil, Options{})
		}
	})
	b.Run("cookie of 4", func(b *testing.B) {
		m, ids := lb(4), session("0123456789ABCDEF0123456789ABCDEF.n4")
		b.ReportAllocs()
		for b.Loop() {
			Choose(m, ids, Options{})
		}
	})
	b.Run("worst of 20", func(b *testing.B) {
		m, ids := worst()
		b.ReportAllocs()
		for b.Loop() {
			Choose(m, ids, Options{})
		}
	})
}
