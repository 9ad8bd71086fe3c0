package forwarduri

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector"
)

const (
	proxy    = conf.ForwardURIProxy
	unparsed = conf.ForwardURICompatUnparsed
	compat   = conf.ForwardURICompat
	escaped  = conf.ForwardURIEscaped
)

// F011 and the options of JkOptions: exact bytes. "400" is a refusal.
func TestForwardPath(t *testing.T) {
	tests := []struct{ raw, proxy, compat, escaped string }{
		{"/", "/", "/", "/"},
		{"*", "*", "*", "*"},
		{"/a/b.jsp", "/a/b.jsp", "/a/b.jsp", "/a/b.jsp"},
		{"/a/b/", "/a/b/", "/a/b/", "/a/b/"},
		{"/a%20b", "/a%20b", "/a b", "/a%20b"},
		{"/a+b", "/a+b", "/a+b", "/a+b"},
		{"/a%2Bb", "/a+b", "/a+b", "/a+b"},
		{"/%C3%A1", "/%C3%A1", "/\xc3\xa1", "/%c3%a1"},
		{"/\xc3\xa1", "/%C3%A1", "/\xc3\xa1", "/%c3%a1"},
		{"/x%2Fy", "/x%2Fy", "/x%2Fy", "/x%2Fy"},
		{"/x%2fy", "/x%2fy", "/x%2fy", "/x%2fy"},
		{"/x%252Fy", "/x%252Fy", "400", "/x%252Fy"},
		{"/100%25", "/100%25", "400", "/100%25"},
		{"/%2541", "/%2541", "400", "/%2541"},
		{"/a;jsessionid=1.n1", "/a;jsessionid=1.n1", "/a;jsessionid=1.n1", "400"},
		{"/a;x=%20/b", "/a;x=%20/b", "/a;x= /b", "400"},
		{"/a%3Bb", "/a%3Bb", "400", "/a%3bb"},
		{"/a%3Fb", "/a%3Fb", "400", "/a%3fb"},
		{"/a%23b", "/a%23b", "400", "/a%23b"},
		{"/a%0Ab", "/a%0Ab", "400", "/a%0ab"},
		{"/a%5Cb", "/a%5Cb", "/a\\b", "/a%5cb"},
		{"/a\"<>^`{|}b", "/a%22%3C%3E%5E%60%7B%7C%7Db", "/a\"<>^`{|}b", "/a%22%3c%3e%5e%60%7b%7c%7db"},
		{"/~$-_.+!*'(),:@&=", "/~$-_.+!*'(),:@&=", "/~$-_.+!*'(),:@&=", "/~$-_.+!*'(),:@&="},
		{"/%7Euser/%61", "/~user/a", "/~user/a", "/~user/a"},
		{"//a///b", "/a/b", "/a/b", "/a/b"},
		{"/a/./b/.", "/a/b/", "/a/b/", "/a/b/"},
		{"/a/../b", "/b", "/b", "/b"},
		{"/a/%2e%2E/b", "/b", "/b", "/b"},
		{"/a/..", "/", "/", "/"},
		{"/a/b/..", "/a/", "/a/", "/a/"},
		{"/a/.../b", "/a/.../b", "/a/.../b", "/a/.../b"},
		// Apache and containers disagree on what a parameter does to dots.
		{"/a/..;x/b", "/a/..;x/b", "/a/..;x/b", "400"},
		{"/q/a/..;x/../b", "400", "400", "400"},
		{"/a/;x/../b", "400", "400", "400"},
		{"/a/b;x/../c", "/a/c", "/a/c", "/a/c"},
		{"/a/;x/b", "/a/;x/b", "/a/;x/b", "400"},
		// So do containers on whether a slash is left where a path ends in dots.
		{"/a/.;x", "/a/.;x/", "/a/.;x/", "400"},
		{"/a/b/%2E.;x", "/a/b/..;x/", "/a/b/..;x/", "400"},
		{"/a/b;x/.", "/a/b;x/", "/a/b;x/", "400"},
		{"/a/%2e", "/a/", "/a/", "/a/"},
		{"/a/b/%2e./", "/a/", "/a/", "/a/"},
		{"/a/...", "/a/...", "/a/...", "/a/..."},
		{"/a/.b", "/a/.b", "/a/.b", "/a/.b"},
	}
	closed := map[string]bool{"/a/./b/.": true, "/a/..": true, "/a/b/..": true, "/a/.;x": true, "/a/b/%2E.;x": true, "/a/b;x/.": true, "/a/%2e": true}
	for _, tt := range tests {
		untouched := tt.raw
		if closed[tt.raw] {
			untouched += "/"
		}
		for form, want := range map[conf.ForwardURI]string{proxy: tt.proxy, compat: tt.compat, escaped: tt.escaped, unparsed: untouched} {
			got, err := Append([]byte("x"), []byte(tt.raw), form)
			if want == "400" {
				if !errors.Is(err, ErrForm) || string(got) != "x" {
					t.Errorf("%s of %s: %q, %v", form, tt.raw, got, err)
				}
				continue
			}
			if err != nil || string(got) != "x"+want {
				t.Errorf("%s of %s: %q, %v, want %q", form, tt.raw, got, err, want)
			}
		}
	}
	for raw, want := range map[string]error{"/%": connector.ErrEscape, "/%G1": connector.ErrEscape, "/..": connector.ErrAboveRoot,
		"/a/../../b": connector.ErrAboveRoot, "": connector.ErrNotRooted, "a": connector.ErrNotRooted} {
		if _, err := Append(nil, []byte(raw), proxy); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", raw, err, want)
		}
	}
}

// What is sent is what was matched, in every form.
func FuzzForwardPath(f *testing.F) {
	for _, s := range []string{"/a%20b", "/a;x=1/../b", "/a/..;x/../b", "/%252e%252e/x", "/%2e%2e;/a", "/a%2F..%2Fb", "/a%3b/..%3b/x", "//x/./", "/\xff%FF", "/a\\..\\b", "/%5c../x", "/a/.;x", "/a/b/%2e."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		clean, err := connector.CleanPath(nil, raw)
		if err != nil {
			return
		}
		for _, form := range []conf.ForwardURI{proxy, compat, escaped, unparsed} {
			got, err := Append(nil, raw, form)
			if err != nil {
				continue
			}
			again, err := connector.CleanPath(nil, got)
			if err != nil || !bytes.Equal(again, clean) {
				t.Errorf("%s of %q is %q: %q, %v, was matched as %q", form, raw, got, again, err, clean)
			}
			if !bytes.Equal(got, []byte("*")) && !bytes.HasPrefix(got, []byte("/")) {
				t.Errorf("%s of %q is %q", form, raw, got)
			}
			if Open(got) {
				t.Errorf("%s of %q is %q, which ends in dots", form, raw, got)
			}
			if form == proxy || form == escaped {
				plain := plainProxy
				if form == escaped {
					plain = plainEscaped
				}
				for _, c := range got {
					if !strings.ContainsRune("/%", rune(c)) && (c >= 0x80 || appendByte(nil, c, plain, "0123456789ABCDEF")[0] == '%') {
						t.Errorf("%s of %q is %q: %q is not escaped", form, raw, got, c)
					}
				}
			}
		}
	})
}

func TestForwardPathAllocatesNothing(t *testing.T) {
	raw, buf := []byte("/app/a%20b/../c;jsessionid=0123456789.n1"), make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() { Append(buf, raw, proxy) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
