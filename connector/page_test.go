package connector

import (
	"errors"
	"fmt"
	"testing"
)

// sheet takes a page and fails at the method of that name.
type sheet struct {
	got   string
	fails string
}

var errSheet = errors.New("no")

func (s *sheet) did(method, what string) error {
	s.got += what
	if s.fails == method {
		return errSheet
	}
	return nil
}
func (s *sheet) Start(status int, fields []Field) error {
	return s.did("Start", fmt.Sprintf("%d %s|", status, fields))
}
func (s *sheet) Append(p []byte) error { return s.did("Append", string(p)+"|") }
func (s *sheet) Finish() error         { return s.did("Finish", "end") }
func (s *sheet) Flush() error          { return nil }
func (s *sheet) Buffered() int         { return 0 }
func (s *sheet) Started() bool         { return s.got != "" }

func TestPage(t *testing.T) {
	p := Page{Status: 403, ContentType: "text/plain", Fields: []PageField{{Name: "X", Value: "y"}}, Body: []byte("no\n")}
	const head = "403 [{Content-Type text/plain} {Content-Length 3} {X y}]|"
	for _, tt := range []struct {
		head        bool
		fails, want string
	}{
		{false, "", head + "no\n|end"},
		{true, "", head + "end"},
		{false, "Start", head},
		{false, "Append", head + "no\n|"},
		{true, "Append", head + "end"},
		{false, "Finish", head + "no\n|end"},
	} {
		s := &sheet{fails: tt.fails}
		err := p.Write(s, tt.head)
		if failed := tt.fails != "" && !(tt.head && tt.fails == "Append"); s.got != tt.want || failed != (err == errSheet) || !failed && err != nil {
			t.Errorf("%+v: %q, %v", tt, s.got, err)
		}
	}
}

func TestFieldValues(t *testing.T) {
	fields := []Field{{[]byte("COOKIE"), []byte("a=1")}, {[]byte("Host"), []byte("x")}, {[]byte("cookie"), []byte("b=2")}}
	if got := fmt.Sprintf("%s", AppendValues([][]byte{[]byte("before")}, fields, "cookie")); got != "[before a=1 b=2]" {
		t.Error(got)
	}
	for name, want := range map[string]string{"cookie": "a=1, b=2", "host": "x", "origin": ""} {
		if got := Value(fields, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestClientStatus(t *testing.T) {
	for err, want := range map[error]int{
		errSheet:                         400,
		&ClientError{Op: "x"}:            400,
		&ClientError{Op: "x", Status: 8}: 8,
	} {
		if got := ClientStatus(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %d", err, got)
		}
	}
}
