//go:build unix

package httpd

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/scoreboard"
)

// feed is a connection on which data arrives, step bytes at a time, and then
// nothing more.
type feed struct {
	loop
	data []byte
	step int
	out  bytes.Buffer
}

func (f *feed) Read(p []byte) (int, error) {
	if len(f.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.data[:min(f.step, len(f.data))])
	f.data = f.data[n:]
	return n, nil
}

func (f *feed) Write(p []byte) (int, error) { return f.out.Write(p) }
func (f *feed) WriteBuffers(v [][]byte) (n int64, _ error) {
	for _, b := range v {
		k, _ := f.out.Write(b)
		n += int64(k)
	}
	return n, nil
}

// accepted is a request that the worker has seen, and its body.
type accepted struct {
	seen
	body string
	err  error
}

// FuzzRequest puts any bytes on a connection. The front must not fail, each of
// its answers must be one for net/http too, and what it lets through must be
// what net/http reads there: the same requests with the same bodies.
func FuzzRequest(f *testing.F) {
	for _, tc := range headCases {
		if len(tc.raw) < 2000 {
			f.Add([]byte(tc.raw+"GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"), uint16(len(tc.name)))
		}
	}
	for _, body := range []string{
		"5\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0;c\r\nX: y\r\n\r\n", "5 \r\nhello\r\n00\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
		"0\r\nA: b\nC: d\r\n\r\n", "0\r\n\n", "0\r\nA: b\r\n c\r\n\r\n", "7fffffffffffffff\r\nx", "1\r\na\r\n1\r\nb\r\n0\r\n\r\n",
	} {
		for _, step := range []uint16{1, 9000} {
			f.Add([]byte("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+body+"GET /2 HTTP/1.1\r\nHost: x\r\n\r\n"), step)
		}
	}
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloHEAD /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), uint16(3))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello"), uint16(3))

	l := scoreboard.Layout{ServerLimit: 1, ThreadLimit: 1}
	size, err := scoreboard.Size(l)
	if err != nil {
		f.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, size), l, scoreboard.Global{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint16) {
		var got []accepted
		worker := &fakeWorker{}
		worker.serve = func(r *connector.Request, w connector.ResponseWriter) error {
			b, err := io.ReadAll(r.Body)
			got = append(got, accepted{see(r), string(b), err})
			if err != nil {
				return serviceError(err)
			}
			return reply(w, 200, string(b))
		}
		o := defaults()
		o.Log = zerolog.Nop()
		o.Connectors = []connector.Connector{fakeConnector{worker}}
		c := &feed{data: data, step: int(step) + 1}
		New(o).ServeConn(c, &scoreboard.Seat{Slot: board.Slot(0, 0)})

		reqs := newSizedReader(data)
		answers := newSizedReader(c.out.Bytes())
		for i := 0; ; {
			if _, err := answers.Peek(1); err == io.EOF {
				break
			}
			for range maxBlankLines { // which net/http does not skip
				if b, _ := reqs.Peek(2); string(b) == "\r\n" {
					_, _ = reqs.Discard(2)
				}
			}
			req, reqErr := http.ReadRequest(reqs)
			method := "GET"
			if i < len(got) {
				method = got[i].Method
			} else if req != nil {
				method = req.Method
			}
			res, err := http.ReadResponse(answers, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("answer %d to %q: %v in %q", i, data, err, c.out.String())
			}
			if res.StatusCode == 100 {
				if res, err = http.ReadResponse(answers, &http.Request{Method: method}); err != nil {
					t.Fatalf("answer %d behind 100: %v", i, err)
				}
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatalf("answer %d to %q: %v in %q", i, data, err, c.out.String())
			}
			if req != nil && req.Method == "OPTIONS" && req.RequestURI == "*" && res.StatusCode == 200 {
				if _, err := io.Copy(io.Discard, req.Body); err != nil || res.Close {
					break
				}
				continue
			}
			if res.StatusCode == 404 && i >= len(got) {
				if res.Close {
					break
				}
				continue // /unmapped
			}
			if i >= len(got) { // refused: the end
				if _, err := answers.Peek(1); err != io.EOF || !res.Close {
					t.Fatalf("more behind a refusal of %q: %q", data, c.out.String())
				}
				break
			}
			a := got[i]
			i++
			if reqErr != nil {
				t.Fatalf("net/http refuses (%v) what was let through: %+v of %q", reqErr, a, data)
			}
			if req.Method != a.Method || target(req.RequestURI) != target(a.Path+map[bool]string{true: "?"}[a.HasQuery]+a.Query) {
				t.Fatalf("net/http reads %s %s, the worker saw %+v of %q", req.Method, req.RequestURI, a, data)
			}
			theirs, theirErr := io.ReadAll(req.Body)
			if a.err != nil {
				var ce *connector.ClientError
				if !errors.As(a.err, &ce) || !res.Close {
					t.Fatalf("body error %v, close %v", a.err, res.Close)
				}
				break
			}
			if theirErr != nil && !knownToBeStricter(theirErr) {
				t.Fatalf("net/http refuses (%v) the body %q of %q", theirErr, a.body, data)
			}
			if theirErr == nil && string(theirs) != a.body {
				t.Fatalf("net/http reads the body %q, the worker %q of %q", theirs, a.body, data)
			}
			if method != "HEAD" && string(body) != a.body {
				t.Fatalf("the client got %q, the worker gave %q", body, a.body)
			}
			if theirErr != nil || res.Close {
				break
			}
		}
		if n := len(got); n > 0 && strings.Contains(c.out.String(), "\x00") && !bytes.Contains(data, []byte{0}) {
			t.Fatalf("NUL out of nowhere: %q", c.out.String())
		}
	})
}

// knownToBeStricter are limits of net/http's chunk reader that are not ours.
func knownToBeStricter(err error) bool {
	return strings.Contains(err.Error(), "line too long") || strings.Contains(err.Error(), "too much non-data")
}

// target is the path and query of a request target.
func target(t string) string {
	if !strings.HasPrefix(t, "/") {
		if _, rest, ok := strings.Cut(t, "://"); ok {
			i := strings.IndexAny(rest, "/?#")
			if i < 0 {
				return "/"
			}
			if t = rest[i:]; t[0] != '/' {
				t = "/" + t
			}
		}
	}
	t, _, _ = strings.Cut(t, "#")
	return t
}
