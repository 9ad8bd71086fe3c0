package jk

import (
	"slices"
	"strings"
	"testing"

	"jkd/conf"
)

// TestNotYet: what is read without effect is said to be, once a worker, and
// only where a request can come.
func TestNotYet(t *testing.T) {
	for _, tt := range []struct{ name, lines, mount, want string }{
		{"nothing", "", "/a/* w", ""},
		{"limits", "worker.w.busy_limit=5\nworker.w.fail_on_status=503\n", "/a/* w", "busy_limit, fail_on_status"},
		{"ping A", "worker.w.ping_mode=A\n", "/a/* w", "connection_ping_interval (ping_mode I)"},
		{"ping CP", "worker.w.ping_mode=CP\n", "/a/* w", ""},
		{"hard close", "worker.w.recovery_options=7\n", "/a/* w", "bit 4 of recovery_options"},
		{"rule", "", "/a/* w;use_server_errors=500;fail_on_status=404;reply_timeout=5", "fail_on_status, use_server_errors"},
		{"not mounted", "worker.list=x\nworker.x.busy_limit=5\n", "/a/* w", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pattern, worker, _ := strings.Cut(tt.mount, " ")
			c := conf.Defaults()
			c.Path = "jkd.conf"
			c.Jk = &conf.Jk{
				WorkersFile: &conf.File{Path: "workers.properties", Data: []byte("worker.list=w\nworker.w.port=8009\n" + tt.lines)},
				Servers:     []conf.JkServer{conf.DefaultJkServer()},
			}
			c.Jk.Main().Mounts = []conf.Mount{{Pattern: pattern, Worker: worker, Line: 7}}
			_, warnings, err := Load(c)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range warnings {
				if _, what, ok := strings.Cut(w.Msg, "without effect in this version of jkd: "); ok {
					got = append(got, what)
					if w.File == "" || w.Line == 0 {
						t.Errorf("warning without a place: %s", w)
					}
				}
			}
			want := []string{tt.want}
			if tt.want == "" {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("warnings %q, want %q", got, want)
			}
		})
	}
}
