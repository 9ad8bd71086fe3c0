//go:build unix

package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// askAs asks for a path, as somebody unless user is empty, at a host unless that
// is empty. It returns the status.
func askAs(t *testing.T, client *http.Client, url, host, user, password string) (status int) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, answer.Body) // the connection is kept
	_ = answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}

// TestStatusUsers: users of a file that htpasswd has made are let in, in every
// virtual host, and the access log has their names, but not for the requests
// after theirs.
func TestStatusUsers(t *testing.T) {
	htpasswd, err := exec.LookPath("htpasswd")
	if err != nil {
		t.Skip("there is no htpasswd")
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		file := filepath.Join(openDir(t), "users")
		for i, args := range [][]string{{"-cbB", "-C", "4", file, "joe", "pass word"}, {"-bm", file, "ann", "secret"}} {
			if out, err := exec.Command(htpasswd, args...).CombinedOutput(); err != nil {
				t.Fatalf("htpasswd %d: %v, %s", i, err, out)
			}
		}
		s, _ := statusServer(t, mpm, "AuthUserFile = "+file, "[server]", `CustomLog = access.log "%v %U %u %>s"`,
			"[vhost shop.test]", "JkMount = /* tomcat", "[vhost empty.test]")
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}} // one connection, so one slot
		defer client.CloseIdleConnections()
		var want []string
		for _, host := range []string{s.addr, "shop.test", "empty.test"} {
			for _, path := range []string{"/jkd-status", "/metrics"} {
				for _, tt := range []struct {
					user, password string
					status         int
				}{
					{"joe", "pass word", 200}, {"", "", 401}, {"joe", "pass", 401}, {"nobody", "pass word", 401}, {"ann", "secret", 200}, {"joe", "pass word", 200},
				} {
					if got := askAs(t, client, s.url(path), host, tt.user, tt.password); got != tt.status {
						t.Errorf("%s%s as %q with %q: %d, want %d", host, path, tt.user, tt.password, got, tt.status)
					}
					user := "-"
					if tt.status == 200 {
						user = tt.user
					}
					name, _, _ := strings.Cut(host, ":")
					want = append(want, fmt.Sprintf("%s %s %s %d\n", name, path, user, tt.status))
				}
			}
		}
		s.eventually("the access log", func() bool { return s.linesOf("access.log", "") == len(want) })
		got, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != strings.Join(want, "") {
			t.Errorf("access log:\n%s\nwant\n%s", got, strings.Join(want, ""))
		}
	})
}
