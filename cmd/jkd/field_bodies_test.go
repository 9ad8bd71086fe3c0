//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"jkd/connector/ajp/ajptest"
)

// fieldBodies are about bodies of requests.
var fieldBodies = []fieldCase{{
	// The first part of a body of known length is not asked for, every other
	// one is, and each question has one answer.
	name: "F003",
	script: func(f *field, e *ajptest.Exchange) {
		_, _ = e.ReadBody()
		for range 3 {
			_, _ = e.GetBody(8186)
		}
		packets, _ := e.Packets()
		f.report("%s", bytes.Join(packets[1:], nil))
		_ = e.Respond(200, "")
	},
	test: func(f *field) {
		for i, n := range []int{5, 8186, 8187, 20000} {
			body := []byte(strings.Repeat("0123456789", 2000)[:n])
			f.raw(fmt.Sprintf("POST /F003/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", n, body)).want(f.t, 200)
			var want []byte
			for range 4 {
				k := min(len(body), 8186)
				if k == 0 {
					want = append(want, 0x12, 0x34, 0, 0)
					continue
				}
				want = append(want, 0x12, 0x34, byte((k+2)>>8), byte(k+2), byte(k>>8), byte(k))
				want, body = append(want, body[:k]...), body[k:]
			}
			if got := f.reports(i + 1)[i]; got != string(want) {
				f.t.Errorf("%d bytes: %d bytes on the wire, want %d", n, len(got), len(want))
			}
		}
	},
}, {
	// A request without a body says so, once.
	name: "F005",
	script: func(f *field, e *ajptest.Exchange) {
		_, err := e.GetBody(8186)
		packets, _ := e.Packets()
		f.report("%v % x", err, packets[1])
		_ = e.Respond(200, "")
	},
	test: func(f *field) {
		for i, head := range []string{"GET /F005/" + http11, "GET /F005/" + http11 + "\r\nContent-Length: 0", "POST /F005/" + http11 + "\r\ncontent-length: 00", "GET /F005/ HTTP/1.0"} {
			f.ask(200, head)
			r := f.requests(i + 1)[i]
			var lengths []string
			for _, h := range r.Headers {
				if h.Code == 0xA008 || strings.EqualFold(h.Name, "content-length") {
					lengths = append(lengths, fmt.Sprintf("%04X %s", h.Code, h.Value))
				}
			}
			same(f.t, head, strings.Join(lengths, ", "), "A008 0")
			same(f.t, head, f.reports(i + 1)[i], io.EOF.Error()+" 12 34 00 00")
		}
	},
}, {
	// Two framings, or one in doubt, are refused.
	name: "F006",
	test: func(f *field) {
		for _, tc := range []struct {
			status int
			fields string
		}{
			{400, "Content-Length: 5\r\nTransfer-Encoding: chunked"},
			{400, "Transfer-Encoding: chunked\r\nContent-Length: 5"},
			{400, "Content-Length: 5\r\nContent-Length: 6"},
			{400, "Content-Length: 5, 6"},
			{400, "Content-Length: +5"},
			{400, "Content-Length: 5 5"},
			{400, "Content-Length: 0x5"},
			{400, "Content-Length: -1"},
			{400, "Transfer-Encoding: xchunked\r\nContent-Length: 5"},
			{501, "Transfer-Encoding: xchunked"},
			{501, "Transfer-Encoding: gzip, chunked"},
			{501, "Transfer-Encoding: identity"},
			{400, "Transfer-Encoding : chunked"},
			{400, "Content-Length\t: 5"},
		} {
			c := f.raw("POST /F006/" + http11 + "\r\n" + tc.fields + "\r\n\r\n0\r\n\r\nGET /F006/stolen" + http11 + "\r\n\r\n")
			if r := c.reply(f.t, "POST"); r.StatusCode != tc.status || !r.Close {
				f.t.Errorf("%q: %d, close %v; want %d", tc.fields, r.StatusCode, r.Close, tc.status)
			}
			if more := c.ended(); more != "" {
				f.t.Errorf("%q: then %q", tc.fields, more)
			}
		}
		if packets, _ := f.back.Packets(); len(packets) > 0 || f.back.Accepted() > 0 {
			f.t.Errorf("%d packets reached the container", len(packets))
		}
	},
}, {
	// An upload that is cut does not look finished.
	name: "F008",
	script: func(f *field, e *ajptest.Exchange) {
		if e.Request.Method == "GET" {
			_ = e.Respond(200, "")
			return
		}
		_, err := e.DiscardBody(nil)
		packets, _ := e.Packets()
		last := packets[len(packets)-1]
		// The end of the connection, and not 12 34 00 00 or a chunk of 0.
		whole := err == nil || len(last) <= 6
		f.report("whole %v, closed %v", whole, errors.Is(err, ajptest.ErrFrontClosed))
	},
	test: func(f *field) {
		half := strings.Repeat("b", 50000)
		for i, framing := range []string{"Content-Length: 100000\r\n\r\n" + half, "Transfer-Encoding: chunked\r\n\r\n186A0\r\n" + half,
			"Transfer-Encoding: chunked\r\n\r\nC350\r\n" + half + "\r\n", "Transfer-Encoding: chunked\r\n\r\nC350\r\n" + half + "\r\n0\r\n"} {
			for j, end := range []func(*conn){(*conn).reset, func(c *conn) { _ = c.Close() }} {
				c := f.raw("POST /F008/" + http11 + "\r\n" + framing)
				if !f.back.WaitRequests(2*i+j+1, patience) {
					f.t.Fatal("no request")
				}
				end(c)
				same(f.t, framing[:20], f.reports(2*i + j + 1)[2*i+j], "whole false, closed true")
			}
		}
		f.logs(" INF ", "F008", "50000 of 100000 bytes")
		f.logs(" INF ", "F008", "50000 bytes")
		for l := range strings.Lines(f.log()) {
			if strings.Contains(l, " worker=F008") && !strings.Contains(l, " INF ") {
				f.t.Errorf("the client's failure is logged: %s", l)
			}
		}
		same(f.t, "requests", f.back.Requests(), 8)
		f.ask(200, "GET /F008/"+http11)
	},
}, {
	// jkd owns the expectation.
	name: "F023",
	script: func(f *field, e *ajptest.Exchange) {
		if _, expects := e.Request.Header("expect"); expects {
			f.report("Expect is forwarded")
		}
		if e.Request.URI == "/F023/no" {
			_ = e.Respond(403, "no")
			return
		}
		b, _ := e.Body()
		_ = e.Respond(200, string(b))
	},
	test: func(f *field) {
		const line = "HTTP/1.1 100 Continue\r\n\r\n"
		for _, tc := range []struct{ framing, body string }{
			{"Content-Length: 5", "hello"},
			{"Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"},
		} {
			c := f.raw("POST /F023/" + http11 + "\r\nExpect: 100-continue\r\n" + tc.framing + "\r\n\r\n")
			b := make([]byte, len(line))
			if _, err := io.ReadFull(c.r, b); err != nil || string(b) != line {
				f.t.Fatalf("%s: %q, %v", tc.framing, b, err)
			}
			c.quiet(f.t) // and no other
			c.write(f.t, tc.body)
			same(f.t, tc.framing, c.want(f.t, 200).body, "hello")
			_ = c.Close()
		}
		// The container answers before anybody asked for the body.
		c := f.raw("POST /F023/no" + http11 + "\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n")
		if r := c.want(f.t, 403); r.body != "no" || !r.Close {
			f.t.Errorf("%q, close %v", r.body, r.Close)
		}
		same(f.t, "then", c.ended(), "")
		c = f.raw("POST /F023/" + http11 + "\r\nExpect: 200-ok\r\nContent-Length: 5\r\n\r\nhello")
		c.want(f.t, 417)
		c = f.raw("POST /F023/ HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		c.quiet(f.t)
		c.write(f.t, "hello")
		same(f.t, "1.0", c.want(f.t, 200).body, "hello")
		if said := f.reports(0); len(said) > 0 {
			f.t.Error(said)
		}
	},
}, {
	// Lengths above 4 GiB.
	name: "F024",
	script: func(f *field, e *ajptest.Exchange) {
		if e.Request.Method == "GET" {
			_ = e.Send(ajptest.SendHeaders(200, "", ajptest.H("Content-Length", "5000000000")), ajptest.Chunk([]byte("hello")))
			_ = e.Close()
			return
		}
		v, _ := e.Request.Header("content-length")
		f.report("%s", v)
		p, _ := e.ReadBody()
		f.report("%d", len(p))
		_ = e.Close()
	},
	test: func(f *field) {
		c := f.raw("POST /F024/" + http11 + "\r\nContent-Length: 5000000000\r\n\r\n" + strings.Repeat("x", 8186))
		same(f.t, "said", strings.Join(f.reports(2), " "), "5000000000 8186")
		_ = c.Close()
		c = f.raw("GET /F024/" + http11 + "\r\n\r\n")
		if r := c.reply(f.t, "GET"); r.StatusCode == 200 && (r.err == nil || r.ContentLength != 5000000000) {
			f.t.Errorf("length %d, %q, %v", r.ContentLength, r.body, r.err)
		}
		for _, n := range []string{"9223372036854775808", "18446744073709551616", "99999999999999999999999"} {
			c := f.raw("POST /F024/" + http11 + "\r\nContent-Length: " + n + "\r\n\r\n")
			c.want(f.t, 400)
		}
		same(f.t, "requests", f.back.Requests(), 2)
	},
}, {
	// The answer comes before the upload is over.
	name: "F035",
	script: func(_ *field, e *ajptest.Exchange) {
		if e.Request.Method == "POST" {
			_, _ = e.ReadBody()
			_ = e.Respond(413, "too much")
			return
		}
		_ = e.Respond(200, "")
	},
	test: func(f *field) {
		c := f.raw("POST /F035/" + http11 + "\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 8186))
		stop := make(chan struct{})
		go func() { // slowly, and on and on
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				if _, err := c.Write(make([]byte, 100)); err != nil {
					return
				}
			}
		}()
		r := c.reply(f.t, "POST")
		if r.StatusCode != 413 || r.body != "too much" || r.err != nil || !r.Close {
			f.t.Errorf("%d %q %v, close %v", r.StatusCode, r.body, r.err, r.Close)
		}
		_ = c.ended() // it is
		close(stop)
	},
}}
