package status

import (
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/connectortest"
)

// fixed is a Filler that always has the same state.
type fixed struct {
	state func() *Status
	full  *bool // what was asked for last
}

func (f fixed) Fill(s *Status, full bool) {
	*s = *f.state()
	if f.full != nil {
		*f.full = full
	}
}

func newTestHandler() *Handler {
	return NewHandler(HandlerOptions{
		Location: "/jkd-status", Metrics: "/metrics", Source: fixed{state: sampleStatus},
		Require: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}, Realm: "jkd status",
	})
}

// ask asks a handler as the front would; nil: it is not its path.
func ask(t *testing.T, h *Handler, r *connector.Request) *connectortest.Answer {
	t.Helper()
	path, query, ok := strings.Cut(string(r.Path), "?")
	r.Path, r.MatchPath, r.Query, r.HasQuery = []byte(path), []byte(path), []byte(query), ok
	w := h.Match(r)
	if w == nil {
		return nil
	}
	a := new(connectortest.Answer)
	if err := w.Service(r, a); err != nil {
		t.Errorf("%s: %v", r.Path, err)
	}
	if !a.Finished {
		t.Errorf("%s: the answer is not finished", r.Path)
	}
	return a
}

func get(t *testing.T, h *Handler, path string) *connectortest.Answer {
	t.Helper()
	return ask(t, h, connectortest.Request("GET", path, ""))
}

func TestHandlerForms(t *testing.T) {
	h := newTestHandler()
	for _, tt := range []struct{ path, contentType, begin string }{
		{"/jkd-status", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"/jkd-status/", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"/jkd-status?notable", "text/html; charset=utf-8", "<!DOCTYPE html>"},
		{"/jkd-status?auto", "text/plain; charset=ISO-8859-1", "www.example.com\nServerVersion: "},
		{"/jkd-status?xautox&refresh=5", "text/plain; charset=ISO-8859-1", "www.example.com\nServerVersion: "},
		{"/jkd-status?mime=text", "text/plain; charset=utf-8", "jkd status for "},
		{"/jkd-status?mime=json", "application/json", `{"schema":1,`},
		{"/metrics", "text/plain; version=0.0.4; charset=utf-8", "# HELP jkd_"},
		{"/metrics?auto", "text/plain; version=0.0.4; charset=utf-8", "# HELP jkd_"},
	} {
		a := get(t, h, tt.path)
		if a == nil {
			t.Errorf("%s is not served", tt.path)
			continue
		}
		if a.Status != 200 || a.Fields[0] != "Content-Type: "+tt.contentType || !strings.HasPrefix(strings.ToLower(string(a.Body)), strings.ToLower(tt.begin)) {
			t.Errorf("%s: %d %q %.60q", tt.path, a.Status, a.Fields, a.Body)
		}
		for _, f := range []string{"Cache-Control: no-store", "X-Content-Type-Options: nosniff"} {
			if !slices.Contains(a.Fields, f) {
				t.Errorf("%s: %q is not among %q", tt.path, f, a.Fields)
			}
		}
	}
	for _, path := range []string{"/", "/jkd-statusx", "/jkd-status/x", "/jkd-status//", "/metrics.txt", "/JKD-STATUS", "*"} {
		if a := get(t, h, path); a != nil {
			t.Errorf("%s is served: %d", path, a.Status)
		}
	}
	if none := NewHandler(HandlerOptions{Location: "/s", Source: fixed{state: sampleStatus}}); get(t, none, "/metrics") != nil || get(t, none, "/") != nil {
		t.Error("an unset location is served")
	}
}

// The page comes with its policy, which nothing else needs.
func TestHandlerPolicy(t *testing.T) {
	h := newTestHandler()
	policy := "Content-Security-Policy: " + ContentSecurityPolicy()
	for path, want := range map[string]bool{"/jkd-status": true, "/jkd-status?notable&refresh": true, "/jkd-status?auto": false, "/metrics": false} {
		if a := get(t, h, path); slices.Contains(a.Fields, policy) != want {
			t.Errorf("%s: %q", path, a.Fields)
		}
	}
}

