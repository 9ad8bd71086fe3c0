//go:build unix

package main_test

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestStatusWorker drives the status worker of a running jkd as people and
// their scripts do: what is changed by way of one child all of them obey.
func TestStatusWorker(t *testing.T) {
	nodes := newContainers(t, "n1", "n2", "n3")
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		limits := []string{"StartServers = 6", "MinSpareServers = 1", "MaxSpareServers = 10", "MaxRequestWorkers = 10"}
		if mpm == "worker" {
			limits = []string{"StartServers = 6", "ThreadsPerChild = 1", "MaxRequestWorkers = 10", "MinSpareThreads = 1", "MaxSpareThreads = 10"}
		}
		s := start(t, bin, config{
			mpm: mpm, limits: limits, mounts: []string{"/app/* lb", "/jkstatus* status", "/view status-view", "/solo solo"},
			// Several children are to take part.
			server: []string{"KeepAliveTimeout = 120", "KeepAliveParking = Off", `CustomLog = access.log "%P %U"`},
			workers: nodes.properties(`worker.list=lb,solo,status,status-view
worker.lb.type=lb
worker.lb.balance_workers=n1,n2
worker.lb.method=Session
worker.lb.secret=never-to-be-shown
worker.node.host=127.0.0.1
worker.node.socket_timeout=60
worker.n1.reference=worker.node
worker.n1.port=@n1@
worker.n2.reference=worker.node
worker.n2.port=@n2@
worker.solo.reference=worker.node
worker.solo.port=@n3@
worker.status.type=status
worker.status-view.type=status
worker.status-view.read_only=true
`),
		})
		p := &statusClient{server: s}
		p.documents(t)
		p.refusals(t)
		p.drain(t, nodes)
		p.move(t, nodes)
		p.browser(t)
	})
}

// statusClient asks the status worker of a jkd.
type statusClient struct{ *server }

// ask sends a request; a form makes it a POST.
func (p *statusClient) ask(t *testing.T, path, form string, fields ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequest("GET", p.url(path), nil)
	if form != "" {
		req, err = http.NewRequest("POST", p.url(path), strings.NewReader(form))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Set(name, value)
	}
	r, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), "never-to-be-shown") {
		t.Errorf("%s shows the secret", path)
	}
	return r.StatusCode, string(body), r.Header
}

// The readers that monitoring scripts are made of.

// properties reads mime=prop as a properties file; lists come several times.
func (p *statusClient) properties(t *testing.T) map[string]string {
	t.Helper()
	_, text, _ := p.ask(t, "/jkstatus?mime=prop", "")
	out := map[string]string{}
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		key, value, ok := strings.Cut(sc.Text(), "=")
		if !ok || strings.ContainsAny(key, " \t") {
			t.Errorf("line %q", sc.Text())
		}
		if old, again := out[key]; again {
			value = old + "," + value
		}
		out[key] = value
	}
	return out
}

// textMember reads mime=txt line by line, as awk does: the words of a member.
func (p *statusClient) textMember(t *testing.T, name string) map[string]string {
	t.Helper()
	_, text, _ := p.ask(t, "/jkstatus?mime=txt", "")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "Member: name="+name+" ") {
			continue
		}
		out := map[string]string{}
		for word := range strings.FieldsSeq(line) {
			key, value, _ := strings.Cut(word, "=")
			out[key] = strings.Trim(value, `"`)
		}
		return out
	}
	t.Fatalf("no member %s in\n%s", name, text)
	return nil
}

// xmlStatus is mime=xml for a program that knows the names.
type xmlStatus struct {
	Balancers []struct {
		Name    string `xml:"name,attr"`
		Good    int    `xml:"good,attr"`
		Members []struct {
			Name       string `xml:"name,attr"`
			State      string `xml:"state,attr"`
			Activation string `xml:"activation,attr"`
			Elected    int    `xml:"elected,attr"`
		} `xml:"member"`
		Maps []struct {
			URI string `xml:"uri,attr"`
		} `xml:"map"`
	} `xml:"balancers>balancer"`
	AJP []struct {
		Name string `xml:"name,attr"`
	} `xml:"ajp_workers>ajp"`
	Result struct {
		Type string `xml:"type,attr"`
	} `xml:"result"`
}

func (p *statusClient) xml(t *testing.T) (x xmlStatus) {
	t.Helper()
	_, text, _ := p.ask(t, "/jkstatus?mime=xml", "")
	if err := xml.Unmarshal([]byte(text), &x); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return x
}

