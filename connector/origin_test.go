package connector

import "testing"

func TestSameOrigin(t *testing.T) {
	for _, tt := range []struct {
		site, origin, host string
		want               bool
	}{
		{"", "", "a.test", true},
		{"none", "", "a.test", true},
		{"same-origin", "http://a.test", "a.test", true},
		{"Same-Origin", "HTTP://A.test:80", "a.test", true},
		{"", "https://a.test", "a.test:443", true},
		{"", "http://a.test:8080", "a.test:8080", true},
		{"", "http://a.test", "a.test:8080", false},
		{"", "http://b.test", "a.test", false},
		{"", "null", "a.test", false},
		{"", "http://", "", false},
		{"cross-site", "", "a.test", false},
		{"same-site", "http://a.test", "a.test", false},
	} {
		if got := SameOrigin(tt.site, tt.origin, tt.host); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
