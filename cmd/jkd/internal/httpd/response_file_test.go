package httpd

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"jkd/connector"
)

func fileOf(t *testing.T, text []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func withLength(n int) []connector.Field {
	return []connector.Field{{Name: []byte("Content-Length"), Value: strconv.AppendInt(nil, int64(n), 10)}}
}

// TestSendFile mixes parts of a file with other pieces, towards a client that
// takes them more slowly than TimeOut allows for all of it.
func TestSendFile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	text := make([]byte, 300000)
	for i := range text {
		text[i] = byte(rnd.Uint32())
	}
	f := fileOf(t, text)
	c := &grudging{rnd: rnd, patience: -1}
	w := newResponse(c)
	w.timeout = 1
	w.begin(false, false, true, false)
	want := append(append([]byte("before"), text[5:250005]...), text[250000:]...)
	err := errors.Join(w.Start(200, withLength(len(want))), w.Append([]byte("before")), w.SendFile(f, 5, 250000), w.SendFile(f, 5, 0), w.SendFile(f, 250000, 50000), w.Finish())
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(newReader(c.got), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, want) || w.out != int64(len(want)) || w.wire != int64(len(c.got)) {
		t.Errorf("%d of %d bytes, %d counted, %v", len(got), len(want), w.out, err)
	}
}

func TestSendFileRefused(t *testing.T) {
	f := fileOf(t, []byte("text"))
	var ce *connector.ClientError
	for _, tt := range []struct {
		name     string
		fields   []connector.Field
		head     bool
		patience int
		n        int64
		is       func(error) bool
		written  int64
	}{
		{"no length", nil, false, -1, 4, func(err error) bool { return errors.Is(err, errors.ErrUnsupported) }, 0},
		{"too much", withLength(3), false, -1, 4, func(err error) bool { return err == connector.ErrBodyLength }, 0},
		{"HEAD", withLength(4), true, -1, 4, func(err error) bool { return err == nil }, 0},
		{"all", withLength(4), false, -1, 4, func(err error) bool { return err == nil }, 4},
		{"client that stops", withLength(4), false, 1, 4, func(err error) bool { return errors.As(err, &ce) && ce.Status == 408 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &grudging{rnd: rand.New(rand.NewPCG(5, 6)), patience: tt.patience}
			w := newResponse(c)
			w.begin(tt.head, false, true, false)
			if err := w.Start(200, tt.fields); err != nil {
				t.Fatal(err)
			}
			if err := w.SendFile(f, 0, tt.n); !tt.is(err) || w.written != tt.written {
				t.Errorf("SendFile = %v, %d written", err, w.written)
			}
		})
	}
}
