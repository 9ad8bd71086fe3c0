package status

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

// The attributes, in the order that scripts know.
func TestOrder(t *testing.T) {
	endpoint := "name type host port address source connection_pool_timeout ping_timeout connect_timeout prepost_timeout reply_timeout connection_ping_interval retries recovery_options busy_limit max_packet_size "
	counted := "errors client_errors reply_timeouts transferred read busy max_busy connected max_connected "
	failed := "last_reset_at last_reset_ago error_time_datetime error_time_tz error_time_unix_seconds error_time_ago"
	want := map[string]string{
		"server":      "name port",
		"time":        "datetime tz unix",
		"software":    "web_server jk_version",
		"balancers":   "count",
		"ajp_workers": "count",
		"result":      "type message",
		"balancer":    "name type sticky_session sticky_session_force retries recover_time error_escalation_time max_reply_timeouts method lock member_count good degraded bad busy max_busy map_count time_to_maintenance_min time_to_maintenance_max last_reset_at last_reset_ago",
		"member":      endpoint + "activation lbfactor route redirect domain distance state lbmult lbvalue elected sessions " + counted + "time_to_recover_min time_to_recover_max " + failed,
		"ajp":         endpoint + "used " + counted + "map_count " + failed,
		"map":         "id server uri type source reply_timeout sticky_ignore stateless fail_on_status active disabled stopped use_server_errors",
	}
	r := newRig()
	r.view = func() View { // so that all have all
		v := sample()
		v.Balancers, v.AJP = v.Balancers[:1], v.AJP[:1]
		v.Balancers[0].Members = v.Balancers[0].Members[1:2]
		v.AJP[0].Maps = nil
		return v
	}
	out := r.get("mime=xml")
	d := xml.NewDecoder(strings.NewReader(string(out.Body)))
	seen := map[string]bool{}
	for tok, err := d.Token(); err == nil; tok, err = d.Token() {
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local == "status" {
			continue
		}
		if e.Name.Space != "http://tomcat.apache.org" {
			t.Errorf("%s is in name space %q", e.Name.Local, e.Name.Space)
		}
		var keys []string
		for _, a := range e.Attr {
			keys = append(keys, a.Name.Local)
		}
		if got := strings.Join(keys, " "); got != want[e.Name.Local] {
			t.Errorf("%s has\n%s, want\n%s", e.Name.Local, got, want[e.Name.Local])
		}
		seen[e.Name.Local] = true
	}
	if len(seen) != len(want) {
		t.Errorf("seen are only %v", seen)
	}

	// The text format has the same, two of them the other way round.
	swapped := strings.NewReplacer("connection_ping_interval retries", "retries connection_ping_interval")
	lines := map[string]string{"Server": "server", "Time": "time", "Software": "software", "Balancer Workers": "balancers", "Balancer Worker": "balancer",
		"Member": "member", "Map": "map", "AJP Workers": "ajp_workers", "AJP Worker": "ajp", "Result": "result"}
	out = r.get("mime=txt")
	for line := range strings.Lines(string(out.Body)) {
		title, rest, _ := strings.Cut(line, ": ")
		var keys []string
		for _, word := range splitText(rest) {
			key, _, _ := strings.Cut(word, "=")
			keys = append(keys, key)
		}
		if got, want := strings.Join(keys, " "), swapped.Replace(want[lines[title]]); got != want {
			t.Errorf("%s has\n%s, want\n%s", title, got, want)
		}
	}
}

// splitText splits a line as a script would: at blanks that are not between
// quotes.
func splitText(line string) (words []string) {
	word, quoted, escaped := "", false, false
	for _, r := range strings.TrimSpace(line) + " " {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			words = append(words, word)
			word = ""
			continue
		}
		word += string(r)
	}
	return words
}

func TestTextQuoting(t *testing.T) {
	r := newRig()
	r.view = func() View {
		v := View{AJP: []AJP{{Endpoint: Endpoint{Name: `a "b\" c`, Host: "h", Source: `x=1 state=OK`}}}}
		return v
	}
	out := r.get("cmd=show&mime=txt&w=" + escape(`a "b\" c`))
	line := ""
	for l := range strings.Lines(string(out.Body)) {
		if strings.HasPrefix(l, "AJP Worker: ") {
			line = l[len("AJP Worker: "):]
		}
	}
	words := splitText(line)
	if len(words) < 6 || words[0] != `name="a \"b\\\" c"` || words[5] != `source="x=1 state=OK"` {
		t.Errorf("words %q", words)
	}
}