func TestHandlerRefresh(t *testing.T) {
	h := newTestHandler()
	for _, tt := range []struct{ query, want string }{
		{"", ""}, {"auto", ""},
		{"refresh", "10"}, {"refresh=0", "10"}, {"refresh=-3", "10"}, {"refresh=x", "10"}, {"refresh=", "10"},
		{"refresh=1", "1"}, {"auto&refresh=7", "7"}, {"refresh=30&auto", "30"}, {"xrefresh=30x", "30"},
		{"refresh=99999999999999999999", "9999999"},
	} {
		got := ""
		for _, f := range get(t, h, "/jkd-status?"+tt.query).Fields {
			if v, ok := strings.CutPrefix(f, "Refresh: "); ok {
				got = v
			}
		}
		if got != tt.want {
			t.Errorf("%q: Refresh %q, want %q", tt.query, got, tt.want)
		}
	}
}

// Who may not see the state learns nothing of the server.
func TestHandlerRefuses(t *testing.T) {
	h := newTestHandler()
	from := func(addr, method, path string) *connectortest.Answer {
		r := connectortest.Request(method, path, "")
		r.RemoteAddr = []byte(addr)
		return ask(t, h, r)
	}
	for _, tt := range []struct {
		addr, method string
		want         int
	}{
		{"192.0.2.200", "GET", 200}, {"192.0.2.200", "HEAD", 200}, {"::ffff:192.0.2.9", "GET", 200}, {"::1", "GET", 200}, {"::1%lo", "GET", 200},
		{"192.0.3.1", "GET", 403}, {"::2", "GET", 403}, {"", "GET", 403}, {"www.example.com", "GET", 403}, {"192.0.3.1", "POST", 403},
		{"192.0.2.1", "POST", 405}, {"192.0.2.1", "DELETE", 405}, {"192.0.2.1", "get", 405}, {"192.0.2.1", "OPTIONS", 405},
	} {
		for _, path := range []string{"/jkd-status", "/jkd-status?auto", "/jkd-status?mime=json", "/metrics"} {
			a := from(tt.addr, tt.method, path)
			if a.Status != tt.want {
				t.Errorf("%s %s %s: %d, want %d", tt.addr, tt.method, path, a.Status, tt.want)
			}
			if tt.want == 405 && !slices.Contains(a.Fields, "Allow: GET, HEAD") {
				t.Errorf("%s %s: fields %q", tt.method, path, a.Fields)
			}
			if tt.want != 200 && (len(a.Body) > 100 || strings.Contains(strings.ToLower(strings.Join(a.Fields, " ")+string(a.Body)), "jkd") || !slices.Contains(a.Fields, "Cache-Control: no-store")) {
				t.Errorf("%s %s %s tells %q %q", tt.addr, tt.method, path, a.Fields, a.Body)
			}
			if tt.method == "HEAD" && (len(a.Body) > 0 || slices.Contains(a.Fields, "Content-Length: 0")) {
				t.Errorf("HEAD %s: %q %q", path, a.Fields, a.Body)
			}
		}
	}
	nobody := NewHandler(HandlerOptions{Location: "/s", Source: fixed{state: sampleStatus}})
	if a := get(t, nobody, "/s"); a.Status != 403 {
		t.Errorf("without Require: %d", a.Status)
	}
	// A client of a Unix socket may be anybody behind a proxy.
	for prefix, want := range map[string]int{"127.0.0.0/8": 403, "0.0.0.0/0": 200} {
		h := NewHandler(HandlerOptions{Location: "/s", Source: fixed{state: sampleStatus}, Require: []netip.Prefix{netip.MustParsePrefix(prefix)}})
		r := connectortest.Request("GET", "/s", "")
		r.RemoteAddr = []byte(connector.UnixAddr)
		if a := ask(t, h, r); a.Status != want {
			t.Errorf("over a Unix socket, with Require %s: %d, want %d", prefix, a.Status, want)
		}
	}
}

