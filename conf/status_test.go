package conf

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestStatus(t *testing.T) {
	if c, _ := parse(t, ""); c.Status != nil {
		t.Errorf("without a section: %+v", c.Status)
	}
	c, warnings := parse(t, "[status]\nMetrics = /metrics\n")
	want := &Status{Metrics: "/metrics", Require: loopback, AuthName: "jkd status", ExtendedStatus: true, Line: 3}
	if !reflect.DeepEqual(c.Status, want) || len(warnings) > 0 {
		t.Errorf("got %+v %q\nwant %+v", c.Status, warnings, want)
	}

	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("a:b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, warnings = parse(t, "[Status]\nlocation = '/jkd-status'\nMetrics = /m/etrics\nRequire = 10.0.0.0/8 ::1\nRequire = ip 192.168.1 10.0.0.0/8\n"+
		"AuthUserFile = "+users+"\nAuthName = \"those who may\"\nExtendedStatus = off\nShowQueryStrings = on\n")
	want = &Status{
		Location: "/jkd-status", Metrics: "/m/etrics", AuthName: "those who may", ShowQueryStrings: true, Line: 3, UsersLine: 8,
		Require: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.168.1.0/24")},
		Users:   &File{Path: users, Data: []byte("a:b\n")},
	}
	if !reflect.DeepEqual(c.Status, want) || len(warnings) > 0 {
		t.Errorf("got %+v %q\nwant %+v", c.Status, warnings, want)
	}
	if c, _ := parse(t, "[status]\nLocation = /a\nRequire = all denied\n"); len(c.Status.Require) != 0 {
		t.Errorf("denied, but %v may", c.Status.Require)
	}
}

func TestStatusWarnings(t *testing.T) {
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte("a:b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"Require = 127.0.0.1\nRequire = all granted", []string{"/etc/f:6: Require: everybody may see the state of the server: there is no AuthUserFile"}},
		{"Require = all granted\nAuthUserFile = " + users, nil},
		{"AuthName = x", []string{"/etc/f:5: AuthName: has no effect without AuthUserFile"}},
		{"Location = /b", []string{"/etc/f:5: Location: given again: this one counts, not /a of line 4"}},
	} {
		if _, got := parse(t, "[status]\nLocation = /a\n"+tt.text+"\n"); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

func TestParseRequire(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{"127.0.0.0/8 ::1 10.0.0.0/8", "[127.0.0.0/8 ::1/128 10.0.0.0/8]"},
		{"ip 10.1", "[10.1.0.0/16]"},
		{"ip 10", "[10.0.0.0/8]"},
		{"IP 10.1.2.", "[10.1.2.0/24]"},
		{"10.1.2.3", "[10.1.2.3/32]"},
		{"10.1.2.3/16", "[10.1.0.0/16]"},
		{"10.1.0.0/255.255.0.0", "[10.1.0.0/16]"},
		{"0.0.0.0/0.0.0.0", "[0.0.0.0/0]"},
		{"2001:db8::/32", "[2001:db8::/32]"},
		{"::ffff:10.1.2.3", "[10.1.2.3/32]"},
		{"::ffff:10.1.0.0/112", "[10.1.0.0/16]"},
		{"local", "[127.0.0.0/8 ::1/128]"},
		{"all granted", "[0.0.0.0/0 ::/0]"},
		{"All Denied", "[]"},
	} {
		got, err := parseRequire(tt.value)
		if err != nil || fmt.Sprint(got) != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.value, got, err, tt.want)
		}
	}
	for _, value := range []string{"10..1", "10.1.2.3.4", "1.2.3.4/", "1.2.3.4/-1", "::/129", "::1/255.0.0.0", "a", `""`, "1.2.3.4/8/8", "::ffff:1.2.3.4/"} {
		if got, err := parseRequire(value); err == nil {
			t.Errorf("%s: %v", value, got)
		}
	}
}

// FuzzRequire: what is accepted is masked, has no zone and is never IPv4 in
// IPv6's clothes.
func FuzzRequire(f *testing.F) {
	for _, s := range []string{"ip 10.1", "::ffff:1.2.3.4/100", "1.2.3.4/255.0.0.0", "all granted"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			return
		}
		list, err := parseRequire(s)
		if err != nil {
			return
		}
		for _, p := range list {
			if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() && p.Bits() >= 96 || p.Addr().Zone() != "" {
				t.Errorf("%q: %v", s, p)
			}
		}
	})
}
