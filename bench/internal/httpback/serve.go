package httpback

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Serve answers connections from ln until it is closed.
func Serve(ln net.Listener) error {
	for {
		nc, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("httpback: %w", err)
		}
		go serve(nc)
	}
}

// serve ends with its connection, by the front's doing or with the process.
func serve(nc net.Conn) {
	defer nc.Close()
	in := bufio.NewReaderSize(nc, 16<<10)
	for {
		h, err := readHead(in)
		if err != nil {
			return
		}
		if whole := static[h.path]; whole != nil {
			_, err = nc.Write(whole)
		} else {
			err = h.dynamic(nc, in)
		}
		if err != nil || h.close {
			return
		}
	}
}

// head is what is used of a request's head.
type head struct {
	path, query string
	length      int64 // of the body
	close       bool
}

var errHead = errors.New("httpback: not a request for this server")

// readHead reads a request's head. Fields that do not concern it are not looked
// at: the front is trusted.
func readHead(in *bufio.Reader) (h head, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return h, err
	}
	_, rest, _ := strings.Cut(string(line), " ")
	target, version, ok := strings.Cut(rest, " ")
	if !ok {
		return h, errHead
	}
	h.path, h.query, _ = strings.Cut(target, "?")
	h.close = strings.HasPrefix(version, "HTTP/1.0")
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		if len(line) <= 2 {
			return h, nil
		}
		switch line[0] | 0x20 {
		case 'c', 't':
		default:
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			if h.length, err = strconv.ParseInt(value, 10, 64); err != nil {
				return h, errHead
			}
		case "connection":
			h.close = strings.EqualFold(value, "close")
		case "transfer-encoding":
			return h, errHead // the harness sends none, and no front makes one
		}
	}
}

// dynamic answers what is not made beforehand.
func (h head) dynamic(out io.Writer, in io.Reader) error {
	q, _ := url.ParseQuery(h.query)
	n, _ := strconv.ParseInt(q.Get("size")+q.Get("ms"), 10, 64)
	if _, err := io.CopyN(io.Discard, in, h.length); err != nil {
		return err
	}
	switch h.path {
	case "/download":
		if _, err := fmt.Fprintf(out, "HTTP/1.1 200 \r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", n); err != nil {
			return err
		}
		for piece := make([]byte, 64<<10); n > 0; n -= int64(len(piece)) {
			piece = piece[:min(int64(len(piece)), n)]
			if _, err := out.Write(piece); err != nil {
				return err
			}
		}
		return nil
	case "/upload":
		return text(out, 200, fmt.Sprintf("body.length=%d\n", h.length))
	case "/slow":
		time.Sleep(time.Duration(n) * time.Millisecond)
		return text(out, 200, fmt.Sprintf("slept %d ms\n", n))
	}
	return text(out, 404, "404\n")
}

func text(out io.Writer, status int, body string) error {
	_, err := fmt.Fprintf(out, "HTTP/1.1 %d \r\nContent-Type: text/plain;charset=UTF-8\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	return err
}

// static are the answers that are made once.
var static = map[string][]byte{
	"/examples/servlets/servlet/HelloWorldExample": []byte("HTTP/1.1 200 \r\nX-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\n" +
		"Content-Type: text/html;charset=UTF-8\r\nContent-Length: " + strconv.Itoa(HelloSize) + "\r\nDate: " + started + "\r\n\r\n" + strings.Repeat("h", HelloSize)),
	"/test/test.jsp": chunked(PageSize),
}

// Sizes of the pages in bytes, those of the demonstration container.
const (
	HelloSize = 387
	PageSize  = 113_588
)

var started = time.Now().UTC().Format(http.TimeFormat)

// chunked is a page without a length, as Tomcat sends one that does not fit its
// buffer of 8 KB.
func chunked(size int) []byte {
	b := []byte("HTTP/1.1 200 \r\nContent-Type: text/html;charset=UTF-8\r\nTransfer-Encoding: chunked\r\nDate: " + started + "\r\n\r\n")
	for size > 0 {
		n := min(size, 8192)
		b = fmt.Appendf(b, "%x\r\n%s\r\n", n, strings.Repeat("p", n))
		size -= n
	}
	return append(b, "0\r\n\r\n"...)
}
