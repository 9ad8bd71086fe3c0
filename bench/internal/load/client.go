package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Client is the package's own load. It begins Requests requests, on as many
// connections at once.
type Client struct {
	URL         string
	Connections int
	Requests    int
	KeepAlive   bool
	// Rate of requests per second that are begun whatever the answers do; the
	// time of each counts from when it was to begin. 0 begins one when a
	// connection is free.
	Rate float64
	// Upload is the size of a body that each request has; 0 is none.
	Upload int64
	// Timeout of each request; 0 is 30 s.
	Timeout time.Duration
}

// Run returns the records of all requests, in the order they were begun, and
// how long it took.
func (c Client) Run() ([]Record, time.Duration, error) {
	head, address, err := c.head()
	if err != nil {
		return nil, 0, err
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	records := make([]Record, c.Requests)
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range c.Connections {
		wg.Go(func() {
			l := line{client: &c, head: head, address: address}
			defer l.close()
			for {
				i := int(next.Add(1)) - 1
				if i >= c.Requests {
					return
				}
				start := time.Since(begin)
				if c.Rate > 0 {
					due := time.Duration(float64(i) / c.Rate * float64(time.Second))
					time.Sleep(due - start)
					start = due
				}
				err := l.exchange()
				records[i] = Record{Start: start, Took: time.Since(begin) - start, OK: err == nil}
			}
		})
	}
	wg.Wait()
	return records, time.Since(begin), nil
}

// head is that of all requests.
func (c Client) head() (head []byte, address string, err error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, "", fmt.Errorf("load: %w", err)
	}
	method, more := "GET", ""
	if c.Upload > 0 {
		method, more = "POST", fmt.Sprintf("Content-Type: application/octet-stream\r\nContent-Length: %d\r\n", c.Upload)
	}
	if !c.KeepAlive {
		more += "Connection: close\r\n"
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, u.RequestURI(), u.Host, more), u.Host, nil
}

// line is one connection at a time.
type line struct {
	client  *Client
	head    []byte
	address string
	nc      net.Conn
	in      *bufio.Reader
}

func (l *line) close() {
	if l.nc != nil {
		l.nc.Close()
		l.nc = nil
	}
}

var errStatus = errors.New("load: status")

// exchange is one request, with a connect if there is no connection.
func (l *line) exchange() (err error) {
	keep := false
	defer func() {
		if !keep {
			l.close()
		}
	}()
	deadline := time.Now().Add(l.client.Timeout)
	if l.nc == nil {
		if l.nc, err = net.DialTimeout("tcp", l.address, l.client.Timeout); err != nil {
			return err
		}
		l.in = bufio.NewReaderSize(l.nc, 64<<10)
	}
	l.nc.SetDeadline(deadline)
	if _, err := l.nc.Write(l.head); err != nil {
		return err
	}
	if l.client.Upload > 0 {
		if _, err := io.CopyN(l.nc, zeros{}, l.client.Upload); err != nil {
			return err
		}
	}
	r, err := http.ReadResponse(l.in, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return err
	}
	keep = l.client.KeepAlive && !r.Close
	if r.StatusCode >= 400 {
		return fmt.Errorf("%w %d", errStatus, r.StatusCode)
	}
	return nil
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
