package status

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector/jk/balance"
)

// Every parameter of an update, in and out of its range: the change it makes,
// "" for none, or the error.
func TestUpdateParameters(t *testing.T) {
	long := strings.Repeat("r", 63)
	tests := []struct {
		target, param string
		change, fault string
	}{
		// A balancer.
		{"w=cart", "vlr=3", "retries=3", ""},
		{"w=cart", "vlr=0", "", ""},
		{"w=cart", "vlr=-1", "", ""},
		{"w=cart", "vlr=", "", ""},
		{"w=cart", "vlr=3x", "", ""},
		{"w=cart", "vlr=99999999999", "", ""},
		{"w=cart", "vlr=2", "", ""}, // is so already
		{"w=cart", "vlri=1", "retry_interval=1", ""},
		{"w=cart", "vlri=0", "", ""},
		{"w=cart", "vlt=1", "recover_time=1", ""},
		{"w=cart", "vlt=0", "", ""},
		{"w=cart", "vlee=1", "error_escalation_time=1", ""},
		{"w=cart", "vlee=0", "", ""},
		{"w=cart", "vlx=1", "max_reply_timeouts=1", ""},
		{"w=cart", "vlx=-1", "", ""},
		{"w=search", "vlx=0", "", ""},
		{"w=cart", "vls=0", "sticky_session=False", ""},
		{"w=cart", "vls=0&vls=1", "", ""},
		{"w=search", "vls=0&vls=1", "sticky_session=True", ""},
		{"w=cart", "vls=off", "sticky_session=False", ""},
		{"w=cart", "vls=", "", ""},
		{"w=cart", "vls=maybe", "", ""},
		{"w=cart", "vlf=1", "sticky_session_force=True", ""},
		{"w=cart", "vlf=on", "sticky_session_force=True", ""},
		{"w=cart", "vlf=True", "sticky_session_force=True", ""},
		{"w=cart", "vlf=2", "", ""},
		{"w=cart", "vlm=r", "method=Request", ""},
		{"w=cart", "vlm=Traffic", "method=Traffic", ""},
		{"w=cart", "vlm=2", "method=Busyness", ""},
		{"w=cart", "vlm=4", "method=Next", ""},
		{"w=cart", "vlm=5", "", ""},
		{"w=cart", "vlm=x", "", ""},
		{"w=cart", "vll=P", "lock=Pessimistic", ""},
		{"w=cart", "vll=1", "lock=Pessimistic", ""},
		{"w=cart", "vll=2", "", ""},
		{"w=cart", "vwa=s", "", ""}, // no attribute of a balancer
		{"w=cart", "vahst=other", "", ""},

		// A member.
		{"w=cart&sw=ash", "vwa=d", "activation=DIS", ""},
		{"w=cart&sw=ash", "vwa=2", "activation=STP", ""},
		{"w=cart&sw=ash", "vwa=0", "", ""},
		{"w=cart&sw=ash", "vwa=3", "", ""},
		{"w=cart&sw=oak", "vwa=active", "activation=ACT", ""},
		{"w=cart&sw=ash", "vwf=1", "lbfactor=1", ""},
		{"w=cart&sw=ash", "vwf=0", "", ""},
		{"w=cart&sw=ash", "vwn=new", "route=new", ""},
		{"w=cart&sw=ash", "vwn=west.new", "route=west.new domain=west", ""},
		{"w=cart&sw=ash", "vwn=west.new&vwc=", "route=west.new domain=west", ""},
		{"w=cart&sw=ash", "vwn=west.new&vwc=north", "route=west.new domain=north", ""},
		{"w=cart&sw=elm", "vwn=west.elm", "route=west.elm", ""}, // has a domain
		{"w=cart&sw=ash", "vwn=.new", "route=.new", ""},
		{"w=cart&sw=ash", "vwn=", "", ""},
		{"w=cart&sw=ash", "vwn=" + long, "route=" + long, ""},
		{"w=cart&sw=ash", "vwn=r" + long, "", "longer than 63 bytes"},
		{"w=cart&sw=ash", "vwn=fir", "", "that of another member"},
		{"w=cart&sw=ash", "vwn=a%3Bb", "", "not allowed"},
		{"w=cart&sw=ash", "vwn=a%0Ab", "", "not allowed"},
		{"w=cart&sw=elm", "vwr=", "redirect=", ""},
		{"w=cart&sw=elm", "vwr=oak", "redirect=oak", ""},
		{"w=cart&sw=elm", "vwr=a+b", "", "not allowed"},
		{"w=cart&sw=elm", "vwr=r" + long, "", "longer"},
		{"w=cart&sw=elm", "vwc=", "domain=", ""},
		{"w=cart&sw=elm", "vwc=west", "domain=west", ""},
		{"w=cart&sw=elm", "vwc=%22", "", "not allowed"},
		{"w=cart&sw=elm", "vwd=0", "distance=0", ""},
		{"w=cart&sw=elm", "vwd=-1", "", ""},
		{"w=cart&sw=elm", "vwd=7&vwf=0&vwn=a,b&vwa=d", "activation=DIS distance=7", "not allowed"}, // in part
		{"w=cart&sw=elm", "vlr=7", "", ""},

		// A back end.
		{"w=cart&sw=elm", "vahst=192.0.2.77", "host=192.0.2.77", ""},
		{"w=lonely", "vahst=2001:db8::1", "host=2001:db8::1", ""},
		{"w=lonely", "vahst=", "", ""},
		{"w=lonely", "vahst=a/b", "", "not allowed"},
		{"w=lonely", "vahst=r" + long, "host=r" + long, ""},
		{"w=lonely", "vahst=" + strings.Repeat("r", 256), "", "longer than 255 bytes"},
		{"w=lonely", "vaprt=0", "port=0", ""},
		{"w=lonely", "vaprt=65535", "port=65535", ""},
		{"w=lonely", "vaprt=65536", "", ""},
		{"w=lonely", "vaprt=-1", "", ""},
		{"w=lonely", "vacpt=60", "connection_pool_timeout=60", ""},
		{"w=parked", "vacpt=0", "connection_pool_timeout=0", ""},
		{"w=lonely", "vacpt=-1", "", ""},
		{"w=lonely", "vapng=0", "ping_timeout=0", ""},
		{"w=lonely", "vapng=-1", "", ""},
		{"w=lonely", "vact=5", "connect_timeout=5", ""},
		{"w=lonely", "vact=-1", "", ""},
		{"w=lonely", "vapt=5", "prepost_timeout=5", ""},
		{"w=lonely", "vapt=-1", "", ""},
		{"w=lonely", "vart=5", "reply_timeout=5", ""},
		{"w=lonely", "vart=-1", "", ""},
		{"w=lonely", "var=1", "retries=1", ""},
		{"w=lonely", "var=0", "", ""},
		{"w=lonely", "vari=1", "retry_interval=1", ""},
		{"w=lonely", "vari=0", "", ""},
		{"w=lonely", "vacpi=1", "connection_ping_interval=1", ""},
		{"w=lonely", "vacpi=0", "", ""},
		{"w=lonely", "varo=31", "recovery_options=31", ""},
		{"w=lonely", "varo=32", "", ""},
		{"w=lonely", "varo=-1", "", ""},
		{"w=lonely", "vabl=1", "busy_limit=1", ""},
		{"w=lonely", "vabl=-1", "", ""},
		{"w=lonely", "vamps=8192", "", ""},
		{"w=lonely", "vamps=8193", "max_packet_size=9216", ""},
		{"w=lonely", "vamps=65536", "max_packet_size=65536", ""},
		{"w=lonely", "vamps=65537", "", ""},
		{"w=lonely", "vamps=8191", "", ""},
		{"w=cart&sw=elm", "vamps=16384", "max_packet_size=16384", ""},
		{"w=lonely", "vwa=s", "", ""}, // in no balancer

		{"w=cart&sw=nobody", "vwa=s", "", "no member"},
		{"w=lonely&sw=x", "vwa=s", "", "no member"},
		{"w=nobody", "vwa=s", "", "no worker"},
		{"", "vwa=s", "", "A worker must be given"},
	}
	tested := map[string]bool{}
	for _, tt := range tests {
		r := newRig()
		out := r.post("cmd=update&mime=txt", tt.target+"&"+tt.param)
		got := ""
		if len(r.calls) > 0 {
			_, got, _ = strings.Cut(r.calls[0], ": ")
		}
		failed := strings.Contains(string(out.Body), "Result: type=ERROR") && strings.Contains(string(out.Body), tt.fault)
		if len(r.calls) > 1 || got != tt.change || failed != (tt.fault != "") || out.Status != 200 {
			t.Errorf("update %s&%s does %q, want %q, and answers %s", tt.target, tt.param, r.calls, tt.change, out.Body)
		}
		code, _, _ := strings.Cut(tt.param, "=")
		tested[code] = tested[code] || got != ""
	}
	for a := noAttribute + 1; a < attributeCount; a++ {
		if !tested[a.Code()] {
			t.Errorf("%s is never changed here", a.Code())
		}
	}
}

