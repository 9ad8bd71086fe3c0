//go:build unix

package sock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// openFile makes a file with this text.
func openFile(t *testing.T, text []byte) *os.File {
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

// TestSendFile sends more than any socket buffer holds to a peer that begins to
// read late, from the middle of a file.
func TestSendFile(t *testing.T) {
	text := make([]byte, 9<<20)
	for i := range text {
		text[i] = byte(i) ^ byte(i>>9)
	}
	f := openFile(t, text)
	const from = 12345
	want := text[from : len(text)-678]
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		gotC := make(chan []byte)
		go func() {
			time.Sleep(2 * optimistic)
			got, _ := io.ReadAll(io.LimitReader(peer, int64(len(want))))
			gotC <- got
		}()
		n, err := c.SendFile(f, from, int64(len(want)))
		if got := <-gotC; err != nil || n != int64(len(want)) || !bytes.Equal(got, want) {
			t.Errorf("SendFile = %d, %v; want %d; the peer got %d bytes", n, err, len(want), len(got))
		}
	})
}

func TestSendFileFails(t *testing.T) {
	f := openFile(t, make([]byte, 1000))
	endless := openFile(t, nil)
	if err := os.Truncate(endless.Name(), 1<<32); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		if n, err := c.SendFile(dir, 0, 10); n != 0 || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("of a directory: %d, %v", n, err)
		}
		if n, err := c.SendFile(f, 900, 200); n != 100 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("beyond the end: %d, %v", n, err)
		}
		c.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := c.SendFile(endless, 0, 1<<32); n == 0 || n == 1<<32 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("to a peer that does not read: %d, %v", n, err)
		}
		peer.SetLinger(0)
		peer.Close()
		c.SetWriteDeadline(time.Time{})
		if _, err := c.SendFile(endless, 0, 1<<32); err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("to a peer that is gone: %v", err)
		}
	})
}
