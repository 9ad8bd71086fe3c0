//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What jkd -t says of files as people have them: its exit status, all faults
// at once, each with its line, and nothing secret.
func TestFieldF067Check(t *testing.T) {
	bin := binary(t)
	for _, tt := range []struct {
		file, mount string
		code        int
		want        []string
		never       string
	}{
		{"01-coldfusion", "/*.cfm cf_pool", 0, []string{"Syntax OK", ":23: worker.cfnode1.max_reuse_connections", ":34: worker.cfnode2.max_reuse_connections",
			"the status page of worker status is mounted and may be changed by everybody", "processes with up to"}, "error"},
		{"03-trailing-comments", "/* controller", 0, []string{"Syntax OK", ":15: worker.controller.balanced_workers", ":18: workers.list: is a variable without meaning, did you mean worker.list?"}, ""},
		{"04-typos", "/* loadbalancer", 1, []string{":9: worker.node2.type: Unknown worker type AJP13, did you mean ajp13?", ":12: worker.loadbalancer.type: Unknown worker type 1b, did you mean lb?",
			":14: worker.loadbalancer.sticky_seesion: directive sticky_seesion is not supported - please check, did you mean sticky_session?", ":13: worker.loadbalancer.balanced_workers"}, "Syntax OK"},
		{"05-template", "/* wlb", 0, []string{"Syntax OK"}, ""},
		{"06-macros", "/* lb", 0, []string{"Syntax OK", ":13: worker.app2.port", ":18: worker.app2.connection_pool_size", ":19: nested", ":21: self"}, "very-secret"},
		{"07-hot-standby", "/* lb-main", 0, []string{"Syntax OK", "main-master and history-master share a host"}, ""},
		{"08-bom-crlf", "/* tomcat", 0, []string{"Syntax OK", ":1: the byte order mark is skipped", ":10: the line has no '='", ":11: the line has no name", ":12: worker.tomcat.retries: has no value"}, ""},
	} {
		t.Run(tt.file, func(t *testing.T) {
			s := &server{t: t, dir: openDir(t)}
			data, err := os.ReadFile(filepath.Join("..", "..", "connector", "jk", "testdata", "field", tt.file+"-workers.properties"))
			if err != nil {
				t.Fatal(err)
			}
			s.write("w", string(data))
			s.write("jkd.conf", "[server]\nListen = 127.0.0.1:8088\nUser = nobody\nMPM = worker\n[connector.jk]\nJkWorkersFile = w\nJkMount = "+tt.mount+"\n")
			cmd := exec.Command(bin, "-t", "-f", filepath.Join(s.dir, "jkd.conf"))
			cmd.Dir = s.dir
			cmd.Env = append(os.Environ(), "JKD_TEST_SECRET=very-secret")
			out, _ := cmd.CombinedOutput()
			same(t, "exit status", cmd.ProcessState.ExitCode(), tt.code)
			for _, part := range tt.want {
				if !strings.Contains(string(out), part) {
					t.Errorf("%q is not in\n%s", part, out)
				}
			}
			if tt.never != "" && strings.Contains(string(out), tt.never) {
				t.Errorf("%q is in\n%s", tt.never, out)
			}
		})
	}
}