func TestHandlerUsers(t *testing.T) {
	o := newTestHandler().o
	checks := 0
	o.Users = func(user, password string) bool {
		checks++
		return user == "anna" && password == "s:ecret"
	}
	h := NewHandler(o)
	basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
	for _, tt := range []struct {
		value string
		want  int
	}{
		{"", 401}, {basic("anna:s:ecret"), 200}, {basic("anna:wrong"), 401}, {basic("anna"), 401}, {basic(":"), 401}, {"Basic !!", 401}, {"Bearer x", 401},
		{"bAsIc " + base64.StdEncoding.EncodeToString([]byte("anna:s:ecret")), 200}, {basic("anna:s:ecret"), 200}, {"Basic", 401},
	} {
		r := connectortest.Request("GET", "/jkd-status", "")
		if tt.value != "" {
			r.Fields = append(r.Fields, connector.Field{Name: []byte("Authorization"), Value: []byte(tt.value)})
		}
		a := ask(t, h, r)
		if a.Status != tt.want {
			t.Errorf("%q: %d, want %d", tt.value, a.Status, tt.want)
		}
		if user := string(r.RemoteUser) + " " + string(r.AuthType); user != map[int]string{200: "anna Basic", 401: " "}[tt.want] {
			t.Errorf("%q: user and type %q", tt.value, user)
		}
		if asks := slices.Contains(a.Fields, `WWW-Authenticate: Basic realm="jkd status", charset="UTF-8"`); asks != (tt.want == 401) {
			t.Errorf("%q: fields %q", tt.value, a.Fields)
		}
	}
	// A foreign address is not even asked for a password.
	r := connectortest.Request("GET", "/metrics", "")
	r.RemoteAddr = []byte("198.51.100.1")
	if a := ask(t, h, r); a.Status != 403 {
		t.Errorf("foreign address: %d", a.Status)
	}
	before := checks
	for range 10 {
		r := connectortest.Request("GET", "/metrics", "")
		r.Fields = append(r.Fields, connector.Field{Name: []byte("Authorization"), Value: []byte(basic("anna:s:ecret"))})
		if a := ask(t, h, r); a.Status != 200 {
			t.Errorf("metrics: %d", a.Status)
		}
	}
	if checks != before {
		t.Errorf("the password that was good was checked %d times more", checks-before)
	}
}

// Only pages cost what only pages show.
func TestHandlerDetail(t *testing.T) {
	var full bool
	o := newTestHandler().o
	o.Source = fixed{sampleStatus, &full}
	h := NewHandler(o)
	for path, want := range map[string]bool{"/jkd-status": true, "/jkd-status?auto": false, "/metrics": false, "/jkd-status?mime=json": true, "/jkd-status?mime=text": true} {
		if get(t, h, path); full != want {
			t.Errorf("%s: full is %v", path, full)
		}
	}
}

// That a client leaves is its own fault, and the next one gets a whole page.
func TestHandlerClientLeaves(t *testing.T) {
	h := newTestHandler()
	r := connectortest.Request("GET", "/jkd-status", "")
	err := h.Match(r).Service(r, &connectortest.Answer{Leaves: true, Gone: -1})
	e, ok := err.(*connector.Error)
	if !ok || !e.Client {
		t.Errorf("error %v", err)
	}
	r = connectortest.Request("GET", "/jkd-status", "")
	r.Query = []byte("mime=json")
	a := new(connectortest.Answer)
	if err := h.Match(r).Service(r, a); err != nil {
		t.Fatal(err)
	}
	var d Document
	if err := json.Unmarshal(a.Body, &d); err != nil {
		t.Error(err)
	}
}