func TestPropKeys(t *testing.T) {
	r := newRig()
	r.view = func() View { return hostileView("a b=c:d#e\\") }
	out := r.get("mime=prop")
	for line := range strings.Lines(string(out.Body)) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok || strings.ContainsAny(key, " :#\\") || strings.Count(value, `\`)%2 != 0 {
			t.Errorf("line %q", line)
		}
	}
	if !strings.Contains(string(out.Body), "worker.a_b_c_d_e_.type=lb\n") {
		t.Error("the balancer's key is not there")
	}
	r.config.Prefix = "jk"
	if out := r.get("mime=prop"); strings.Contains(string(out.Body), "\nworker.") || !strings.HasPrefix(string(out.Body), "jk.server_name=") {
		t.Error("directive prefix has no effect")
	}
}

func TestMasks(t *testing.T) {
	elements := func(opt string) map[string]int {
		r := newRig()
		out := r.get("mime=xml&opt=" + opt)
		n := map[string]int{}
		for _, e := range []string{"balancers", "balancer", "member", "map", "ajp_workers", "ajp"} {
			n[e] = strings.Count(string(out.Body), "<jk:"+e+"\n")
		}
		return n
	}
	for _, tt := range []struct {
		opt                                  string
		balancers, balancer, member, mp, ajp int
	}{
		{"0", 1, 2, 5, 4, 2},
		{"1", 1, 2, 0, 4, 2},
		{"2", 1, 2, 5, 0, 2},
		{"8", 0, 0, 0, 1, 2},
		{"16", 1, 2, 5, 3, 0},
		{"24", 0, 0, 0, 0, 0},
		{"3", 1, 2, 0, 0, 2},
		{"484", 1, 2, 5, 4, 2}, // those of the HTML pages only
	} {
		n := elements(tt.opt)
		if n["balancers"] != tt.balancers || n["balancer"] != tt.balancer || n["member"] != tt.member || n["map"] != tt.mp || n["ajp"] != tt.ajp {
			t.Errorf("opt %s: %v", tt.opt, n)
		}
	}
	for bit, gone := range map[string]string{
		"1":   ">Members</caption>",
		"2":   "URI mappings (",
		"4":   ">Legend<",
		"8":   "<small>Balancer</small>",
		"16":  "<small>AJP worker</small>",
		"32":  "cmd=reset",
		"64":  "Error escalation time",
		"128": "Next maintenance",
		"256": ">Pool timeout<",
	} {
		r := newRig()
		if out := r.get("cmd=list"); !strings.Contains(string(out.Body), gone) {
			t.Errorf("opt 0 hides %s", gone)
		}
		if out := r.get("cmd=list&opt=" + bit); strings.Contains(string(out.Body), gone) {
			t.Errorf("opt %s does not hide %s", bit, gone)
		}
	}
}

func TestNames(t *testing.T) {
	r := newRig()
	r.config.NS, r.config.XMLNS, r.config.Doctype = "-", "-", `<!DOCTYPE status SYSTEM "jk.dtd">`
	out := r.get("cmd=version&mime=xml")
	want := "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<!DOCTYPE status SYSTEM \"jk.dtd\">\n<status>\n  <server\n"
	if !strings.HasPrefix(string(out.Body), want) || !strings.HasSuffix(string(out.Body), "</status>\n") {
		t.Errorf("got %s", out.Body)
	}
	r.config.NS, r.config.XMLNS, r.config.Doctype = "st:", `xmlns:st="urn:x"`, ""
	out = r.get("cmd=version&mime=xml")
	if !strings.Contains(string(out.Body), "<st:status\n  xmlns:st=\"urn:x\">\n") {
		t.Errorf("got %s", out.Body)
	}
}

func TestXMLNames(t *testing.T) {
	for key, want := range map[string]string{
		"worker.list": "worker.list", "1st": "_st", "": "_", "-a": "_a", ".a": "_a", "a b": "a_b", "xmlns": "_xmlns", "XmL": "_XmL", "a:b": "a_b", "\xffé": "___", "a-1._": "a-1._",
	} {
		if got := xmlName(key); got != want {
			t.Errorf("xmlName(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, mime := range mimeNames {
		r := newRig()
		r.view = func() View { return View{} }
		for _, query := range []string{"cmd=list", "cmd=dump", "cmd=show&w=a", "cmd=version"} {
			out := r.get(query + "&mime=" + mime)
			checkOutput(t, &out)
		}
		r.view = func() View { return View{Balancers: []Balancer{{Name: "lb"}}, AJP: []AJP{{}}} }
		for _, query := range []string{"cmd=list", "cmd=show&w=lb", "cmd=edit&w=lb&att=vwa", "cmd=edit&w=lb"} {
			out := r.get(query + "&mime=" + mime)
			checkOutput(t, &out)
		}
	}
}

func TestSecrets(t *testing.T) {
	for _, tt := range []struct {
		name string
		all  []Pair
		want []string
	}{
		{"keys", []Pair{{"worker.a.secret", "x"}, {"worker.a.SECRET", "x"}, {"worker.a.secretkey", "y"}, {"secret", "z"}, {" worker.b.secret ", "q"}, {"worker.a.host", "h"}}, []string{"worker.a.host"}},
		{"macro", []Pair{{"mine", "abc"}, {"worker.a.secret", " abc "}, {"other", "abcd"}}, []string{"other"}},
		{"part", []Pair{{"note", "use wreckage-7 here"}, {"worker.a.secret", "wreckage-7"}}, nil},
		{"empty", []Pair{{"worker.a.secret", ""}, {"empty", ""}}, []string{"empty"}},
		{"like it", []Pair{{"worker.secretary.host", "h"}, {"worker.secret.host", "h"}}, []string{"worker.secretary.host", "worker.secret.host"}},
	} {
		var got []string
		for _, p := range visible(tt.all) {
			got = append(got, p.Key)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRate(t *testing.T) {
	const a, d, s = balance.Active, balance.Disabled, balance.Stopped
	for _, tt := range []struct {
		good, bad []string
		a         balance.Activation
		s         balance.State
		want      rating
	}{
		{defaultGood, defaultBad, a, balance.OK, good},
		{defaultGood, defaultBad, a, balance.Idle, good},
		{defaultGood, defaultBad, a, balance.Busy, good},
		{defaultGood, defaultBad, a, balance.Recover, good},
		{defaultGood, defaultBad, a, balance.Force, good},
		{defaultGood, defaultBad, a, balance.Probe, good},
		{defaultGood, defaultBad, a, balance.Error, bad},
		{defaultGood, defaultBad, d, balance.OK, degraded},
		{defaultGood, defaultBad, d, balance.Error, bad},
		{defaultGood, defaultBad, s, balance.OK, bad},
		{[]string{"a"}, nil, a, balance.Error, good},
		{[]string{"active.error"}, nil, a, balance.Error, good},
		{[]string{"A.E"}, nil, a, balance.Error, good},
		{[]string{"o"}, nil, s, balance.OK, good},
		{[]string{"a.n"}, nil, a, balance.Idle, good},
		{[]string{"a.i"}, nil, a, balance.Idle, good},
		{[]string{"a."}, nil, a, balance.OK, degraded},
		{[]string{"", "x", "0"}, nil, a, balance.OK, degraded},
		{[]string{"a.o"}, []string{"a"}, a, balance.OK, bad}, // bad is asked first
	} {
		if got := rate(tt.a, tt.s, tt.good, tt.bad); got != tt.want {
			t.Errorf("rate(%v, %v, %q, %q) = %v, want %v", tt.a, tt.s, tt.good, tt.bad, got, tt.want)
		}
	}
}

func TestDue(t *testing.T) {
	const now = 1000
	for _, tt := range []struct {
		last        int64
		every       time.Duration
		least, most time.Duration
	}{
		{1000, time.Minute, 58 * time.Second, 2 * time.Minute},
		{941, time.Minute, 0, 61 * time.Second},
		{0, time.Minute, 0, 0},
	} {
		if least, most := NextMaintenance(tt.last, now, tt.every); least != tt.least || most != tt.most {
			t.Errorf("NextMaintenance(%d) = %v, %v", tt.last, least, most)
		}
	}
	for _, tt := range []struct {
		since       int64
		maintenance time.Duration
		least, most time.Duration
	}{
		{990, time.Second, 50 * time.Second, 110 * time.Second},
		{945, 20 * time.Second, 20 * time.Second, 65 * time.Second},
		{0, 20 * time.Second, 20 * time.Second, time.Minute},
	} {
		if least, most := NextRecovery(tt.since, now, time.Minute, tt.maintenance, time.Minute); least != tt.least || most != tt.most {
			t.Errorf("NextRecovery(%d) = %v, %v", tt.since, least, most)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 1023: "1023", 1024: "1.0K", 10240: "10K", 1 << 20: "1.0M", 1000 << 10: "1.0M", 3 << 30: "3.0G", 1<<64 - 1: "16E"} {
		if got := sizeText(n); got != want {
			t.Errorf("sizeText(%d) = %s, want %s", n, got, want)
		}
	}
	for sec, want := range map[int64]string{0: "0s", 59: "59s", 60: "1m 0s", 3700: "1h 1m", 90000: "1d 1h"} {
		if got := agoText(sec); got != want {
			t.Errorf("agoText(%d) = %s, want %s", sec, got, want)
		}
	}
}

func TestRefresh(t *testing.T) {
	r := newRig()
	for query, want := range map[string]string{
		"cmd=list":                        "",
		"cmd=list&re=7":                   `content="7;url=?cmd=list&amp;re=7"`,
		"cmd=show&w=cart&re=7":            `content="7;url=?cmd=show&amp;w=cart&amp;re=7"`,
		"cmd=edit&w=cart&re=7":            "",
		"cmd=show&w=nobody&re=7":          "",
		"cmd=dump&re=7":                   "",
		"cmd=reset&w=cart&re=7":           "",
		"cmd=reset&w=cart&token=" + token: `content="3;url=?cmd=list"`,
		"cmd=reset&w=cart&sw=ash&from=show&psw=ash&opt=4&token=" + token: `content="3;url=?cmd=show&amp;w=cart&amp;sw=ash&amp;opt=4"`,
	} {
		out := r.get(query)
		_, got, _ := strings.Cut(string(out.Body), `<meta http-equiv="refresh" `)
		got, _, _ = strings.Cut(got, ">")
		if got != want {
			t.Errorf("%s: refresh %s, want %s", query, got, want)
		}
	}
}
