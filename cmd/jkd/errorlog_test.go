//go:build unix

package main_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestErrorLogJSON: every line is an object, the master's and the children's,
// and what is known of where it comes from is in it.
func TestErrorLogJSON(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{
			mpm:     mpm,
			server:  []string{"ErrorLogFormat = json", "LogLevel = debug"},
			workers: properties(addrOf(deadPort(t)), map[string]string{"retries": "1"}),
			mounts:  []string{"/app/* tomcat"},
		})
		for path, status := range map[string]int{"/app/": 503, "/none": 404, "/%00": 400} {
			c := dial(t, s.addr)
			if err := c.send("GET " + path); err != nil {
				t.Fatal(err)
			}
			if r, err := c.response("GET"); err != nil || r.StatusCode != status {
				t.Errorf("%s: %v, %v", path, r, err)
			}
		}
		wanted := map[string][]string{
			"request not mapped": {"server", "generation", "thread", "client", "request"},
			"request failed":     {"server", "generation", "thread", "worker", "client"},
			"request refused":    {"server", "generation", "thread", "client", "status"},
			"jkd is ready":       {"mpm", "version"},
		}
		s.eventually("all lines", func() bool {
			got := s.log()
			for msg := range wanted {
				if !strings.Contains(got, msg) {
					return false
				}
			}
			return strings.HasSuffix(got, "\n")
		})
		for line := range strings.Lines(s.log()) {
			var o map[string]any
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Errorf("%v: %s", err, line)
				continue
			}
			if n := strings.Count(line, `"pid":`); n != 1 {
				t.Errorf("%d times pid: %s", n, line)
			}
			msg, _ := o["message"].(string)
			for _, key := range append(wanted[msg], "level", "time", "pid") {
				if _, ok := o[key]; !ok {
					t.Errorf("lacks %s: %s", key, line)
				}
			}
		}
	})
}
