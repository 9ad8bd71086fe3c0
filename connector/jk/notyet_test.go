package jk

import (
	"slices"
	"strings"
	"testing"

	"jkd/conf"
)

// Settings that do nothing are said to do nothing, with their place.
func TestNotYet(t *testing.T) {
	for _, tt := range []struct {
		name, lines, worker string
		change              func(*conf.Config)
		want                string
	}{
		{"nothing", "", "w", nil, ""},
		{"in force", "worker.w.busy_limit=5\nworker.w.max_connections=5\nworker.w.resolve_ttl=7\nworker.w.ping_mode=A\nworker.w.fail_on_status=503\nworker.w.recovery_options=7\n", "w", nil, ""},
		{"status", "worker.list=st\nworker.st.type=status\nworker.st.read_only=1\n", "st", nil, ""},
		{"file", "", "w", func(c *conf.Config) { c.Jk.ShmFile, c.Jk.WatchdogInterval = "/x", 1 }, ""},
		{"directories", "", "w", func(c *conf.Config) { c.Jk.Main().Options.ForwardDirectories = true },
			"ForwardDirectories (a directory without an index is answered with 404)"},
		{"site", "", "w", func(c *conf.Config) {
			s := c.Jk.Main()
			s.MountFile = &conf.File{Path: "map", Data: []byte("/b=w\n")}
			s.Options.RejectUnsafeURI, s.AutoAlias, s.StripSession = true, "/srv", true
			s.Options.ForwardURI, s.Options.ForwardURISet = conf.ForwardURIEscaped, true
			c.Locations = []conf.Location{{Path: "/x", Line: 9, Handler: "jakarta-servlet"}}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := conf.Defaults()
			c.Path = "jkd.conf"
			c.Jk = &conf.Jk{
				WorkersFile: &conf.File{Path: "workers.properties", Data: []byte("worker.list=w\nworker.w.port=8009\n" + tt.lines)},
				Servers:     []conf.JkServer{conf.DefaultJkServer()},
			}
			c.Jk.Main().Mounts = []conf.Mount{{Pattern: "/a/*", Worker: tt.worker, Line: 7}}
			if tt.change != nil {
				tt.change(c)
			}
			s, _, err := Load(c)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, w := range NotYet(c, s) {
				if _, what, ok := strings.Cut(w.Msg, "without effect in this version of jkd: "); ok {
					got = append(got, what)
					if w.File == "" || w.Key == "" {
						t.Errorf("warning without a place: %s", w)
					}
				}
			}
			if tt.want != "" {
				want = []string{tt.want}
			}
			if !slices.Equal(got, want) {
				t.Errorf("warnings %q, want %q", got, want)
			}
		})
	}
}