// documents compares what the formats say.
func (p *statusClient) documents(t *testing.T) {
	x, prop := p.xml(t), p.properties(t)
	if len(x.Balancers) != 1 || x.Balancers[0].Good != 2 || len(x.Balancers[0].Members) != 2 || len(x.Balancers[0].Maps) != 1 || len(x.AJP) != 1 || x.Result.Type != "OK" {
		t.Errorf("%+v", x)
	}
	for _, m := range x.Balancers[0].Members {
		text := p.textMember(t, m.Name)
		if m.Activation != "ACT" || text["activation"] != "ACT" || prop["worker."+m.Name+".activation"] != "ACT" {
			t.Errorf("%+v, %v", m, text)
		}
		for _, key := range []string{"host", "port", "address", "route", "lbfactor", "elected", "errors", "busy"} {
			if text[key] != prop["worker."+m.Name+"."+key] {
				t.Errorf("%s of %s: %q and %q", key, m.Name, text[key], prop["worker."+m.Name+"."+key])
			}
		}
	}
	if prop["worker.list"] != "lb" || prop["worker.lb.balance_workers"] != "n1,n2" || !strings.HasPrefix(prop["worker.jk_version"], "jkd/") {
		t.Errorf("%v", prop)
	}
	_, dump, _ := p.ask(t, "/jkstatus?cmd=dump&mime=txt", "")
	if !strings.Contains(dump, "worker.n1.socket_timeout") || strings.Contains(dump, "secret") {
		t.Errorf("dump: %s", dump)
	}
}

// refusals are requests that must change nothing.
func (p *statusClient) refusals(t *testing.T) {
	const change = "cmd=update&w=lb&sw=n1&vwa=s"
	for _, tt := range []struct {
		path, form string
		fields     []string
	}{
		{"/jkstatus?" + change, "", nil},
		{"/jkstatus?cmd=reset&w=lb", "", nil},
		{"/jkstatus", change, []string{"Origin: http://evil.example"}},
		{"/jkstatus", change, []string{"Sec-Fetch-Site: cross-site"}},
		{"/view", change, nil},
		{"/view?cmd=edit&w=lb", "", nil},
	} {
		if status, text, _ := p.ask(t, tt.path, tt.form, tt.fields...); status != 403 || strings.Contains(text, "Action finished") {
			t.Errorf("%+v: %d %s", tt, status, text)
		}
	}
	if a := p.properties(t)["worker.n1.activation"]; a != "ACT" {
		t.Errorf("n1 is %s", a)
	}
	if status, _, header := p.ask(t, "/jkstatus", ""); status != 200 || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") || header.Get("Cache-Control") == "" {
		t.Errorf("%d %v", status, header)
	}
}

var tokenField = regexp.MustCompile(`name="token" value="([0-9a-f]{32})"`)

// crowd is so many connections, all of them open at the same time, and so in
// several children.
func (p *statusClient) crowd(t *testing.T, n int) []*conn {
	var out []*conn
	for range n {
		k := dial(t, p.addr)
		if status, _, err := k.get("/solo"); status != 200 || err != nil {
			t.Fatalf("%d %v", status, err)
		}
		out = append(out, k)
	}
	return out
}