func TestUpdateOfMany(t *testing.T) {
	tests := []struct {
		query string
		calls []string
		fault string
	}{
		{"w=cart&sw=*&vwd=5", []string{"update cart/ash: distance=5", "update cart/elm: distance=5", "update cart/fir: distance=5", "update cart/oak: distance=5"}, ""},
		{"w=cart&sw=%3Fir&vwd=5", []string{"update cart/fir: distance=5"}, ""},
		{"w=cart&sw=*a*&vwd=5", []string{"update cart/ash: distance=5", "update cart/oak: distance=5"}, ""},
		{"w=cart&sw=z*&vwd=5", nil, "no member"},
		{"w=cart&sw=*&vwn=one", nil, "that of another"},
		{"w=cart&att=vwa&val0=d&val1=a&val3=1", []string{"update cart/ash: activation=DIS", "update cart/oak: activation=DIS"}, ""},
		{"w=cart&att=vwn&val0=fir&val2=ash", []string{"update cart/ash: route=fir", "update cart/fir: route=ash"}, ""}, // a swap
		{"w=cart&att=vwn&val0=fir&val1=new", nil, "that of another"},
		{"w=cart&att=vamps&val0=10240&val1=1", []string{"update cart/ash: max_packet_size=10240"}, ""},
		{"w=cart&att=vwf&vwf=9", nil, ""},
		{"w=cart&att=vahst&val0=x", nil, "Invalid attribute"},
		{"w=cart&att=vaprt&val0=1", nil, "Invalid attribute"},
		{"w=cart&att=vlr&val0=1", nil, "Invalid attribute"},
		{"w=cart&att=nonsense&val0=1", nil, "Invalid attribute"},
		{"w=lonely&att=vart&val0=1", nil, "Only a balancer"},
		{"w=nobody&att=vart&val0=1", nil, "no worker"},
	}
	for _, tt := range tests {
		r := newRig()
		out := r.post("cmd=update&mime=txt&"+tt.query, "")
		failed := strings.Contains(string(out.Body), "type=ERROR") && strings.Contains(string(out.Body), tt.fault)
		if !slices.Equal(r.calls, tt.calls) || failed != (tt.fault != "") {
			t.Errorf("%s does %q, want %q, and answers %s", tt.query, r.calls, tt.calls, out.Body)
		}
	}
}

