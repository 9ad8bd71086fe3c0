package conf

import (
	"reflect"
	"testing"
	"time"
)

func TestParseInt(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "10": 10, "-3": -3, "007": 7, "9223372036854775807": 1<<63 - 1} {
		if got, err := parseInt(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-", "10abc", "abc", "1 0", "0x10", "1_0", "+5", "1.5", "--1", "9223372036854775808", "٣"} {
		if got, err := parseInt(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "8190": 8190, "1k": 1024, "2M": 2 << 20, "1g": 1 << 30, "-1": -1} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "k", "1kb", "1t", "1 k", "1k1", "9223372036854775807k", "1.5m"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q: got %d, want an error", in, got)
		}
	}
}

func TestParseTime(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "5": 5 * time.Second, "250ms": 250 * time.Millisecond, "5S": 5 * time.Second,
		"2mi": 2 * time.Minute, "2min": 2 * time.Minute, "1h": time.Hour, "-1": -time.Second,
	} {
		if got, err := parseTime(in, time.Second); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "s", "5m", "5 s", "5x", "1.5s", "1h30", "99999999999999", "2147483648", "600000h"} {
		if got, err := parseTime(in, time.Second); err == nil {
			t.Errorf("%q: got %v, want an error", in, got)
		}
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		in   string
		want []string
		err  bool
	}{
		{in: ""},
		{in: "/a/* w", want: []string{"/a/*", "w"}},
		{in: "/a/*\t  w", want: []string{"/a/*", "w"}},
		{in: `"/a b/*" 'w;x=1, 2'`, want: []string{"/a b/*", "w;x=1, 2"}},
		{in: `"a\"b\\c\d" 'e"f'`, want: []string{`a"b\c\d`, `e"f`}},
		{in: `a"b c"`, want: []string{`a"b`, `c"`}},
		{in: `""`, want: []string{""}},
		{in: `"a`, err: true},
		{in: `"a"b`, err: true},
		{in: `"a\"`, err: true},
	}
	for _, tt := range tests {
		got, err := words(tt.in)
		if (err != nil) != tt.err || !tt.err && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestParseListen(t *testing.T) {
	tests := []struct {
		in   string
		want Listen
		err  string
	}{
		{in: "8080", want: Listen{"", 8080}},
		{in: "*:80", want: Listen{"", 80}},
		{in: "127.0.0.1:8080", want: Listen{"127.0.0.1", 8080}},
		{in: "[::1]:8080", want: Listen{"::1", 8080}},
		{in: "[0:0::1]:8080", want: Listen{"::1", 8080}},
		{in: "[fe80::1%em0]:80", want: Listen{"fe80::1%em0", 80}},
		{in: "Localhost:80 HTTP", want: Listen{"localhost", 80}},
		{in: "443", want: Listen{"", 443}},
		{in: "0", err: `"0" is not a port (1 to 65535)`},
		{in: "65536", err: `"65536" is not a port (1 to 65535)`},
		{in: "127.0.0.1", err: `"127.0.0.1" has no port`},
		{in: "127.0.0.1:", err: `"" is not a port (1 to 65535)`},
		{in: ":80", err: `":80" has no address before ':'; write the port alone for all addresses`},
		{in: "::1:80", err: "an IPv6 address needs brackets: [::1]"},
		{in: "[::1:80", err: `"[::1" is not an IPv6 address in brackets`},
		{in: "[127.0.0.1]:80", err: `"[127.0.0.1]" is not an IPv6 address in brackets`},
		{in: "[::1]", err: `"[::1]" has no port`},
		{in: "300.1.1.1:80", err: `"300.1.1.1" is neither a host name nor an address`},
		{in: "a b:80", err: `"a b:80" is neither [address:]port nor unix:path; only the protocol http may follow it`},
		{in: "8080 https", err: "protocol https is not supported"},
		{in: "8080 mode=0660", err: "mode=0660 is for Unix sockets only"},
	}
	for _, tt := range tests {
		got, err := parseListen(tt.in)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%s: got %+v, %q, want %+v, %q", tt.in, got, text, tt.want, tt.err)
		}
	}
	for _, l := range []Listen{{"", 80}, {"::1", 80}, {"127.0.0.1", 80}, {"localhost", 80}} {
		if got, err := parseListen(l.String()); err != nil || got != l {
			t.Errorf("%s: got %+v, %v", l, got, err)
		}
	}
}

func TestParseServerName(t *testing.T) {
	tests := []struct {
		in   string
		name string
		port int
		ok   bool
	}{
		{"www.example.test", "www.example.test", 0, true},
		{"WWW.example.test:8080", "www.example.test", 8080, true},
		{"[::1]:80", "::1", 80, true},
		{"[::1]", "::1", 0, true},
		{"192.0.2.1", "192.0.2.1", 0, true},
		{"http://www.example.test", "", 0, false},
		{"a_b.example", "a_b.example", 0, true},
		{"-a.example", "", 0, false},
		{"a..b", "", 0, false},
		{"a/b", "", 0, false},
		{"a:http", "", 0, false},
	}
	for _, tt := range tests {
		name, port, err := parseServerName(tt.in)
		if (err == nil) != tt.ok || name != tt.name && tt.ok || port != tt.port && tt.ok {
			t.Errorf("%s: got %q, %d, %v", tt.in, name, port, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"sticky_session", "sticky_session_force", "type", "host", "port", "route", "retries", "lb", "ajp13", "MaxRequestWorkers", "Listen"}
	for word, want := range map[string]string{
		"sticky_seesion": "sticky_session", "1b": "lb", "AJP13": "ajp13", "tpye": "type", "hosts": "host", "listen": "Listen",
		"MaxRequestsWorkers": "MaxRequestWorkers", "zzz": "", "": "", "x": "", "prot": "port", "ListenAddress": "Listen", "Liste": "Listen",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", []string{"cd", "ef"}); got != "" {
		t.Errorf("two letters exchanged for two others: got %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("%q, %q: got %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		`a"b\c`: `a"b\c`, "a\nb": `a\nb`, "caf\xe9": `caf\xe9`, "é": "é",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
