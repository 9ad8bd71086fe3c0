package connector

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestCleanPath(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		err      error
	}{
		{"/", "/", nil},
		{"*", "*", nil},
		{"/a/b", "/a/b", nil},
		{"/a/b/", "/a/b/", nil},
		{"/a%20b", "/a b", nil},
		{"/%C3%A1", "/\xc3\xa1", nil},
		{"/x%2Fy", "/x%2Fy", nil},
		{"/x%2fy/../z", "/z", nil},
		{"/100%25", "/100%", nil},
		{"/100%2525", "/100%25", nil}, // decoded once
		{"/x;y/../private/", "/private/", nil},
		{"//private/a", "/private/a", nil},
		{"/private;z/a", "/private/a", nil},
		{"/%70rivate/a", "/private/a", nil},
		{"/a/./b/.", "/a/b/", nil},
		{"/a/b/..", "/a/", nil},
		{"/a/%2e%2e/b", "/b", nil},
		{"/a/.%2E/b", "/b", nil},
		{"/a/..;x=1/b", "/b", nil},
		{"/a/;x/b", "/a/b", nil},
		{"/a;x", "/a", nil},
		{"/a%3Bx/y", "/a;x/y", nil}, // an escaped semicolon is data
		{"/.../a", "/.../a", nil},
		{"/a\\..\\b", "/a\\..\\b", nil},
		{"////", "/", nil},
		{"/..", "", ErrAboveRoot},
		{"/a/../../b", "", ErrAboveRoot},
		{"/%2e%2e/", "", ErrAboveRoot},
		{"/./..", "", ErrAboveRoot},
		{"/%", "", ErrEscape},
		{"/%G1", "", ErrEscape},
		{"/a;%zz/b", "", ErrEscape},
		{"/%00", "", ErrNUL},
		{"/a;%00", "", ErrNUL},
		{"a", "", ErrNotRooted},
		{"", "", ErrNotRooted},
		{"/a\x00", "", ErrNUL},
		{"/a;\x00", "", ErrNUL},
	} {
		got, err := CleanPath([]byte("kept"), []byte(tt.in))
		if !errors.Is(err, tt.err) {
			t.Errorf("CleanPath(%q) error = %v, want %v", tt.in, err, tt.err)
		}
		if err == nil && string(got) != "kept"+tt.want {
			t.Errorf("CleanPath(%q) = %q, want %q", tt.in, got, "kept"+tt.want)
		}
	}
}

// FuzzCleanPath: a clean path has none of what was to be cleaned, and is clean.
func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"/", "*", "/a/b", "//a/./b/../c", "/a;x/b;y", "/%41%2F%2f%25%3b", "/..", "/a/..;/..", "/%2e%2e", "/a%", "/%00", "/;", "/.;x", "/\xff", "/..."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, path []byte) {
		before := bytes.Clone(path)
		got, err := CleanPath([]byte("dst"), path)
		if !bytes.Equal(path, before) {
			t.Fatal("the path was changed")
		}
		rest, kept := bytes.CutPrefix(got, []byte("dst"))
		if !kept {
			t.Fatalf("%q: dst is gone: %q", path, got)
		}
		if err != nil || string(path) == "*" {
			return
		}
		s := string(rest)
		if !strings.HasPrefix(s, "/") || len(s) > len(path) {
			t.Fatalf("%q: %q", path, s)
		}
		for _, never := range []string{"//", "/./", "/../", "\x00"} {
			if strings.Contains(s+"/", never) && !(never == "//" && strings.HasSuffix(s, "/") && !strings.Contains(s, "//")) {
				t.Errorf("%q: %q contains %q", path, s, never)
			}
		}
		// A path that holds nothing to clean stays as it is.
		if !strings.ContainsAny(s, "%;") {
			if again, err := CleanPath(nil, rest); err != nil || !bytes.Equal(again, rest) {
				t.Errorf("%q: %q is not clean: %q, %v", path, s, again, err)
			}
		}
		// Escaping a path once more and decoding it gives the path.
		var b []byte
		for i := 0; i < len(rest); i++ {
			if c := rest[i]; c == '/' {
				b = append(b, c)
			} else if c == '%' && i+2 < len(rest) && rest[i+1] == '2' && rest[i+2]|0x20 == 'f' {
				b = append(b, rest[i:i+3]...) // of a slash, or as good as one
				i += 2
			} else {
				b = append(b, '%', "0123456789abcdef"[c>>4], "0123456789ABCDEF"[c&15])
			}
		}
		if again, err := CleanPath(nil, b); err != nil || !bytes.Equal(again, rest) {
			t.Errorf("%q: %q escaped is %q: %q, %v", path, s, b, again, err)
		}
	})
}

func BenchmarkCleanPath(b *testing.B) {
	path := []byte("/examples/servlets/servlet/HelloWorldExample")
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = CleanPath(buf[:0], path)
	}
}
