package jk

import (
	"strings"
	"testing"
	"time"

	"jkd/conf"
)

// servers is a configuration of a main server and virtual hosts for the tests
// of maps: workers a, b, c, of which c asks for /worker/*.
func servers(list ...conf.JkServer) *conf.Config {
	c := conf.Defaults()
	c.Path = "jkd.conf"
	c.Jk = &conf.Jk{
		WorkersFile: &conf.File{Path: "w", Data: []byte("worker.list=a,b,c\nworker.a.host=localhost\nworker.b.host=localhost\nworker.c.mount=/worker/*\n")},
		Servers:     list,
	}
	for range list[1:] {
		c.VHosts = append(c.VHosts, conf.VHost{})
	}
	return c
}

// jkServer is a server with mounts "PATTERN WORKER" (or "!PATTERN WORKER") and
// the text of a map file.
func jkServer(copy conf.MountCopy, mapFile string, mounts ...string) conf.JkServer {
	s := conf.DefaultJkServer()
	s.MountCopy = copy
	for i, m := range mounts {
		pattern, worker, _ := strings.Cut(m, " ")
		if rest, ok := strings.CutPrefix(pattern, "!"); ok {
			s.UnMounts = append(s.UnMounts, conf.Mount{Pattern: rest, Worker: worker, Line: i + 1})
		} else {
			s.Mounts = append(s.Mounts, conf.Mount{Pattern: pattern, Worker: worker, Line: i + 1})
		}
	}
	if mapFile != "" {
		s.MountFile = &conf.File{Path: "m", Data: []byte(mapFile)}
	}
	return s
}

func mustLoad(t testing.TB, c *conf.Config) *Setup {
	t.Helper()
	s, _, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rules is each rule of a map as it was written, with its worker.
func rules(u *URIMap) string {
	var out []string
	for _, r := range u.Rules() {
		out = append(out, r.key()+" "+r.Worker)
	}
	return strings.Join(out, ", ")
}

func TestMapsOfServers(t *testing.T) {
	main := jkServer(conf.CopyOff, "/file/*=a\n/file/x=b\n", "/one/* a", "/two/* b", "!/one/no a")
	ownFile := jkServer(conf.CopyOn, "", "/three/* c")
	ownFile.MountFile = &conf.File{Path: "n", Data: []byte("/n/*=b\n")}
	tests := []struct {
		name string
		host conf.JkServer
		want string
	}{
		{"own mounts without copy", jkServer(conf.CopyOff, "", "/three/* c"), "/three/* c"},
		{"nothing", jkServer(conf.CopyOff, ""), ""},
		{"own and copied", jkServer(conf.CopyOn, "", "/three/* c"), "/three/* c, /file/* a, /file/x b, !/one/no a, /one/* a, /two/* b"},
		{"redefined", jkServer(conf.CopyOn, "", "/one/* c"), "/file/* a, /file/x b, !/one/no a, /one/* c, /two/* b"},
		{"exclusion redefined", jkServer(conf.CopyOn, "", "!/one/no a"), "/file/* a, /file/x b, !/one/no a, /one/* a, /two/* b"},
		// Dropping the main server's would open what it closed.
		{"exclusion for another worker", jkServer(conf.CopyOn, "", "!/one/no b"), "/file/* a, /file/x b, !/one/no b, !/one/no a, /one/* a, /two/* b"},
		{"an exclusion redefines no mount", jkServer(conf.CopyOn, "", "!/one/* c"), "/file/* a, /file/x b, !/one/no a, !/one/* c, /one/* a, /two/* b"},
		{"own map file", ownFile, "/three/* c, !/one/no a, /one/* a, /two/* b, /n/* b"},
		{"the same map file", jkServer(conf.CopyOff, "/file/*=c\n"), "/file/* c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustLoad(t, servers(main, tt.host))
			same(t, "main", rules(s.Maps[0]), "/worker/* c, /file/* a, /file/x b, !/one/no a, /one/* a, /two/* b")
			same(t, "host", rules(s.Maps[1]), tt.want)
			for _, u := range s.Maps {
				for i, r := range u.Rules() {
					same(t, "rank of "+r.key(), r.Rank, i)
				}
			}
		})
	}
	t.Run("copy without own mounts", func(t *testing.T) {
		s := mustLoad(t, servers(main, jkServer(conf.CopyOn, ""), jkServer(conf.CopyOff, "")))
		if s.Maps[1] != s.Maps[0] || s.Maps[2] == s.Maps[0] || s.Maps[2] == nil {
			t.Errorf("maps %p", s.Maps)
		}
	})
}

func TestMapsOfLocations(t *testing.T) {
	c, dir := load(t, map[string]string{"jkd.conf": `[server]
Listen = 8080
[connector.jk]
JkWorkersFile = w
JkMount = /one/* a
[vhost one.test]
JkMountCopy = On
[vhost two.test]
JkMountCopy = On
[location /loc]
JkMount = b;reply_timeout=5
[location one.test /host/?]
JkMount = c
[location /handler]
SetHandler = jakarta-servlet
`, "w": "worker.list=a,b,c\nworker.a.port=1\nworker.b.port=2\nworker.c.port=3\n"})
	s := mustLoad(t, c)
	for path, want := range map[string]string{"/loc": "b /loc", "/loc/": "", "/loc/x": "", "/handler": "", "/one/x": "a /one/*"} {
		same(t, path, hit(s.Maps[0], path), want)
	}
	r := s.Maps[0].Match([]byte("/loc"))
	same(t, "place", r.at(), place{dir + "/jkd.conf", 11})
	same(t, "source", r.Source, FromMount)
	same(t, "reply_timeout", r.Extensions.ReplyTimeout, 5*time.Millisecond)
	// A mount in a section of its own is one of its own.
	same(t, "first host", rules(s.Maps[1]), "/host/? c, /one/* a, /loc b")
	if s.Maps[2] != s.Maps[0] {
		t.Error("the second host has a map of its own")
	}
}

// The same fault in the main server's rules is reported once, although the
// rules are in several maps.
func TestMapsReportOnce(t *testing.T) {
	main := jkServer(conf.CopyOff, "/file/*=nobody\n/typo/*=a;replytimeout=1\n", "/one/* nowhere")
	_, warnings, err := Load(servers(main, jkServer(conf.CopyOn, "", "/x a"), jkServer(conf.CopyOn, "", "/y a")))
	same(t, "errors", lines(err), []string{
		"jkd.conf:1: /one/*: there is no worker nowhere in worker.list (w:1)",
		"m:1: /file/*: there is no worker nobody in worker.list (w:1)",
	})
	same(t, "warnings", said(warnings, conf.Warn), []string{"m:2: /typo/*: unknown rule extension replytimeout: ignored, did you mean reply_timeout?"})
}
