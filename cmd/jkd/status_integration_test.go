//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/cmd/jkd/internal/status"
	"jkd/connector/ajp/ajptest"
)

// statusServer is a server with [status] in front of a container that greets.
func statusServer(t *testing.T, mpm string, more ...string) (*server, *ajptest.Container) {
	t.Helper()
	back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "hello\n") })
	limits := []string{"StartServers = 2", "MaxRequestWorkers = 8"}
	if mpm == "prefork" {
		limits = append(limits, "MinSpareServers = 2", "MaxSpareServers = 8", "ServerLimit = 8")
	} else {
		limits = append(limits, "ThreadsPerChild = 4", "ServerLimit = 2", "ThreadLimit = 4", "MinSpareThreads = 4", "MaxSpareThreads = 8")
	}
	lines := append([]string{"[status]", "Location = /jkd-status", "Metrics = /metrics"}, more...)
	return start(t, binary(t), config{
		mpm: mpm, limits: limits, workers: properties(addrOf(back.Port()), nil), mounts: []string{"/* tomcat"}, jk: lines,
	}), back
}

// look is a page as text, with its header.
func look(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(b)
}

func (s *server) document() (d status.Document) {
	s.t.Helper()
	r, text := look(s.t, s.url("/jkd-status?mime=json"))
	if err := json.Unmarshal([]byte(text), &d); err != nil || r.StatusCode != 200 {
		s.t.Fatalf("%v: %d %s", err, r.StatusCode, text)
	}
	return d
}

// autoOf are the lines of a ?auto.
func autoOf(t *testing.T, url string) (keys []string, values map[string]string) {
	t.Helper()
	r, text := look(t, url+"?auto")
	if r.StatusCode != 200 {
		t.Fatalf("%s: %s\n%s", url, r.Status, text)
	}
	values = map[string]string{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			t.Errorf("no key in %q", line)
		}
		keys = append(keys, k)
		values[k] = strings.TrimPrefix(v, " ")
	}
	return keys, values
}

// All forms are there although everything is mounted, and whoever is asked
// tells of all children.
func TestStatus(t *testing.T) {
	eachMPM(t, func(t *testing.T, mpm string) {
		s, back := statusServer(t, mpm, "ShowQueryStrings = off")
		for range 20 {
			if r, text := look(t, s.url("/shop?card=4711")); r.StatusCode != 200 || text != "hello\n" {
				t.Fatalf("%s %q", r.Status, text)
			}
		}
		for path, want := range map[string]string{
			"/jkd-status": "jkd", "/jkd-status?auto": "Scoreboard: ", "/jkd-status?notable": "jkd", "/jkd-status?mime=text": "requests currently being processed",
			"/jkd-status?mime=json": `"schema":1`, "/metrics": "jkd_",
		} {
			r, text := look(t, s.url(path))
			if r.StatusCode != 200 || !strings.Contains(text, want) || strings.Contains(text, "4711") {
				t.Errorf("%s: %s\n%s", path, r.Status, text)
			}
			if r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, r.Header)
			}
		}
		if back.Requests() != 20 {
			t.Errorf("the container got %d requests", back.Requests())
		}
		d := s.document()
		if d.Server.MPM != mpm || d.Server.MasterPID != s.pid() || len(d.Slots) != 8 || len(d.Board) != 8 || d.Totals.Busy < 1 {
			t.Errorf("document %+v", d)
		}
		// The tests' binary was built without a word of its revision.
		if info, err := os.Stat(s.cmd.Path); err != nil || os.Getenv("JKD_BINARY") == "" && d.Server.Built != info.ModTime().UTC().Format(time.RFC3339) {
			t.Errorf("built %q, %v", d.Server.Built, err)
		}
		kids := s.children()
		for _, c := range d.Children {
			if !slices.Contains(kids, c.PID) {
				t.Errorf("child %+v is none of %v", c, kids)
			}
		}
		var hits, misses uint64
		i := slices.IndexFunc(d.Workers, func(w status.DocumentWorker) bool { return w.Name == "tomcat" })
		if i < 0 || d.Workers[i].Requests["2xx"] != 20 || d.Workers[i].Cache.Hits+d.Workers[i].Cache.Misses != 20 {
			t.Fatalf("workers %+v", d.Workers)
		}
		for _, c := range d.Children {
			for _, x := range c.Caches {
				if x.Worker == "tomcat" {
					hits, misses = hits+x.Hits, misses+x.Misses
				}
			}
		}
		if w := d.Workers[i]; hits != w.Cache.Hits || misses != w.Cache.Misses {
			t.Errorf("children have %d hits, %d misses, together %+v", hits, misses, w.Cache)
		}
		if len(d.Balancers) != 1 || d.Balancers[0].Members[0].Name != "tomcat" || d.Balancers[0].Members[0].Address != addrOf(back.Port()) {
			t.Errorf("balancers %+v", d.Balancers)
		}
		if !slices.ContainsFunc(d.Slots, func(x status.DocumentSlot) bool { return x.Extended.Request == "GET /jkd-status HTTP/1.1" }) {
			t.Errorf("no slot tells of the request: %+v", d.Slots)
		}
	})
}

// Others get 403, and the metrics too.
func TestStatusDenied(t *testing.T) {
	s, back := statusServer(t, "prefork", "Require = 10.0.0.0/8")
	for _, path := range []string{"/jkd-status", "/jkd-status?auto", "/metrics"} {
		if r, text := look(t, s.url(path)); r.StatusCode != 403 || strings.Contains(strings.ToLower(text), "jkd") {
			t.Errorf("%s: %s %q", path, r.Status, text)
		}
	}
	if back.Requests() != 0 {
		t.Error("the container was asked")
	}
}

