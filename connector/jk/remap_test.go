package jk

import (
	"testing"
	"time"

	"jkd/conf"
)

func mustRemap(t *testing.T, s *Setup, text string) *Remapped {
	t.Helper()
	r, err := s.Remap("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMapFiles(t *testing.T) {
	main := jkServer(conf.CopyOff, "/a=a\n")
	eager := jkServer(conf.CopyOn, "", "/x a")
	eager.MountFileReload = 5 * time.Second
	never := jkServer(conf.CopyOn, "", "/x a")
	never.MountFileReload = 0
	other := jkServer(conf.CopyOff, "")
	other.MountFile = &conf.File{Path: "n", Data: []byte("/n=a\n")}
	other.MountFileReload = 0
	s := mustLoad(t, servers(main, eager, never, other, jkServer(conf.CopyOn, ""), jkServer(conf.CopyOff, "")))
	same(t, "files", s.MapFiles(), []MapFile{
		{Path: "m", Data: []byte("/a=a\n"), Every: 5 * time.Second, Servers: []int{0, 1, 4}},
		{Path: "n", Data: []byte("/n=a\n")},
	})
	r := mustRemap(t, s, "/b=b\n")
	for i, want := range []string{"/worker/* c, /b b", "/b b, /x a", "/a a, /x a", "/n a", "/worker/* c, /b b", ""} {
		same(t, "map", rules(r.Setup.Maps[i]), want)
	}
	if r.Setup.Maps[4] != r.Setup.Maps[0] || r.Setup.Maps[3] != s.Maps[3] || r.Setup.Config != s.Config {
		t.Error("what does not follow the file has changed")
	}
	same(t, "old map", rules(s.Maps[0]), "/worker/* c, /a a")
	// And again, from the new one.
	same(t, "second", rules(mustRemap(t, r.Setup, "/c=c\n").Setup.Maps[1]), "/c c, /x a")
	if r, err := s.Remap("no such file", []byte("x\n")); err != nil || r.Setup.Maps[0] != s.Maps[0] {
		t.Error("a file that nobody has changed something", err)
	}
}

// F071: a rule for a worker that is not there stays and is reported, and the
// others work.
func TestF071ReloadedRuleWithoutWorker(t *testing.T) {
	s := mustLoad(t, servers(jkServer(conf.CopyOff, "/a/*=a\n", "/m/* b"), jkServer(conf.CopyOn, "", "/x a")))
	r := mustRemap(t, s, "/a/*=a\n/gone/*=jkstatus;active=n1;reply_timeout=5\n!/gone/x=jkstatus\n!/gone/y=other\n!/gone/z=*\n")
	same(t, "unknown", lines(r.Unknown), []string{
		"m:2: /gone/*: there is no worker jkstatus in worker.list (w:1)",
		"m:3: !/gone/x: there is no worker jkstatus in worker.list (w:1)",
		"m:4: !/gone/y: there is no worker other in worker.list (w:1)",
	})
	same(t, "warnings", said(r.Warnings, conf.Warn), []string(nil))
	for _, u := range r.Setup.Maps {
		for path, want := range map[string]string{
			"/a/1": "a /a/*", "/m/1": "b /m/*", "/gone/1": "jkstatus /gone/*", "/gone/x": "", "/gone/y": "jkstatus /gone/*", "/gone/z": "",
		} {
			same(t, path, hit(u, path), want)
		}
		x := u.Match([]byte("/gone/1"))
		same(t, "index", x.Index, UnknownWorker)
		same(t, "reply_timeout", x.Extensions.ReplyTimeout, 5*time.Millisecond)
	}
}

// F072: what an editor leaves for a moment does not take the rules away.
func TestF072HalfWrittenMapFile(t *testing.T) {
	const before = "/a/*=a\n/b/*=b\n"
	tests := []struct{ name, text, fault string }{
		{"renamed", "/c/*=c\n", ""},
		{"one rule less", "/a/*=a\n", ""},
		{"no newline at the end", "/a/*=a\n/b/*=b", ""},
		{"comment without a newline", "/a/*=a\n# b", ""},
		{"truncated", "", "m: holds no rule, where there were some: taken for a file that is just being written (to have none, disable one: -/* worker)"},
		{"only the heading", "# rules\n", "m: holds no rule, where there were some: taken for a file that is just being written (to have none, disable one: -/* worker)"},
		{"all disabled", "-/a/*=a\n", ""},
		{"cut in the pattern", "/a/*=a\n/b/", "m:2: the last line is not complete: taken for a file that is just being written"},
		{"cut before the worker", "/a/*=a\n/b/*=", "m:2: the last line is not complete: taken for a file that is just being written"},
		{"cut in the worker", "/a/*=a\n/b/*=worke", "m:2: the last line is not complete: taken for a file that is just being written"},
		{"whole line, unknown worker", "/a/*=a\n/b/*=worke\n", ""},
		{"bad pattern", "/a/*=a\n*.jsp=b\n", "m:2: *.jsp: invalid mapping rule: the pattern does not begin with '/', did you mean /*.jsp?"},
		{"bad extension", "/a/*=a;reply_timeout=x\n", `m:1: /a/*: extension reply_timeout: "x" is not a whole number`},
		{"UTF-16", "\xff\xfe/\x00a\x00", "m:1: the file is UTF-16; save it as UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustLoad(t, servers(jkServer(conf.CopyOff, before)))
			old := s.Maps[0]
			r, err := s.Remap("m", []byte(tt.text))
			var want []string
			if tt.fault != "" {
				want = []string{tt.fault}
			}
			same(t, "fault", lines(err), want)
			if (r == nil) != (err != nil) {
				t.Errorf("result %v with error %v", r, err)
			}
			if s.Maps[0] != old || rules(old) != "/worker/* c, /a/* a, /b/* b" {
				t.Error("the old map has changed")
			}
		})
	}
	t.Run("nothing before", func(t *testing.T) {
		s := mustLoad(t, servers(jkServer(conf.CopyOff, "# none yet\n")))
		if _, err := s.Remap("m", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestRemapWarns(t *testing.T) {
	s := mustLoad(t, servers(jkServer(conf.CopyOff, "/a/*=a\n"), jkServer(conf.CopyOn, "", "/x a")))
	r := mustRemap(t, s, "/a/*=a;replytimeout=5;sticky_ignore=1;session_cookie=S\n")
	same(t, "warnings", said(r.Warnings, conf.Warn), []string{
		"m:1: /a/*: unknown rule extension replytimeout: ignored, did you mean reply_timeout?",
		"m:1: /a/*: extension session_cookie is for balancers and worker a is none: ignored",
	})
}
