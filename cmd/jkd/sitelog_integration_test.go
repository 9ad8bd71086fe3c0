//go:build unix

package main_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSiteLog: what goes wrong with a request is told in its virtual host's
// JkLogFile, at that one's level, and nowhere else.
func TestSiteLog(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{
			mpm:     mpm,
			workers: properties(addrOf(deadPort(t)), map[string]string{"retries": "1"}),
			mounts:  []string{"/* tomcat"},
			jk: []string{
				"JkLogFile = logs/main", `JkLogStampFormat = "main "`, "JkMountCopy = All",
				"[vhost own.example.test]", "JkLogFile = logs/own", "JkLogLevel = debug", `JkLogStampFormat = "own "`,
				"[vhost quiet.example.test]", "JkLogLevel = emerg",
			},
		})
		for _, host := range []string{"own.example.test", "quiet.example.test", "main.example.test"} {
			c := dial(t, s.addr)
			if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if r, err := c.response("GET"); err != nil || r.StatusCode != 503 {
				t.Errorf("%s: %v, %v", host, r, err)
			}
		}
		read := func(name string) string {
			b, _ := os.ReadFile(filepath.Join(s.dir, "logs", name))
			return string(b)
		}
		s.eventually("both logs", func() bool {
			return strings.Contains(read("main"), "Service error=503") && strings.Contains(read("own"), "Service error=503")
		})
		for _, tt := range []struct {
			name  string
			debug bool
		}{{"main", false}, {"own", true}} {
			got := read(tt.name)
			if strings.Count(got, "connecting to backend failed") != 1 || strings.Count(got, "Service error=503") != 1 ||
				strings.Contains(got, "[debug] no usable connection found") != tt.debug {
				t.Errorf("%s:\n%s", tt.name, got)
			}
			for line := range strings.Lines(got) {
				if !strings.HasPrefix(line, tt.name+" [") {
					t.Errorf("%s: %s", tt.name, line)
				}
				for _, who := range []string{" generation=1 ", " server=", " thread=", " worker=tomcat"} {
					if !strings.Contains(line+" ", who) {
						t.Errorf("%s: no%sin %s", tt.name, who, line)
					}
				}
			}
		}
	})
}