var abComplete = regexp.MustCompile(`Complete requests:\s+(\d+)\n(?s:.*)Failed requests:\s+(\d+)\n(?s:.*)HTML transferred:\s+(\d+) bytes`)

// What is counted is what a load generator counts; children that are killed
// take nothing with them.
func TestStatusCounts(t *testing.T) {
	ab, err := exec.LookPath("ab")
	if err != nil {
		t.Skip("needs ab")
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		s, _ := statusServer(t, mpm)
		const n = 10000
		out, err := exec.Command(ab, "-q", "-k", "-c", "4", "-n", strconv.Itoa(n), s.url("/page")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		m := abComplete.FindSubmatch(out)
		if m == nil || string(m[1]) != strconv.Itoa(n) || string(m[2]) != "0" {
			t.Fatalf("ab: %s", out)
		}
		sent, _ := strconv.ParseUint(string(m[3]), 10, 64)
		// A request is counted when its answer has been sent.
		count := func() (uint64, uint64) {
			d := s.document()
			for _, w := range d.Workers {
				if w.Name == "tomcat" {
					var all uint64
					for _, c := range w.Requests {
						all += c
					}
					return all, w.Bytes
				}
			}
			return 0, 0
		}
		s.eventually("all requests to be counted", func() bool { c, b := count(); return c >= n && b >= sent })
		if c, b := count(); c != n || b != sent {
			t.Errorf("%d requests and %d bytes, ab counts %d and %d", c, b, n, sent)
		}
		before := *s.document().Totals.Accesses
		if before < n {
			t.Errorf("the scoreboard has %d accesses", before)
		}
		killed := s.children()
		for _, pid := range killed {
			syscall.Kill(pid, syscall.SIGKILL)
			if now := s.document(); *now.Totals.Accesses < before {
				t.Errorf("%d accesses after %d", *now.Totals.Accesses, before)
			}
		}
		s.eventually("other children", func() bool {
			d := s.document()
			return len(d.Children) > 0 && !slices.ContainsFunc(d.Children, func(c status.DocumentChild) bool { return slices.Contains(killed, c.PID) })
		})
		d := s.document()
		if c, b := count(); c != n || b != sent || *d.Totals.Accesses < before {
			t.Errorf("after the kill %d requests, %d bytes, %d accesses", c, b, *d.Totals.Accesses)
		}
		if d.Events.Deaths["killed"] != uint64(len(killed)) || d.Events.Starts < uint64(len(killed)+len(d.Children)) {
			t.Errorf("%d were killed: %+v", len(killed), d.Events)
		}
	})
}

// The keys of ?auto are Apache's, in its order.
func TestStatusBesideApache(t *testing.T) {
	eachMPM(t, func(t *testing.T, mpm string) {
		a := apachetest.StartT(t, apachetest.Options{
			MPM: mpm, Modules: []string{"status"},
			Config: "ExtendedStatus On\n<Location /server-status>\nSetHandler server-status\n</Location>\n",
		})
		s, _ := statusServer(t, mpm)
		apache, jkd := "http://"+a.Addr()+"/server-status", s.url("/jkd-status")
		have := func(url string) func() bool { // all keys are there after a request, in the second second
			return func() bool {
				keys, _ := autoOf(t, url)
				return slices.Contains(keys, "CPULoad") && slices.Contains(keys, "ReqPerSec") && slices.Contains(keys, "DurationPerReq")
			}
		}
		s.eventually("all keys of Apache", have(apache))
		s.eventually("all keys of jkd", have(jkd))
		want, theirs := autoOf(t, apache)
		got, ours := autoOf(t, jkd)
		end := slices.Index(want, "Scoreboard")
		if end < 0 || len(got) < end+1 || !slices.Equal(got[:end+1], want[:end+1]) {
			t.Fatalf("keys\n%q, Apache has\n%q", got, want)
		}
		number := regexp.MustCompile(`[0-9]+`)
		for _, k := range want[:end+1] {
			switch k {
			case "ServerVersion", "Server Built", "ServerUptime", "Scoreboard", "ServerMPM":
				continue
			}
			// Of a number the digits may differ; its form may not.
			shape := func(v string) string {
				if _, err := strconv.ParseFloat(v, 64); err == nil {
					return "number"
				}
				return regexp.MustCompile(`[A-Za-z]+`).ReplaceAllString(number.ReplaceAllString(v, "9"), "a")
			}
			if shape(theirs[k]) != shape(ours[k]) {
				t.Errorf("%s: %q, Apache has %q", k, ours[k], theirs[k])
			}
		}
		if ours["ServerMPM"] != theirs["ServerMPM"] {
			t.Errorf("MPM %q, Apache has %q", ours["ServerMPM"], theirs["ServerMPM"])
		}
		for url, v := range map[string]map[string]string{jkd: ours, apache: theirs} {
			if strings.Trim(v["Scoreboard"], "_SRWKDCLGI.") != "" || v["Scoreboard"] == "" {
				t.Errorf("%s: scoreboard %q", url, v["Scoreboard"])
			}
		}
	})
}

// The master says what a child says.
func TestStatusByMaster(t *testing.T) {
	eachMPM(t, func(t *testing.T, mpm string) {
		s, _ := statusServer(t, mpm)
		look(t, s.url("/x"))
		out, err := exec.Command(binary(t), "-f", filepath.Join(s.dir, "jkd.conf"), "-k", "status").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, want := range []string{"Server MPM:     " + mpm + "\n", "GET /x HTTP/1.1", "tomcat", fmt.Sprint(s.children()[0])} {
			if !strings.Contains(string(out), want) {
				t.Errorf("lacks %q:\n%s", want, out)
			}
		}
	})
}
