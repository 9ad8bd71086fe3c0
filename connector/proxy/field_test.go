package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFieldSetup: what the file 18 of the field says, in the numbers that count.
func TestFieldSetup(t *testing.T) {
	s, warnings := setup(t, `[proxy]
ProxyIOBufferSize = 65536
[proxy balancer://app]
BalancerMember = ajp://app1.example.test:8009 route=n1 loadfactor=3 secret=s1 ping=2 ttl=55 max=40
BalancerMember = ajp://app2.example.test route=n2 keepalive=On retry=30
BalancerMember = ajp://app3.example.test:8009 route=n3 status=+H
ProxySet = stickysession=JSESSIONID|jsessionid nofailover=On lbmethod=bybusyness failonstatus=500,503
[vhost app.example.test]
ProxyPass = /app/ws/ ws://app1.example.test:8080/app/ws/
ProxyPass = /app/ balancer://app/app/ timeout=120
`)
	w := s.Workers
	if len(w) != 4 || w[0].Ping != 2*time.Second || w[0].TTL != 55*time.Second || w[0].Max != 40 || w[0].Factor != 300 || w[0].Secret != "s1" ||
		w[1].host != "app2.example.test" || w[1].port != 8009 || !w[1].KeepAlive || w[1].Retry != 30*time.Second || !w[2].Standby || w[2].Spare {
		t.Errorf("workers %+v", w)
	}
	for i := range w[:3] {
		if w[i].packet != 65536 {
			t.Errorf("%s: packets of %d", w[i].Name, w[i].packet)
		}
	}
	if w[3].Name != "http://app1.example.test:8080" {
		t.Errorf("the back end of ws:// is %s", w[3].Name)
	}
	b := s.Balancers[0]
	if got, want := fmt.Sprint(b.Cookie, b.Param, b.NoFailover, b.Method, b.FailStatuses, b.Timeout), "JSESSIONID jsessionidtrue bybusyness [500 503] 2m0s"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("balancer: %s, want %s", got, want)
	}
	text := fmt.Sprint(warnings)
	for _, part := range []string{"app2.example.test:8009 has no secret", "app3.example.test:8009 has no secret"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}
