package httpback

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(ln) }()
	client := &http.Client{Transport: &http.Transport{}}
	for _, tt := range []struct {
		path, body   string
		status, size int
		length       int64
	}{
		{"/examples/servlets/servlet/HelloWorldExample", "", 200, HelloSize, HelloSize},
		{"/test/test.jsp", "", 200, PageSize, -1},
		{"/download?size=200000", "", 200, 200000, 200000},
		{"/download?size=0", "", 200, 0, 0},
		{"/upload", strings.Repeat("x", 100000), 200, len("body.length=100000\n"), 19},
		{"/slow?ms=1", "", 200, len("slept 1 ms\n"), 11},
		{"/none", "", 404, 4, 4},
	} {
		for range 2 { // the second one on the same connection
			method := "GET"
			if tt.body != "" {
				method = "POST"
			}
			q, _ := http.NewRequest(method, fmt.Sprintf("http://%s%s", ln.Addr(), tt.path), strings.NewReader(tt.body))
			r, err := client.Do(q)
			if err != nil {
				t.Fatalf("%s: %v", tt.path, err)
			}
			body, err := io.ReadAll(r.Body)
			r.Body.Close()
			if err != nil || r.StatusCode != tt.status || len(body) != tt.size || r.ContentLength != tt.length {
				t.Errorf("%s: %v, status %d, %d bytes, length %d", tt.path, err, r.StatusCode, len(body), r.ContentLength)
			}
		}
	}
	client.CloseIdleConnections()
	ln.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
