package connector

import (
	"bytes"
	"errors"
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

func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"/", "*", "/a/../b", "/a;b/c", "/%2e%2e/", "//x/./y/", "/x%2Fy"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := CleanPath(nil, in)
		if err != nil || string(in) == "*" {
			return
		}
		if got[0] != '/' || bytes.Contains(got, []byte("//")) || bytes.Contains(got, []byte("/../")) || bytes.HasSuffix(got, []byte("/..")) {
			t.Errorf("CleanPath(%q) = %q", in, got)
		}
		if len(got) > len(in) {
			t.Errorf("CleanPath(%q) grew to %q", in, got)
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
