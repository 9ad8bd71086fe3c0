//go:build unix

package main_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/apachetest"
)

// statusDiffWorkers are for both; the addresses are numeric.
const statusDiffWorkers = `
worker.list=lb,solo,status
worker.maintain=60
worker.node.host=127.0.0.1
worker.node.socket_timeout=60
worker.node.reply_timeout=70000
worker.node.recovery_options=3
worker.lb.type=lb
worker.lb.balance_workers=a,b,standby
worker.lb.method=S
worker.lb.sticky_session_force=0
worker.lb.recover_time=90
worker.lb.error_escalation_time=40
worker.lb.max_reply_timeouts=4
worker.lb.retries=1
worker.a.reference=worker.node
worker.a.port=@c1@
worker.a.lbfactor=2
worker.a.domain=east
worker.a.redirect=b
worker.b.reference=worker.node
worker.b.port=@c2@
worker.b.ping_mode=A
worker.b.ping_timeout=7000
worker.b.connection_pool_timeout=600
worker.b.max_packet_size=16384
worker.standby.reference=worker.node
worker.standby.port=@c3@
worker.standby.activation=disabled
worker.standby.distance=2
worker.standby.route=spare.1
worker.standby.busy_limit=9
worker.solo.reference=worker.node
worker.solo.port=@c3@
worker.solo.retries=3
worker.status.type=status
`

const statusDiffMap = `/app/*=lb
!/app/static/*=lb
-/old=lb
/rule/*=lb;reply_timeout=5000;fail_on_status=-503,404;disabled=a;stopped=standby;sticky_ignore=1;stateless=1;use_server_errors=500
/solo=solo
/jkstatus=status
`

// statusDiffSteps are what is done to both before the documents are compared.
var statusDiffSteps = []struct{ name, ask string }{
	{"fresh", ""},
	{"requests", "/app/1 /app/2 /app/3 /app/4 /solo"},
	{"disabled", "/jkstatus?cmd=update&mime=xml&w=lb&sw=a&vwa=d&vwf=3"},
	{"disabled and used", "/app/5 /app/6"},
	{"balancer", "/jkstatus?cmd=update&mime=xml&w=lb&vlr=3&vlt=95&vlee=41&vlx=5&vls=0&vlf=1&vlm=T&vll=P"},
	{"member", "/jkstatus?cmd=update&mime=xml&w=lb&sw=b&vwn=west.b&vwr=a&vwd=3&vahst=127.0.0.2&vaprt=8111&vacpt=61&vapng=62&vact=63&vapt=64&vart=65&var=6&vari=67&vacpi=68&varo=7&vabl=70&vamps=20000"},
	{"out of range", "/jkstatus?cmd=update&mime=xml&w=lb&vlr=0&vlt=-1&vls="},
	{"all members", "/jkstatus?cmd=update&mime=xml&w=lb&att=vwf&val0=1&val1=5&val2=2"},
	{"pattern", "/jkstatus?cmd=update&mime=xml&w=lb&sw=*&vwd=1"},
	{"single", "/jkstatus?cmd=update&mime=xml&w=solo&vart=1000&var=1"},
	{"nobody", "/jkstatus?cmd=update&mime=xml&w=nobody&vart=1000"},
	{"not in error", "/jkstatus?cmd=recover&mime=xml&w=lb&sw=a"},
	{"reset", "/jkstatus?cmd=reset&mime=xml&w=lb"},
	{"activation", "/jkstatus?cmd=update&mime=xml&w=lb&sw=a&vwa=0"},
}

// statusDiffPages are the documents that are compared.
var statusDiffPages = []string{"cmd=list", "cmd=show&w=lb", "cmd=show&w=lb&sw=b", "cmd=show&w=solo", "cmd=version", "cmd=list&opt=1", "cmd=list&opt=2", "cmd=list&opt=24", "cmd=show&w=nobody", "cmd=nonsense"}

// statusDiffers are attributes whose values mean something else by nature.
var statusDiffers = map[string]string{
	"jk:software web_server": "", "jk:software jk_version": "", "jk:time datetime": "", "jk:time unix": "",
	"jk:server port": "the tests' own", "jk:map server": "Apache has virtual hosts without names",
	"jk:balancer last_reset_at": "", "jk:member last_reset_at": "", "jk:ajp last_reset_at": "",
	"jk:balancer last_reset_ago": "", "jk:member last_reset_ago": "", "jk:ajp last_reset_ago": "",
	"jk:balancer time_to_maintenance_min": "", "jk:balancer time_to_maintenance_max": "",
	"jk:member error_time_unix_seconds": "", "jk:member error_time_datetime": "", "jk:member error_time_ago": "",
	"jk:result message":   "other words",
	"jk:member connected": "when connections to an old address are closed", "jk:member max_connected": "mod_jk resets it to less than there are",
	// mod_jk counts pings too, and its packets have other fields in them.
	"jk:member transferred": "", "jk:member read": "", "jk:ajp transferred": "", "jk:ajp read": "",
}

