package contender

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	for _, tt := range []struct{ names, want, unknown []string }{
		{nil, nil, nil},
		{[]string{"nginx", "jkd-prefork"}, []string{"jkd-prefork-jk", "jkd-prefork-jk2", "nginx"}, nil},
		{[]string{"jkd-worker-jk"}, []string{"jkd-worker-jk"}, nil}, // not jk2
		{[]string{"apache", "apache-event"}, []string{"apache-prefork-jk", "apache-worker-jk", "apache-event-jk", "apache-event-ajp", "apache-event-http"}, nil},
		{[]string{"ngin", "haproxy", "tomcat"}, []string{"haproxy"}, []string{"ngin"}},
	} {
		fronts, unknown := Select(tt.names)
		var got []string
		for _, f := range fronts {
			got = append(got, f.Name)
		}
		if !reflect.DeepEqual(got, tt.want) || !reflect.DeepEqual(unknown, tt.unknown) {
			t.Errorf("%q: %q, unknown %q", tt.names, got, unknown)
		}
	}
}

func TestFor(t *testing.T) {
	for c, want := range map[int]Shape{1: DefaultShape, 50: DefaultShape, 100: {128, 64}, 400: {448, 64}, 1000: {1024, 64}} {
		if got := For(c); got != want || got.Workers < c {
			t.Errorf("%d connections: %+v, want %+v", c, got, want)
		}
	}
}

// Each front's files are whole: templates have all their values, and what the
// command line names is there.
func TestConfig(t *testing.T) {
	for _, f := range All() {
		v := Values{Shape: Shape{Workers: 128, ThreadsPerChild: 64}, Dir: t.TempDir(), Port: 20001, AJPPort: 20002, HTTPPort: 20003, JKD: "/bin/jkd"}
		argv, err := f.Config(v)
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		all := ""
		names, _ := filepath.Glob(v.Dir + "/*")
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
		for _, want := range []string{"127.0.0.1:20001", "2000"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in its configuration", f.Name, want)
			}
		}
		if !strings.Contains(all, "20002") && !strings.Contains(all, "20003") {
			t.Errorf("%s: no back end in its configuration", f.Name)
		}
		if strings.Contains(all, "<no value>") || strings.Contains(all, "{{") {
			t.Errorf("%s: a hole in its configuration:\n%s", f.Name, all)
		}
		for _, a := range argv {
			if strings.HasPrefix(a, v.Dir+"/") && !strings.HasSuffix(a, ".log") {
				if _, err := os.Stat(a); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
		}
		want := map[string]int{"": 0, "prefork": 128, "worker": 2, "event": 2}[f.MPM]
		if got := f.processes(v.Shape); got != want {
			t.Errorf("%s: %d processes, want %d", f.Name, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	got := Missing([]File{{"/", "there"}, {"/no/such/file", "a"}, {"/no/such/other", "a"}, {"/no/such/third", "b"}})
	if !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

// The page is a JSP whose text has the size of that of 2009.
func TestTomcatPage(t *testing.T) {
	directive, text, _ := strings.Cut(tomcatPage(), "%>")
	if !strings.HasPrefix(directive, "<%@ page ") || len(text) != TomcatPageSize || strings.Contains(text, "<%") {
		t.Errorf("%.60q, %d bytes", directive, len(text))
	}
}
