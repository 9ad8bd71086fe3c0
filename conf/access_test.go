package conf

import (
	"net/netip"
	"strings"
	"testing"
)

func TestAccess(t *testing.T) {
	for _, tt := range []struct {
		text    string
		yes, no []string
	}{
		{"", []string{"192.0.2.1", "::1"}, nil},
		{"SetEnv = a b", []string{"192.0.2.1"}, nil},
		{"Require = all denied", nil, []string{"127.0.0.1", "::1", "unix:"}},
		{"Require = all granted", []string{"127.0.0.1", "2001:db8::1", "unix:"}, nil},
		{"Require = local", []string{"127.9.9.9", "::1", "::ffff:127.0.0.1"}, []string{"192.0.2.1", "::2", "unix:"}},
		{"Require = ip 10 192.0.2.0/24\nRequire = ip 2001:db8::/32", []string{"10.1.2.3", "192.0.2.255", "2001:db8::1", "::ffff:10.0.0.1"}, []string{"11.0.0.1", "2001:db9::1"}},
		{"Deny = from all", nil, []string{"127.0.0.1", "unix:"}},
		{"Allow = from 10", []string{"10.0.0.1", "192.0.2.1"}, nil}, // Order deny,allow is the default
		{"Order = deny,allow\nDeny = from all\nAllow = from 10.1", []string{"10.1.0.1"}, []string{"10.2.0.1"}},
		{"Order = deny,allow\nDeny = from 10", []string{"11.0.0.1", "unix:"}, []string{"10.2.0.1"}},
		{"Order = allow,deny\nAllow = from all\nDeny = from 10", []string{"11.0.0.1"}, []string{"10.2.0.1"}},
		{"Order = allow,deny\nAllow = from 10", []string{"10.0.0.1"}, []string{"11.0.0.1"}},
		{"Order = allow,deny", nil, []string{"127.0.0.1"}},
		{"Require = all granted\nRequire = not ip 10 ::1\nRequire = not local", []string{"11.0.0.1"}, []string{"10.2.0.1", "::1", "127.0.0.1"}},
		{"Require = not ip 10", nil, []string{"11.0.0.1", "10.2.0.1"}},
		{"Require = ip 10\nOrder = allow,deny\nAllow = from 10.1", []string{"10.1.0.1"}, []string{"10.2.0.1", "11.0.0.1"}},
		{"Order = Deny, Allow\nDeny = from all\nAllow = from localhost", []string{"127.0.0.1", "::1"}, []string{"192.0.2.1"}},
	} {
		c, _ := parse(t, "[location /x]\n"+tt.text+"\n")
		rules := c.Locations[0].Access
		allows := func(addr string) bool {
			a, _ := netip.ParseAddr(addr) // that of a Unix socket's client is none
			return rules.Require.Allows(a) && rules.Order.Allows(a)
		}
		if says := strings.Contains(tt.text, "Require") || strings.Contains(tt.text, "from") || strings.Contains(tt.text, "Order"); rules.Says() != says {
			t.Errorf("%q says something: %v", tt.text, !says)
		}
		for _, addr := range tt.yes {
			if !allows(addr) {
				t.Errorf("%q keeps %s out", tt.text, addr)
			}
		}
		for _, addr := range tt.no {
			if allows(addr) {
				t.Errorf("%q lets %s in", tt.text, addr)
			}
		}
	}
}