// Every attribute that a form may be for can be edited for all members, and its
// form and its update go together.
func TestFormsOfAllAttributes(t *testing.T) {
	for a := noAttribute + 1; a < attributeCount; a++ {
		d := &definitions[a]
		if d.code == "" || d.name == "" || d.value == nil {
			t.Fatalf("attribute %d has no definition", a)
		}
		r := newRig()
		out := r.get("cmd=edit&w=cart&att=" + d.code)
		want := d.scope != ofBalancer && a != Host && a != Port
		if got := strings.Contains(string(out.Body), `name="val3"`); got != want {
			t.Errorf("form for %s of all members: %t", d.code, got)
		}
		for _, query := range []string{"w=cart", "w=cart&sw=ash", "w=lonely"} {
			out := r.get("cmd=edit&" + query)
			has := strings.Contains(string(out.Body), `name="`+d.code+`"`)
			tgt := map[string]target{"w=cart": {balancer: &Balancer{}}, "w=cart&sw=ash": {balancer: &Balancer{}, member: &Member{}}, "w=lonely": {ajp: &AJP{}}}[query]
			if has != tgt.has(d.scope) {
				t.Errorf("form for %s has %s: %t", query, d.code, has)
			}
		}
	}
}

// A form that is sent as it is changes nothing.
func TestFormUnchanged(t *testing.T) {
	for _, query := range []string{"cmd=edit&w=cart", "cmd=edit&w=search", "cmd=edit&w=cart&sw=elm", "cmd=edit&w=lonely", "cmd=edit&w=parked",
		"cmd=edit&w=cart&att=vwa", "cmd=edit&w=cart&att=vwn", "cmd=edit&w=cart&att=vamps"} {
		r := newRig()
		out := r.get(query)
		form := formOf(t, string(out.Body))
		out = r.post("", form)
		if len(r.calls) > 0 || !strings.Contains(string(out.Body), "Nothing was to be changed") {
			t.Errorf("%s: sending %q does %q", query, form, r.calls)
		}
	}
}

