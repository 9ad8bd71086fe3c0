package status

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"jkd/connector/jk/balance"
)

var (
	zone = time.FixedZone("CET", 3600)
	noon = time.Date(2031, 5, 6, 12, 0, 0, 0, zone)
)

func at(ago time.Duration) int64 { return noon.Add(-ago).Unix() }

const token = "00112233445566778899aabbccddeeff"

const theSecret = "tide-9f-wrack"

func endpoint(name, address string) Endpoint {
	return Endpoint{
		Name: name, Host: name + ".shop.example", Port: 8009, Address: address,
		PingTimeout: 10 * time.Second, Retries: 2, RetryInterval: 100 * time.Millisecond, MaxPacketSize: 8192,
	}
}

// sample has something of everything.
func sample() View {
	v := View{
		Software: Software{WebServer: `jkd/9 (test "x")`, JKVersion: "jkd/9"},
		Balancers: []Balancer{{
			Name: "cart", StickySession: true, Retries: 2, RetryInterval: 100 * time.Millisecond,
			RecoverTime: time.Minute, ErrorEscalationTime: 30 * time.Second, Method: balance.BySessions,
			Busy: 4, MaxBusy: 9, TimeToMaintenanceMin: 20 * time.Second, TimeToMaintenanceMax: 82 * time.Second, LastReset: at(26 * time.Hour),
			Members: []Member{
				{Endpoint: endpoint("ash", "192.0.2.1:8009"), LBFactor: 2, Route: "ash", State: balance.OK, LBMult: 1, LBValue: 7,
					Elected: 120034, Sessions: 1022, Counters: Counters{ClientErrors: 3, Transferred: 48 << 20, Read: 3 << 30, Busy: 3, MaxBusy: 8, Connected: 12, MaxConnected: 16, LastReset: at(26 * time.Hour)}},
				{Endpoint: endpoint("elm", "192.0.2.2:8009"), LBFactor: 1, Route: "east.elm", Redirect: "ash", Domain: "east", Distance: 1, State: balance.Error, LBMult: 2, LBValue: 9,
					TimeToRecoverMin: 40 * time.Second, TimeToRecoverMax: 100 * time.Second,
					Elected: 511, Sessions: 20, Counters: Counters{Errors: 6, ReplyTimeouts: 1, Transferred: 2048, Read: 4096, Connected: 0, MaxConnected: 4, LastReset: at(26 * time.Hour), ErrorTime: at(20 * time.Second)}},
				{Endpoint: endpoint("fir", ""), Activation: balance.Disabled, LBFactor: 1, Route: "fir", State: balance.Idle, LBMult: 2,
					Counters: Counters{LastReset: at(26 * time.Hour)}},
				{Endpoint: endpoint("oak", ""), Activation: balance.Stopped, LBFactor: 1, Route: "oak", State: balance.Idle, LBMult: 2,
					Counters: Counters{LastReset: at(26 * time.Hour)}},
			},
			Maps: []Map{
				{Server: "shop.example:443", URI: "/cart/*", Source: FromMountMap, ReplyTimeout: 90 * time.Second, StickyIgnore: true, Stateless: true,
					FailOnStatus: "503,-404", Active: "ash,elm", DisabledMembers: "fir", Stopped: "oak", UseServerErrors: 500},
				{Server: "shop.example:443", URI: "/cart/static/*", Unmount: true, Source: FromMount, ReplyTimeout: -1},
				{Server: "shop.example:443", URI: "/old", Exact: true, Disabled: true, ReplyTimeout: -1},
			},
		}, {
			Name: "search", Retries: 1, RecoverTime: time.Second, Method: balance.ByBusyness, Lock: balance.Pessimistic,
			Members: []Member{{Endpoint: endpoint("gull", "[2001:db8::7]:8009"), LBFactor: 1, Route: "gull", State: balance.Probe, LBMult: 1}},
		}},
		AJP: []AJP{{
			Endpoint: endpoint("lonely", "192.0.2.9:8009"), State: balance.Error, Used: 44,
			Counters: Counters{Errors: 2, Transferred: 1500, Read: 3_000_000, Connected: 1, MaxConnected: 2, LastReset: at(time.Hour), ErrorTime: at(5 * time.Minute)},
			Maps:     []Map{{URI: "/lonely/?", ReplyTimeout: -1}},
		}, {
			Endpoint: Endpoint{Name: "parked", Host: "localhost", Retries: 2, MaxPacketSize: 65536, Source: "127.0.0.2",
				ConnectionPoolTimeout: 10 * time.Minute, ConnectTimeout: time.Second, PrepostTimeout: 2 * time.Second, ReplyTimeout: 90 * time.Second,
				ConnectionPingInterval: 100 * time.Second, RecoveryOptions: 3, BusyLimit: 40},
			State: balance.Idle,
		}},
		Configuration: []Pair{
			{"worker.list", "cart,search,lonely,parked,stat"},
			{"worker.cart.type", "lb"},
			{"worker.cart.balance_workers", "ash,elm,fir,oak"},
			{"worker.cart.secret", theSecret},
			{"keyword", theSecret},
			{"worker.lonely.host", "lonely.shop.example"},
			{"2nd key", `a "b" <c>`},
			{"2nd_key", "again"},
		},
	}
	v.Balancers[0].Members[1].ConnectionPingInterval = 100 * time.Second
	return v
}

// control is a connector that has only a view.
type control struct {
	view   func() View
	calls  []string
	refuse error
}

func (c *control) Snapshot(dst *View) { *dst = c.view() }

func (c *control) call(format string, args ...any) error {
	c.calls = append(c.calls, fmt.Sprintf(format, args...))
	return c.refuse
}

func (c *control) Update(w, sw string, changes []Change) error {
	s := ""
	for _, ch := range changes {
		v := definitions[ch.Attribute].show(value{ch.Int, ch.Duration, ch.Text})
		if v != ch.New || v == ch.Old {
			return errors.New("test: a change is not what it says")
		}
		s += " " + ch.Attribute.String() + "=" + v
	}
	return c.call("update %s/%s:%s", w, sw, s)
}

func (c *control) Reset(w, sw string, now time.Time) error {
	return c.call("reset %s/%s %d", w, sw, now.Unix())
}

func (c *control) Recover(w, sw string) error { return c.call("recover %s/%s", w, sw) }

// rig is a status worker with what it did and logged.
type rig struct {
	control
	config Config
	in     Input
	log    []string
}

func newRig() *rig {
	r := &rig{control: control{view: sample}}
	r.config = Config{Name: "stat", Log: func(l Level, text string) {
		r.log = append(r.log, []string{"info ", "warn "}[l]+text)
	}}
	r.in = Input{Method: "GET", Host: "shop.example", ServerName: "shop.example", ServerPort: 443, Now: noon, Token: token}
	return r
}

func (r *rig) get(query string) Output {
	in := r.in
	in.Query = []byte(query)
	return Serve(in, r, r.config)
}

func (r *rig) post(query, form string) Output {
	in := r.in
	in.Method, in.Query, in.Body, in.ContentType = "POST", []byte(query), []byte(form), "application/x-www-form-urlencoded"
	return Serve(in, r, r.config)
}

func (o *Output) field(name string) string {
	i := slices.IndexFunc(o.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return o.Fields[i].Value
}