// drain takes a member out of service with the token of the page's form, while
// clients of many children are there.
func (p *statusClient) drain(t *testing.T, nodes *containers) {
	const clients = 5
	crowd := p.crowd(t, clients)
	count := func(path string, fields ...string) map[string]int {
		t.Helper()
		nodes.take()
		for _, k := range crowd {
			for range 4 {
				if status, body, err := k.get(path, fields...); status != 200 || err != nil {
					t.Fatalf("%s: %d %q %v", path, status, body, err)
				}
			}
		}
		return nodes.count()
	}
	if n := count("/app/x"); n["n1"] != 10 || n["n2"] != 10 {
		t.Errorf("before: %v", n)
	}
	_, form, _ := p.ask(t, "/jkstatus?cmd=edit&w=lb&sw=n1", "")
	token := tokenField.FindStringSubmatch(form)
	if token == nil {
		t.Fatalf("no token in\n%s", form)
	}
	status, text, _ := p.ask(t, "/jkstatus", url.Values{"cmd": {"update"}, "w": {"lb"}, "sw": {"n1"}, "vwa": {"1"}, "token": {token[1]}}.Encode(), "Origin: null")
	if status != 200 || !strings.Contains(text, "activation") {
		t.Fatalf("%d %s", status, text)
	}
	if n := count("/app/x"); n["n1"] != 0 || n["n2"] != 20 {
		t.Errorf("n1 is disabled: %v", n)
	}
	if n := count("/app/x", "Cookie: JSESSIONID=0815.n1"); n["n1"] != 20 {
		t.Errorf("sessions of n1: %v", n)
	}
	access, err := os.ReadFile(filepath.Join(p.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	children := map[string]bool{}
	for line := range strings.Lines(string(access)) {
		if pid, path, _ := strings.Cut(line, " "); strings.HasPrefix(path, "/app/") {
			children[pid] = true
		}
	}
	if len(children) < 2 {
		t.Errorf("only %d children took part", len(children))
	}
	x := p.xml(t)
	if m := x.Balancers[0].Members[0]; m.Activation != "DIS" || x.Balancers[0].Good != 1 {
		t.Errorf("%+v", x)
	}
	// The token is as good by GET.
	if status, text, _ := p.ask(t, "/jkstatus?mime=prop&cmd=update&w=lb&sw=n1&vwa=a&token="+token[1], ""); status != 200 || !strings.Contains(text, "result.type=OK") {
		t.Errorf("%d %s", status, text)
	}
	if n := count("/app/x"); n["n1"] != 10 || n["n2"] != 10 {
		t.Errorf("n1 is back: %v", n)
	}
	if status, _, _ := p.ask(t, "/jkstatus", "cmd=reset&w=lb"); status != 200 {
		t.Error(status)
	}
	if prop := p.properties(t); prop["worker.n1.elected"] != "0" || prop["worker.n1.busy"] != "0" || prop["worker.n2.lbvalue"] != "0" {
		t.Errorf("after the reset: %v", prop)
	}
	if log := p.log(); !strings.Contains(log, "changing 'activation' for sub worker 'n1' of lb worker 'lb' from 'ACT' to 'DIS'") || !strings.Contains(log, "resetting lb worker 'lb'") {
		t.Error("the log does not tell of the changes")
	}
	for _, k := range crowd {
		k.Close()
	}
}

// move points a member at another container.
func (p *statusClient) move(t *testing.T, nodes *containers) {
	to := nodes.byName["n3"].Port()
	for _, form := range []string{fmt.Sprint("cmd=update&mime=prop&w=lb&sw=n1&vaprt=", to), "cmd=update&mime=prop&w=lb&sw=n1&vwf=3"} {
		if status, text, _ := p.ask(t, "/jkstatus", form); status != 200 || !strings.Contains(text, "result.type=OK") {
			t.Errorf("%s: %d %s", form, status, text)
		}
	}
	prop := p.properties(t)
	if prop["worker.n1.port"] != strconv.Itoa(to) || prop["worker.n1.address"] != addrOf(to) || prop["worker.n1.lbmult"] != "1" || prop["worker.n2.lbmult"] != "3" {
		t.Errorf("%v", prop)
	}
	crowd := p.crowd(t, 4)
	nodes.take()
	for _, k := range crowd {
		for range 8 {
			if status, _, err := k.get("/app/x"); status != 200 || err != nil {
				t.Fatalf("%d %v", status, err)
			}
		}
		k.Close()
	}
	if n := nodes.count(); n["n1"] != 0 || n["n2"] != 8 || n["n3"] != 24 {
		t.Errorf("n1 has moved and has three of four: %v", n)
	}
	// A name is looked up before the answer; a wrong one changes nothing.
	for _, tt := range []struct{ host, want string }{
		{"localhost", "result.type=OK"},
		{"no-such-host.invalid", "host 'no-such-host.invalid' could not be resolved, host 'localhost' is restored"},
	} {
		if status, text, _ := p.ask(t, "/jkstatus", "cmd=update&mime=prop&w=lb&sw=n1&vahst="+tt.host); status != 200 || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %s", tt.host, status, text)
		}
	}
	if prop := p.properties(t); prop["worker.n1.host"] != "localhost" || !strings.HasSuffix(prop["worker.n1.address"], fmt.Sprint(":", to)) {
		t.Errorf("%s at %s", prop["worker.n1.host"], prop["worker.n1.address"])
	}
}

// browser looks at the pages as a person does.
func (p *statusClient) browser(t *testing.T) {
	for _, query := range []string{"", "?cmd=show&w=lb", "?cmd=show&w=lb&sw=n1", "?cmd=edit&w=lb", "?cmd=edit&w=lb&sw=n1", "?cmd=edit&w=lb&att=vwa", "?cmd=dump", "?cmd=nonsense"} {
		status, text, header := p.ask(t, "/jkstatus"+query, "")
		if status != 200 || header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.HasPrefix(text, "<!DOCTYPE html>") || !strings.HasSuffix(text, "</html>\n") {
			t.Errorf("%s: %d %v %s", query, status, header, text)
		}
		if !strings.Contains(text, "jkd/") && query == "" {
			t.Error("nobody says who serves")
		}
	}
	k := dial(t, p.addr)
	if err := k.send("HEAD /jkstatus"); err != nil {
		t.Fatal(err)
	}
	r, err := k.response("HEAD")
	if err != nil || r.StatusCode != 200 || r.ContentLength <= 0 {
		t.Fatalf("HEAD: %v %v", r, err)
	}
	if status, _, err := k.get("/solo"); status != 200 || err != nil {
		t.Errorf("after HEAD: %d %v", status, err)
	}
}