// formOf is what a browser sends for a form of an edit page.
func formOf(t *testing.T, text string) string {
	_, text, _ = strings.Cut(text, `<form method="post" action="?" class="edit">`)
	text, _, ok := strings.Cut(text, "</form>")
	if !ok {
		t.Fatal("no form")
	}
	tags, err := readHTML(text + "")
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	selectName := ""
	for _, g := range tags {
		_, checked := g.attrs["checked"]
		_, selected := g.attrs["selected"]
		switch {
		case g.name == "select":
			selectName = g.attrs["name"]
		case g.name == "option" && selected:
			pairs = append(pairs, selectName+"="+escape(g.attrs["value"]))
		case g.name == "input" && (g.attrs["type"] != "checkbox" || checked):
			pairs = append(pairs, g.attrs["name"]+"="+escape(g.attrs["value"]))
		}
	}
	return strings.Join(pairs, "&")
}

// What was not touched in a form stays, though it was changed since the form
// was made.
func TestFormIsOld(t *testing.T) {
	for query, tt := range map[string]struct{ from, to, call string }{
		"cmd=edit&w=cart&sw=ash":  {"&vart=%30", "&vart=500", "update cart/ash: reply_timeout=500"},
		"cmd=edit&w=cart&att=vwa": {"&val2=%31", "&val2=0", "update cart/fir: activation=ACT"},
	} {
		r := newRig()
		out := r.get(query)
		form := formOf(t, string(out.Body))
		changed := strings.Replace(form, tt.from, tt.to, 1)
		if changed == form {
			t.Fatalf("no %s in %s", tt.from, form)
		}
		r.view = func() View {
			v := sample()
			m := &v.Balancers[0].Members[0]
			m.Activation, m.LBFactor, m.Host = balance.Stopped, 9, "elsewhere"
			return v
		}
		r.post("", changed)
		if got := strings.Join(r.calls, ", "); got != tt.call {
			t.Errorf("%s: did %q, want %q", query, got, tt.call)
		}
	}
}

func TestUnticking(t *testing.T) {
	r := newRig()
	out := r.get("cmd=edit&w=cart")
	form := strings.Replace(formOf(t, string(out.Body)), "&vls=%31", "", 1) // the box, not the hidden field
	r.post("", form)
	if want := []string{"update cart/: sticky_session=False"}; !slices.Equal(r.calls, want) {
		t.Errorf("unticking does %q, want %q", r.calls, want)
	}
}

