package httpd

import (
	"io"
	"net"
	"strings"
	"testing"

	"jkd/connector"
)

// TestFrontAnswersAreLogged: what the front answers itself leaves one line
// that tells why, and nothing of the head but method and path.
func TestFrontAnswersAreLogged(t *testing.T) {
	for _, tt := range []struct{ name, request, answer, line string }{
		{"unmapped", "GET /unmapped?q=hush HTTP/1.1\r\nHost: x\r\nCookie: hush\r\nConnection: close\r\n\r\n",
			"HTTP/1.1 404 ", `"request":"GET /unmapped","status":404,"cause":"no mount matches","message":"request not mapped"`},
		{"empty Host", "GET / HTTP/1.1\r\nHost: \r\nCookie: hush\r\n\r\n",
			"HTTP/1.1 400 ", `"status":400,"reason":"empty Host header","message":"request refused"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, "blocking", defaults(), func(*connector.Request, connector.ResponseWriter) error {
				t.Error("the worker was asked")
				return nil
			})
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, tt.request); err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(b), tt.answer) {
				t.Errorf("got %q, %v", b, err)
			}
			log := s.log.String()
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, tt.line) || strings.Contains(log, "hush") {
				t.Errorf("logged %s", log)
			}
		})
	}
}
