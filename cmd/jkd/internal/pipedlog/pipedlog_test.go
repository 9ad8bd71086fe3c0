//go:build unix

package pipedlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the log program: "copy FILE" appends what it reads, "line
// FILE" one line and ends, "hang" reads nothing.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Getenv("PIPEDLOG_TEST") == "" {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "hang":
		time.Sleep(time.Hour)
	case "copy", "line":
		f, err := os.OpenFile(os.Args[2], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			os.Exit(2)
		}
		if os.Args[1] == "copy" {
			_, err = io.Copy(f, os.Stdin)
			break
		}
		var line []byte
		for b := []byte{0}; b[0] != '\n'; line = append(line, b[0]) {
			if _, err := os.Stdin.Read(b); err != nil {
				os.Exit(3)
			}
		}
		_, _ = f.Write(line)
	}
	os.Exit(0)
}

func run(t *testing.T, tell func(string), args ...string) *Program {
	t.Helper()
	t.Setenv("PIPEDLOG_TEST", "1")
	p, err := Start(Options{Command: append([]string{os.Args[0]}, args...), Tell: tell, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// Everything that was written is read before Close returns, from several
// writers without mixing.
func TestCopy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	p := run(t, nil, "copy", file)
	fd, err := syscall.Dup(int(p.Fd())) // as a child has it
	if err != nil {
		t.Fatal(err)
	}
	child, err := NewWriter(fd, Lost{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	const lines = 2000
	for i, w := range []io.Writer{p, child} {
		for j := range 2 {
			all.Go(func() {
				for k := range lines {
					if _, err := fmt.Fprintf(w, "%d %d %d %s\n", i, j, k, strings.Repeat("x", k%300)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	_ = child.Close()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	next := map[string]int{}
	s := bufio.NewScanner(strings.NewReader(read(t, file)))
	for n := 0; s.Scan() || n < 4*lines; n++ {
		var i, j, k int
		var rest string
		if _, err := fmt.Sscan(s.Text(), &i, &j, &k, &rest); (err != nil && k%300 != 0) || len(rest) != k%300 {
			t.Fatalf("line %d: %q", n, s.Text())
		}
		if who := fmt.Sprint(i, j); next[who] != k {
			t.Fatalf("line %d of %s is %d", next[who], who, k)
		} else {
			next[who]++
		}
	}
}

// A program that ends is started again, and the lines wait for it.
func TestRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	toldC := make(chan string, 10)
	p := run(t, func(text string) { toldC <- text }, "line", file)
	for _, line := range []string{"one\n", "two\n"} {
		if _, err := io.WriteString(p, line); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if text := <-toldC; !strings.Contains(text, "has ended (exit status 0)") {
			t.Error(text)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := read(t, file); got != "one\ntwo\n" {
		t.Errorf("got %q", got)
	}
}

// Nobody waits for ever for a program that doesn't read, and neither does the
// end.
func TestHang(t *testing.T) {
	p := run(t, nil, "hang")
	p.patience = 50 * time.Millisecond
	line := []byte(strings.Repeat("x", 3000) + "\n")
	var err error
	n := 0
	for ; err == nil; n++ {
		_, err = p.Write(line)
	}
	if !errors.Is(err, ErrFull) || n < 2 {
		t.Fatalf("%d lines, then %v", n, err)
	}
	p.patience = time.Hour // a second wait would be one for ever
	for i := range 100 {
		if _, err := p.Write([]byte(strings.Repeat("y", 4000+i))); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A line that was given up in its midst does not spoil the next one, and once
// there is room everybody waits for it again.
func TestTorn(t *testing.T) {
	r, fd, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	w := &Writer{fd: fd, patience: 10 * time.Millisecond}
	if n, err := w.Write(make([]byte, 1<<20)); n == 0 || !errors.Is(err, ErrFull) {
		t.Fatal(n, err)
	}
	if n, err := w.Write([]byte("lost\n")); n != 0 || !errors.Is(err, ErrFull) {
		t.Fatal(n, err)
	}
	if _, err := io.ReadAtLeast(r, make([]byte, 1<<20), 1<<15); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write([]byte("next\n")); n != 5 || err != nil || w.stuck || w.torn {
		t.Fatal(n, err)
	}
	_ = w.Close()
	b, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(b), "\nnext\n") {
		t.Errorf("%q, %v", b[max(len(b)-20, 0):], err)
	}
}

// What is lost is told once, with the rest when that was long ago; of a log that
// tells of itself, when there is room.
func TestLost(t *testing.T) {
	for _, tt := range []struct {
		afterwards bool
		first      []uint64 // after three lost lines
		room       []uint64 // after one that was written
		later      []uint64 // after the next write, much later
	}{
		{false, []uint64{1}, []uint64{1}, []uint64{1, 2}},
		{true, nil, []uint64{3}, []uint64{3}},
	} {
		r, fd, err := pipe()
		if err != nil {
			t.Fatal(err)
		}
		var told []uint64
		w := &Writer{fd: fd, patience: time.Millisecond, lost: Lost{Afterwards: tt.afterwards, Tell: func(n uint64) { told = append(told, n) }}}
		line := make([]byte, 512)
		full := func() { // loses one line
			for err = nil; err == nil; {
				_, err = w.Write(line)
			}
		}
		check := func(when string, want []uint64) {
			if !slices.Equal(told, want) {
				t.Errorf("afterwards %t, %s: told %v, want %v", tt.afterwards, when, told, want)
			}
		}
		full()
		full()
		full()
		check("full", tt.first)
		if _, err := r.Read(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
		check("room", tt.room)
		w.told = w.told.Add(-reportEvery)
		full()
		check("later", tt.later)
		_ = w.Close()
		_ = r.Close()
	}
}

// A relay passes whole lines on until the last one who writes has gone, and does
// not wait for him for ever.
func TestRelay(t *testing.T) {
	var out bytes.Buffer
	relay, w, err := NewRelay(&out)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1<<15)
	if _, err := io.WriteString(w, "one\n"+long+"\nlast"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := relay.Close(); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != "one\n"+long+"\nlast" {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
	relay, w, err = NewRelay(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := relay.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoProgram(t *testing.T) {
	if p, err := Start(Options{Command: []string{"/nonexistent/program"}}); err == nil {
		t.Error("started")
		_ = p.Close()
	}
}