func TestLog(t *testing.T) {
	r := newRig()
	r.post("cmd=update&w=cart&sw=elm", "vwa=s&vart=1000")
	r.post("cmd=update&w=cart", "vlm=t")
	r.post("cmd=update&w=lonely", "vaprt=1")
	r.post("cmd=reset&w=cart&sw=elm", "")
	r.post("cmd=recover&w=cart&sw=elm", "")
	r.post("cmd=recover&w=cart&sw=ash", "")
	r.get("cmd=nonsense")
	r.get("cmd=reset&w=cart")
	r.config.Users = []string{"eve"}
	r.in.RemoteUser = "mal\nlory"
	r.get("")
	want := []string{
		"info Status worker 'stat' changing 'activation' for sub worker 'elm' of lb worker 'cart' from 'ACT' to 'STP'",
		"info Status worker 'stat' changing 'reply_timeout' for sub worker 'elm' of lb worker 'cart' from '0' to '1000'",
		"info Status worker 'stat' changing 'method' for lb worker 'cart' from 'Sessions' to 'Traffic'",
		"info Status worker 'stat' changing 'port' for ajp worker 'lonely' from '8009' to '1'",
		"info Status worker 'stat' resetting sub worker 'elm' of lb worker 'cart'",
		"info Status worker 'stat' marking sub worker 'elm' of lb worker 'cart' for recovery",
		"warn Status worker 'stat': Marking worker for recovery failed",
		"warn Status worker 'stat': Invalid command.",
		"warn Status worker 'stat': This command must be sent by POST, or with the token of this page.",
		"warn Status worker 'stat' service denied for user 'mal?lory'",
	}
	if !slices.Equal(r.log, want) {
		t.Errorf("log\n%s\nwant\n%s", strings.Join(r.log, "\n"), strings.Join(want, "\n"))
	}
}

func TestControlFails(t *testing.T) {
	for query, want := range map[string]string{
		"cmd=update&w=lonely&vahst=no.where": `message="Update failed for ajp worker 'lonely': cannot resolve."`,
		"cmd=reset&w=lonely":                 `message="Reset of ajp worker 'lonely' failed: cannot resolve"`,
		"cmd=recover&w=cart&sw=elm":          `message="Marking worker for recovery failed"`,
	} {
		r := newRig()
		r.refuse = errors.New("cannot resolve")
		out := r.post("mime=txt&"+query, "")
		if !strings.Contains(string(out.Body), want) || len(r.log) == 0 || !strings.HasPrefix(r.log[0], "warn ") {
			t.Errorf("%s: %s, log %q", query, out.Body, r.log)
		}
	}
}

func TestResetAndRecover(t *testing.T) {
	tests := []struct{ query, call, fault string }{
		{"cmd=reset&w=cart", "reset cart/ 1935831600", ""},
		{"cmd=reset&w=cart&sw=ash", "reset cart/ash 1935831600", ""},
		{"cmd=reset&w=lonely", "reset lonely/ 1935831600", ""},
		{"cmd=reset", "", "must be given"},
		{"cmd=reset&w=cart&sw=*", "", "no member"},
		{"cmd=recover&w=cart&sw=elm", "recover cart/elm", ""},
		{"cmd=recover&w=cart&sw=ash", "", "recovery failed"},
		{"cmd=recover&w=cart", "", "A member must be given"},
		{"cmd=recover&w=lonely", "", "A member must be given"},
		{"cmd=recover&w=lonely&sw=lonely", "", "no member"},
	}
	for _, tt := range tests {
		r := newRig()
		out := r.post(tt.query+"&mime=prop", "")
		failed := strings.Contains(string(out.Body), "worker.result.type=ERROR\n") && strings.Contains(string(out.Body), tt.fault)
		if got := strings.Join(r.calls, ","); got != tt.call || failed != (tt.fault != "") {
			t.Errorf("%s does %q, want %q, and answers %s", tt.query, got, tt.call, out.Body)
		}
	}
}

func TestWild(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"?", "", false}, {"?", "a", true},
		{"a*c", "abbc", true}, {"a*c", "abcd", false}, {"*a*b", "xaxbxb", true}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"**", "x", true}, {"abc", "abc", true}, {"abc", "ABC", false}, {"*?", "", false}, {"a*", "ba", false},
		{strings.Repeat("*a", 500) + "b", strings.Repeat("a", 1000), false},
	} {
		if got := conf.Wildcard(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Wildcard(%.20q, %.20q) = %t", tt.pattern, tt.name, got)
		}
	}
}
