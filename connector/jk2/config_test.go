package jk2

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/conf"
)

// testEnv has nothing but what a test puts in.
func testEnv(vars ...string) Env {
	return Env{ServerRoot: "/srv", Lookup: func(name string) (string, bool) {
		for i := 0; i+1 < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1], true
			}
		}
		return "", false
	}}
}

func source(text string) Source { return Source{File: "w", Data: []byte(text)} }

func file(t testing.TB, name string) Source {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return Source{File: "w", Data: data}
}

// said is what a reading has to say, line by line: faults, warnings, remarks.
func said(warnings []conf.Warning, err error) []string {
	var out []string
	if err != nil {
		for _, e := range err.(conf.Errors) {
			out = append(out, "error "+e.Error())
		}
	}
	for _, s := range []conf.Severity{conf.Warn, conf.Info} {
		for _, w := range warnings {
			if w.Severity == s && !strings.Contains(w.Msg, "has no secretkey") { // said of most texts here: TestNoSecret
				out = append(out, s.String()+" "+w.String())
			}
		}
	}
	return out
}

func parse(t testing.TB, text string) *Config {
	t.Helper()
	c, _, err := ParseConfig(testEnv(), source(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// hit is the rule for http://HOST[:PORT]/PATH and its target.
func hit(c *Config, m *Mapper, url string) string {
	host, path, _ := strings.Cut(url, "/")
	name, port, err := hostPort(host)
	if err != nil {
		panic(err)
	}
	if port == 0 {
		port = 80
	}
	u := m.Match(0, []byte(name), port, []byte("/"+path))
	if u == nil {
		return ""
	}
	return strings.TrimPrefix(u.Name, "uri:") + " " + c.TargetName(u.Target)
}

// The whole configuration of a server of 2003.
func TestDeployment(t *testing.T) {
	s := file(t, "freebsd-2003-workers2.properties")
	c, warnings, err := ParseConfig(testEnv(), s)
	same(t, "said", said(warnings, err), []string{
		"info w:5: file: has no effect in the file itself",
		"info w:11: size: is not needed: the size follows from slots",
	})
	if err != nil {
		t.FailNow()
	}
	at := func(name string, line int) Component { return Component{Name: name, File: "w", Line: line} }
	same(t, "logger", c.Logger, Logger{Component: at("logger.apache2:", 1), Level: LevelInfo})
	same(t, "shm", c.Shm, Shm{Component: at("shm:", 9), File: "/var/log/jk2.shm", On: true, Slots: 256})
	same(t, "channels", c.Channels, []Channel{{Component: at("channel.socket:localhost:8009", 16), Host: "localhost", Port: 8009}})
	same(t, "workers", c.Workers, []Worker{{Component: at("ajp13:localhost:8009", 16), Route: "localhost:8009", LBFactor: 1}})
	same(t, "balancers", c.Balancers, []Balancer{{Component: Component{Name: "lb:lb"}, Members: []int{0}, StickySession: true,
		Recovery: time.Minute, NoWorkerCode: 503, NoErrorHeader: true}})
	same(t, "statuses", c.Statuses, []StatusPage{{Component: at("status:", 19)}})
	var uris []string
	for _, u := range c.Uris {
		uris = append(uris, fmt.Sprintf("%s %s%s %s", u.Kind, u.Host, u.Path, c.TargetName(u.Target)))
	}
	same(t, "uris", uris, []string{"prefix */jkstatus/* status:", "prefix */examples/servlet/* lb:lb", "suffix */examples/*.jsp lb:lb"})
	m := NewMapper(c)
	for url, want := range map[string]string{
		"x/examples/servlet/HelloWorldExample": "/examples/servlet/* lb:lb",
		"x/examples/servlet":                   "/examples/servlet/* lb:lb",
		"x/examples/jsp/num/numguess.jsp":      "/examples/*.jsp lb:lb",
		"x/examples/index.html":                "",
		"x/other.jsp":                          "", // mod_jk2 2.0.2 looked at the end only
		"x/jkstatus":                           "/jkstatus/* status:",
		"x/jkstatus/":                          "/jkstatus/* status:",
		"x/":                                   "",
	} {
		same(t, url, hit(c, m, url), want)
	}
}

func TestFieldMinimal(t *testing.T) {
	c, warnings, err := ParseConfig(testEnv(), file(t, "field/13-jk2-minimal-workers2.properties"))
	same(t, "said", said(warnings, err), []string{
		"warning w:16: worker: is an old name, group is the current one",
		"warning w:19: file: the quotes are part of the name",
		"warning w:25: worker: is an old name, group is the current one",
		"warning w:29: worker: is an old name, group is the current one",
		"info w:20: size: is not needed: the size follows from slots",
	})
	if err != nil {
		t.FailNow()
	}
	same(t, "workers", len(c.Workers), 1)
	same(t, "worker", c.Workers[0], Worker{Component: Component{Name: "ajp13:localhost:8009", File: "w", Line: 10}, Route: "localhost:8009", LBFactor: 1})
	same(t, "lb:lb", c.Balancers[0].Members, []int{0})
	same(t, "shm", c.Shm.File, `/srv/"C:/web/logs/jk2.shm"`)
	m := NewMapper(c)
	for url, want := range map[string]string{
		"x/examples":       "/examples/* ajp13:localhost:8009",
		"x/examples/":      "/examples/* ajp13:localhost:8009",
		"x/examples/a/b":   "/examples/* ajp13:localhost:8009",
		"x/examples2":      "",
		"x/a/b.jsp":        "/*.jsp ajp13:localhost:8009",
		"x/jkstatus":       "/jkstatus/* status:status",
		"x/jkstatus/x.jsp": "/jkstatus/* status:status",
	} {
		same(t, url, hit(c, m, url), want)
	}
}

func TestFieldBroken(t *testing.T) {
	s := file(t, "field/15-jk2-broken-workers2.properties")
	c, warnings, err := ParseConfig(testEnv(), s)
	if c != nil {
		t.Error("there is a result in spite of faults")
	}
	got := said(warnings, err)
	for _, want := range []string{
		"error w:3: [channel.socket:localhost:8009: the section header has no closing bracket",
		"error w:24: [uri:$/re[0-9]: the expression is bad: missing closing ]: `[0-9` (the header of a section ends at its first ']': use (a|b) or \\d)",
		"warning w:26: [uri:relative/path]: what stands before the '/' is a host: this is /path on host relative, which is most likely not meant",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("does not say %q", want)
		}
	}

	// With the two repaired.
	text := strings.Replace(string(s.Data), "[channel.socket:localhost:8009\n", "[channel.socket:localhost:8009]\n", 1)
	text = strings.Replace(text, "[uri:$/re[0-9]+/.*]", "[uri:$^/re\\d+/.*]", 1)
	c, warnings, err = ParseConfig(testEnv(), source(text))
	same(t, "said", said(warnings, err), []string{
		"warning w:26: [uri:relative/path]: what stands before the '/' is a host: this is /path on host relative, which is most likely not meant",
		"warning w:27: worker: is an old name, group is the current one",
		"info w:1: debug: stands before the first section and is a variable only",
		"info w:2: level: stands before the first section and is a variable only",
		"info w:12: [vm:]: is disabled, and nothing jkd has: " + noJVM,
		"info w:19: [worker.jni:onStartup]: is disabled, and nothing jkd has: " + noJVM,
		"info w:29: group: makes the status page status:, which has no section",
	})
	if err != nil {
		t.FailNow()
	}
	same(t, "channel", []any{c.Channels[0].Host, c.Channels[0].Port}, []any{"127.0.0.1", 8009})
	w := c.Workers[0]
	same(t, "worker", []any{w.Name, w.Route, w.MaxConnections, w.Secret}, []any{"ajp13:localhost:8009", "localhost:8009", 2048, "a$(b)c"})
	m := NewMapper(c)
	for url, want := range map[string]string{
		"x/re17/y":      "$^/re\\d+/.* lb:lb",
		"x/a.do":        "/*.do lb:lb",
		"x/a.jsp":       "/*.jsp lb:lb",
		"relative/path": "relative/path ajp13:localhost:8009",
		"x/path":        "",
		"x/jkstatus":    "/jkstatus/* status:",
	} {
		same(t, url, hit(c, m, url), want)
	}
}