// TestStatusDifferential lets mod_jk's status worker and jkd's show the same
// back ends after the same requests: scripts that read the one read the other.
func TestStatusDifferential(t *testing.T) {
	apachetest.Require(t)
	c := newContainers(t, "c1", "c2", "c3")
	workers := c.properties(statusDiffWorkers)
	files := map[string]string{"uriworkermap.properties": statusDiffMap, "workers.properties": workers}
	// One child: others of mod_jk's show busy_limit as connection_ping_interval
	// once they have heard of an edit.
	apache := apachetest.StartT(t, apachetest.Options{MPM: "worker", Files: files, Config: `
ServerLimit 1
MaxRequestWorkers 4
JkWorkersFile workers.properties
JkMountFile uriworkermap.properties
JkShmFile jk.shm
JkLogFile jk.log
`})
	jkd := start(t, binary(t), config{
		mpm: "worker", name: "localhost", workers: workers + "worker.status.allow_get_update=1\n", files: map[string]string{"uriworkermap.properties": statusDiffMap},
		jk: []string{"JkMountFile = uriworkermap.properties"}, limits: []string{"StartServers = 1", "ThreadsPerChild = 8", "MaxRequestWorkers = 8", "MinSpareThreads = 1", "MaxSpareThreads = 8"},
	})
	get := func(addr, path string) string {
		t.Helper()
		r, err := client().Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s%s: %d %v\n%s", addr, path, r.StatusCode, err, text)
		}
		return string(text)
	}
	for _, step := range statusDiffSteps {
		t.Run(step.name, func(t *testing.T) {
			for path := range strings.FieldsSeq(step.ask) {
				a, j := get(apache.Addr(), path), get(jkd.addr, path)
				if strings.Contains(path, "jkstatus") {
					compareStatus(t, path, a, j)
				}
			}
			for _, page := range statusDiffPages {
				path := "/jkstatus?mime=xml&" + page
				compareStatus(t, path, get(apache.Addr(), path), get(jkd.addr, path))
			}
			for _, mime := range []string{"txt", "prop"} {
				a, j := statusKeys(get(apache.Addr(), "/jkstatus?mime="+mime), mime), statusKeys(get(jkd.addr, "/jkstatus?mime="+mime), mime)
				if mime == "prop" {
					a, j = ofMembers(a), ofMembers(j)
				}
				if d := firstDifference(a, j); d != "" {
					t.Errorf("%s: the keys differ: %s", mime, d)
				}
			}
		})
	}
}

// ofMembers names the keys of a member alike that mod_jk shows under the name
// of the balancer.
func ofMembers(keys []string) (out []string) {
	for i, key := range keys {
		_, last, _ := strings.Cut(strings.TrimPrefix(key, "worker."), ".")
		if strings.HasPrefix(last, "last_reset_") && i > 0 && !strings.HasSuffix(keys[i-1], "map_count") {
			key = "worker.MEMBER." + last
		}
		out = append(out, key)
	}
	return out
}

// statusNode is an element or one of its attributes.
type statusNode struct{ name, value string }

// statusNodes are the elements of a document with their attributes, in order.
func statusNodes(t *testing.T, text string) (out []statusNode) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		switch x := tok.(type) {
		case xml.StartElement:
			name := x.Name.Space + ":" + x.Name.Local
			out = append(out, statusNode{name, ""})
			for _, a := range x.Attr {
				out = append(out, statusNode{name + " " + a.Name.Local, a.Value})
			}
		case xml.EndElement:
			out = append(out, statusNode{"/" + x.Name.Space + ":" + x.Name.Local, ""})
		}
	}
}

func compareStatus(t *testing.T, path, apache, jkd string) {
	t.Helper()
	a, j := statusNodes(t, apache), statusNodes(t, jkd)
	name := func(n statusNode) string { return n.name }
	an, jn := names(a, name), names(j, name)
	if d := firstDifference(an, jn); d != "" {
		t.Errorf("%s: the elements differ: %s", path, d)
		return
	}
	for i := range a {
		if _, known := statusDiffers[a[i].name]; !known && a[i].value != j[i].value {
			t.Errorf("%s: %s: mod_jk has %q, jkd has %q", path, a[i].name, a[i].value, j[i].value)
		}
	}
}

// firstDifference is where two lists begin to differ, "" if they do not.
func firstDifference(a, j []string) string {
	n := 0
	for n < min(len(a), len(j)) && a[n] == j[n] {
		n++
	}
	if n == len(a) && n == len(j) {
		return ""
	}
	rest := func(l []string) []string { return l[max(n-1, 0):min(n+4, len(l))] }
	return fmt.Sprintf("mod_jk has %q where jkd has %q", rest(a), rest(j))
}

func names(list []statusNode, f func(statusNode) string) (out []string) {
	for _, n := range list {
		out = append(out, f(n))
	}
	return out
}

// statusKeys are the keys of a document in their order.
func statusKeys(text, mime string) (out []string) {
	for line := range strings.Lines(text) {
		if mime == "prop" {
			key, _, _ := strings.Cut(line, "=")
			out = append(out, key)
			continue
		}
		kind, rest, _ := strings.Cut(line, ": ")
		for word := range strings.FieldsSeq(rest) {
			if key, _, ok := strings.Cut(word, "="); ok {
				out = append(out, fmt.Sprint(kind, ": ", key))
			}
		}
	}
	return out
}
