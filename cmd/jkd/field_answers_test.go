//go:build unix

package main_test

import (
	"fmt"
	"strconv"
	"strings"

	"jkd/connector/ajp/ajptest"
)

// fieldAnswers are about what comes back.
var fieldAnswers = []fieldCase{{
	// HEAD has the head of GET and not a byte of a body.
	name: "F026",
	script: func(_ *field, e *ajptest.Exchange) {
		switch {
		case e.Request.URI == "/F026/gone":
			_ = e.Send(ajptest.SendHeaders(404, "404", ajptest.H("Content-Length", "700")), ajptest.Flush(), ajptest.End(true))
		case e.Request.URI == "/F026/bare":
			_ = e.Send(ajptest.SendHeaders(500, "500"), ajptest.End(true))
		default:
			_ = e.Send(ajptest.SendHeaders(200, "", ajptest.H("Content-Length", "5")), ajptest.Chunk([]byte("hello")), ajptest.End(true))
		}
	},
	test: func(f *field) {
		c := f.raw("HEAD /F026/" + http11 + "\r\n\r\nHEAD /F026/gone" + http11 + "\r\n\r\nHEAD /F026/bare" + http11 + "\r\n\r\nGET /F026/" + http11 + "\r\n\r\n")
		for _, want := range []string{"200 5", "404 700", "500 -1"} {
			r := c.reply(f.t, "HEAD")
			same(f.t, "HEAD", fmt.Sprint(r.StatusCode, " ", r.ContentLength), want)
		}
		same(f.t, "GET", c.want(f.t, 200).body, "hello")
		same(f.t, "requests of each connection", fmt.Sprint(f.back.RequestsPerConn()), "[4]")
	},
}, {
	// The phrase of a container means nothing.
	name: "F028",
	script: func(_ *field, e *ajptest.Exchange) {
		answer := map[string][]byte{
			"/F028/number": ajptest.SendHeaders(200, "200"), "/F028/null": ajptest.SendHeadersNull(200), "/F028/299": ajptest.SendHeaders(299, ""),
			"/F028/404": ajptest.SendHeaders(404, "Nix da"), "/F028/999": ajptest.SendHeaders(999, "x"),
			"/F028/0": ajptest.SendHeaders(0, "OK"), "/F028/1000": ajptest.SendHeaders(1000, "OK"),
		}[e.Request.URI]
		_ = e.Send(answer, ajptest.Chunk([]byte("x")), ajptest.End(true))
	},
	test: func(f *field) {
		for path, want := range map[string]string{"number": "200 OK", "null": "200 OK", "299": "299 ", "404": "404 Not Found", "999": "999 ", "0": "502 Bad Gateway", "1000": "502 Bad Gateway"} {
			status, _ := strconv.Atoi(want[:3])
			r := f.ask(status, "GET /F028/"+path+http11)
			if r.Status != want && !(strings.HasSuffix(want, " ") && strings.HasPrefix(r.Status, want) && len(r.Status) > len(want)) {
				f.t.Errorf("%s: %q, want %q", path, r.Status, want)
			}
		}
	},
}, {
	// Coded names of header fields.
	name: "F029",
	script: func(_ *field, e *ajptest.Exchange) {
		p := ajptest.Payload(ajptest.CodeHeaders).Int(200).String("OK")
		switch e.Request.URI {
		case "/F029/all":
			p.Int(12)
			for i := range 11 {
				v := fmt.Sprint("v", i+1)
				if i == 2 {
					v = "1"
				}
				p.Int(0xA001 + i).String(v)
			}
			p.String("x-Own").String("y")
		case "/F029/0":
			p.Int(1).Int(0xA000).String("x")
		case "/F029/12":
			p.Int(1).Int(0xA00C).String("x")
		}
		_ = e.Send(p.Packet(), ajptest.Chunk([]byte("x")), ajptest.End(true))
	},
	test: func(f *field) {
		c := f.raw("GET /F029/all" + http11 + "\r\nConnection: close\r\n\r\n")
		text := c.ended()
		for i, name := range []string{"Content-Type", "Content-Language", "Content-Length", "Date", "Last-Modified", "Location", "Set-Cookie", "Set-Cookie2",
			"Servlet-Engine", "Status", "WWW-Authenticate"} {
			line := fmt.Sprintf("\r\n%s: v%d\r\n", name, i+1)
			switch name {
			case "Content-Length":
				line = "\r\nContent-Length: 1\r\n"
			case "Date": // the front's own
				line = "\r\nDate: "
			}
			if strings.Count(text, line) != 1 {
				f.t.Errorf("not one %q in %q", line, text)
			}
		}
		if !strings.Contains(text, "\r\nx-Own: y\r\n") {
			f.t.Errorf("a name is not as given in %q", text)
		}
		f.ask(502, "GET /F029/0"+http11)
		f.ask(502, "GET /F029/12"+http11)
		if !f.back.WaitOpen(0, patience) && f.back.Open() > 1 {
			f.t.Errorf("%d connections are open", f.back.Open())
		}
	},
}, {
	// Flush packets in all places.
	name: "F030",
	script: func(_ *field, e *ajptest.Exchange) {
		_ = e.Send(ajptest.Flush(), ajptest.FlushBare(), ajptest.SendHeaders(200, ""), ajptest.Flush(), ajptest.Chunk([]byte("body")), ajptest.End(true))
		_ = e.Send(ajptest.Flush(), ajptest.FlushBare())
	},
	test: func(f *field) {
		c := f.raw("GET /F030/" + http11 + "\r\n\r\n")
		for range 5 {
			same(f.t, "body", c.want(f.t, 200).body, "body")
			c.write(f.t, "GET /F030/"+http11+"\r\n\r\n")
		}
		same(f.t, "body", c.want(f.t, 200).body, "body")
		// A late flush of which only half has come when the next request
		// begins costs the connection, never the request.
		if n := f.back.Requests(); n != 6 {
			f.t.Errorf("%d requests for 6", n)
		}
	},
}, {
	// Broken packets: 502 or a cut answer, and the next request is served.
	name:  "F032",
	lines: []string{"retries=1"},
	script: func(_ *field, e *ajptest.Exchange) {
		n, err := strconv.Atoi(strings.TrimPrefix(e.Request.URI, "/F032/"))
		if err != nil {
			_ = e.Respond(200, "fine")
			return
		}
		bad := ajptest.BadPackets()[n]
		_ = e.Send(bad.Before, bad.Bytes)
		if strings.HasPrefix(bad.Name, "cut") {
			_ = e.Close()
			return
		}
		_ = e.WaitClose(patience)
	},
	test: func(f *field) {
		for i, bad := range ajptest.BadPackets() {
			c := f.raw(fmt.Sprintf("POST /F032/%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", i))
			r, err := c.response("POST")
			switch {
			case bad.Before == nil && (err != nil || r.StatusCode != 502):
				f.t.Errorf("%s: %v", bad.Name, err)
			case bad.Before != nil && err == nil && r.StatusCode == 200:
				b := c.ended()
				if strings.HasSuffix(b, "0\r\n\r\n") || strings.Contains(b, "\x00") {
					f.t.Errorf("%s: the client takes %q for a whole answer", bad.Name, b)
				}
			}
			_ = c.Close()
			same(f.t, bad.Name, f.ask(200, "GET /F032/good"+http11).body, "fine")
		}
		f.logs("F032", "wrong message format 0x4854", "packet begins 48 54 54 50 2f 31 2e 31 20 34 30 30 20 42 61 64")
		f.logs("F032", "more headers announced than the packet can hold")
		f.logs("F032", "string runs past the end")
		f.logs("F032", "END_RESPONSE before SEND_HEADERS")
	},
}, {
	// END_RESPONSE that ends the connection.
	name: "F033",
	script: func(f *field, e *ajptest.Exchange) {
		end := map[string][]byte{"/F033/close": ajptest.End(false), "/F033/bare": ajptest.EndBare()}[e.Request.URI]
		if end == nil {
			end = ajptest.End(true)
		}
		_ = e.Send(e.Answer(200, "whole"), end)
	},
	test: func(f *field) {
		c := dial(f.t, f.addr)
		for _, path := range []string{"close", "reuse", "reuse", "bare", "reuse"} {
			c.write(f.t, "GET /F033/"+path+http11+"\r\n\r\n")
			same(f.t, path, c.want(f.t, 200).body, "whole")
		}
		same(f.t, "requests of each connection", fmt.Sprint(f.back.RequestsPerConn()), "[1 3 1]")
		if !f.back.WaitOpen(1, patience) {
			f.t.Errorf("%d connections are open", f.back.Open())
		}
	},
}, {
	// Control bytes in an answer's header.
	name: "F037",
	script: func(_ *field, e *ajptest.Exchange) {
		if e.Request.URI == "/F037/location" {
			_ = e.Send(ajptest.SendHeaders(302, "", ajptest.H("Location", "/a\r\nX: y")), ajptest.End(true))
			return
		}
		_ = e.Respond(200, "fine", ajptest.S("bad name", "v1"), ajptest.S("X-Nul", "a\x00b"), ajptest.S("X-Line", "a\nSet-Cookie: evil=1"), ajptest.S("", "v"),
			ajptest.S("X-Tab", "a\tb"), ajptest.H("Content-Type", "text/plain"))
	},
	test: func(f *field) {
		text := f.raw("GET /F037/" + http11 + "\r\nConnection: close\r\n\r\n").ended()
		for part, want := range map[string]bool{"X-Tab: a\tb\r\n": true, "Content-Type: text/plain\r\n": true, "v1": false, "X-Nul": false, "X-Line": false, "evil": false, "fine": true} {
			same(f.t, part, strings.Contains(text, part), want)
		}
		f.ask(502, "GET /F037/location"+http11)
		f.logs("F037", `fields=["bad name","X-Nul","X-Line",""]`)
		if log := f.log(); strings.Contains(log, "evil") {
			f.t.Error("a dropped value is in the log")
		}
	},
}, {
	// Several cookies, in order, each a line.
	name: "F038",
	script: func(_ *field, e *ajptest.Exchange) {
		_ = e.Respond(200, "", ajptest.H("Set-Cookie", "a=1; Path=/"), ajptest.S("set-cookie", "b=2"), ajptest.H("Set-Cookie", "c=3"), ajptest.S("X-A", "1"), ajptest.S("X-A", "2"))
	},
	test: func(f *field) {
		text := f.raw("GET /F038/" + http11 + "\r\nConnection: close\r\n\r\n").ended()
		if !strings.Contains(text, "\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\nSet-Cookie: c=3\r\nX-A: 1\r\nX-A: 2\r\n") {
			f.t.Errorf("got %q", text)
		}
	},
}, {
	// Interim answers are not the answer, and there is one answer only.
	name: "F040",
	script: func(_ *field, e *ajptest.Exchange) {
		final := ajptest.SendHeaders(200, "", ajptest.S("X", "final"))
		switch e.Request.URI {
		case "/F040/100":
			_ = e.Send(ajptest.SendHeaders(100, "100", ajptest.S("X", "interim")), final, ajptest.Chunk([]byte("body")), ajptest.End(true))
		case "/F040/103":
			_ = e.Send(ajptest.SendHeaders(103, "", ajptest.S("Link", "</a>")), ajptest.Flush(), ajptest.SendHeaders(102, ""), final, ajptest.Chunk([]byte("body")), ajptest.End(true))
		case "/F040/101":
			_ = e.Send(ajptest.SendHeaders(101, "", ajptest.S("Upgrade", "x")), ajptest.End(true))
		case "/F040/twice":
			_ = e.Send(final, ajptest.SendHeaders(200, ""), ajptest.End(true))
		case "/F040/later":
			_ = e.Send(final, ajptest.Chunk([]byte("body")), ajptest.Flush(), ajptest.SendHeaders(404, ""), ajptest.End(true))
		}
	},
	test: func(f *field) {
		for _, path := range []string{"100", "103"} {
			text := f.raw("GET /F040/" + path + http11 + "\r\nConnection: close\r\n\r\n").ended()
			if !strings.HasPrefix(text, "HTTP/1.1 200 OK\r\n") || strings.Count(text, "HTTP/1.1") != 1 || !strings.HasSuffix(text, "\r\n\r\nbody") || strings.Contains(text, "interim") || strings.Contains(text, "Link") {
				f.t.Errorf("%s: %q", path, text)
			}
		}
		f.ask(502, "GET /F040/101"+http11)
		for _, path := range []string{"twice", "later"} {
			c := f.raw("GET /F040/" + path + http11 + "\r\n\r\n")
			if r := c.reply(f.t, "GET"); r.StatusCode == 200 && r.err == nil {
				f.t.Errorf("%s: the client takes %q for a whole answer", path, r.body)
			}
		}
	},
}}
