//go:build unix

package main_test

import (
	"testing"

	"jkd/connector/ajp/ajptest"
)

// TestMaintenance: children look after their idle connections although nobody
// asks anything of them: they close old ones, and ping the others.
func TestMaintenance(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, tt := range []struct {
			name  string
			more  map[string]string
			ended func(s *server, back *ajptest.Container)
		}{
			{"idle close", map[string]string{"connection_pool_timeout": "1", "connection_pool_minsize": "0"}, func(s *server, back *ajptest.Container) {
				s.eventually("the idle connections to end", func() bool { return back.Open() == 0 })
			}},
			{"interval ping", map[string]string{"connection_pool_timeout": "0", "ping_mode": "I", "connection_ping_interval": "1"}, func(s *server, back *ajptest.Container) {
				pings := 3 * back.Open()
				s.eventually("pings of idle connections", func() bool { return back.CPings() >= pings })
				if back.Open() == 0 {
					t.Error("connections that answered were closed")
				}
			}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "hello\n") })
				s := start(t, bin, config{
					mpm:     mpm,
					workers: properties(addrOf(back.Port()), tt.more) + "worker.maintain=1\n",
					mounts:  []string{"/* tomcat"},
					server:  []string{"KeepAlive = Off"},
					jk:      []string{"JkWatchdogInterval = 1"},
				})
				for range 8 {
					if status, _, err := dial(t, s.addr).get("/"); status != 200 {
						t.Fatalf("%d, %v", status, err)
					}
				}
				if back.Requests() != 8 {
					t.Errorf("%d requests", back.Requests())
				}
				tt.ended(s, back)
				// And the next request finds a connection, or makes one.
				if status, _, err := dial(t, s.addr).get("/"); status != 200 {
					t.Fatalf("after maintenance: %d, %v", status, err)
				}
			})
		}
	})
}
