//go:build unix

package main_test

import (
	"fmt"
	"slices"
	"strings"

	"jkd/connector/ajp/ajptest"
)

const http11 = " HTTP/1.1\r\nHost: test"

// fieldRequests are about what goes to the container.
var fieldRequests = []fieldCase{{
	// Headers that don't fit one packet cost nobody anything.
	name: "F001",
	test: func(f *field) {
		big := "\r\nAuthorization: Negotiate " + strings.Repeat("x", 9000)
		many := ""
		for i := range 5 {
			many += fmt.Sprintf("\r\nCookie: c%d=%s", i, strings.Repeat("y", 2000))
		}
		for _, head := range []string{big, many} {
			if r := f.ask(413, "GET /F001/x"+http11+head); len(r.body) > 500 || !strings.Contains(r.body, "413") {
				f.t.Errorf("page %q", r.body)
			}
		}
		f.ask(200, "GET /F001/x"+http11)
		if n := len(f.requests(1)); n != 1 {
			f.t.Errorf("%d requests reached the container", n)
		}
		f.logs("F001", "max_packet_size is 8192", "request needs a packet of 9")
		f.logs("F001", "Creating AJP message failed", "packetSize")
	},
}, {
	// Methods that AJP has no number for.
	name: "F009",
	test: func(f *field) {
		for i, tc := range []struct {
			method string
			code   byte
		}{{"GET", 2}, {"HEAD", 3}, {"REPORT", 16}, {"PATCH", 0xFF}, {"get", 0xFF}, {"BREW", 0xFF}, {"LINK", 0xFF}, {"SEARCH", 21}} {
			c := f.raw(tc.method + " /F009/" + http11 + "\r\nConnection: close\r\n\r\n")
			same(f.t, tc.method, c.reply(f.t, tc.method).StatusCode, 200)
			r := f.requests(i + 1)[i]
			same(f.t, tc.method, r.Raw[1], tc.code)
			a, stored := r.Attr(ajptest.AttrStoredMethod)
			if stored != (tc.code == 0xFF) || stored && a.Value != tc.method || r.Method != tc.method {
				f.t.Errorf("%s: stored %v, %q", tc.method, stored, a.Value)
			}
		}
	},
}, {
	// The path arrives as the client encoded it.
	name: "F011",
	test: func(f *field) {
		n := 0
		for _, path := range []string{"/a%20b", "/%C3%A1", "/%c3%a1", "/x%2Fy", "/100%25", "/%2525", "/a;v=1/./b//c", "/~%7E!$&'()*+,=:@", "/a%3Bb", "/%E4"} {
			for _, rest := range []string{"", "?q=%20%zz", "?", "#fragment"} {
				f.ask(200, "GET /F011"+path+rest+http11)
				n++
				same(f.t, path, f.requests(n)[n-1].URI, "/F011"+path)
			}
		}
		for _, path := range []string{"/%", "/%G1", "/a%2", "/%00", "/a%00b", "/%zz/b"} {
			f.ask(400, "GET /F011"+path+http11)
		}
		same(f.t, "requests", len(f.requests(n)), n)
	},
}, {
	// No detour leads around an exclusion.
	name:   "F013",
	mounts: []string{"!/F013/private/* F013"},
	test: func(f *field) {
		n := 0
		for path, status := range map[string]int{
			"/F013/x": 200, "/F013//x": 200, "/F013/a/../x": 200, "/F013/private/../x": 200, "/%46013/x;v=1": 200, "/F013/private%2Fa": 200,
			"/F013/private/a": 404, "/F013/x;y/../private/": 404, "//F013//private/a": 404, "/F013/private;z/a": 404, "/F013/%70rivate/a": 404,
			"/F013/./private/a": 404, "/F013/%2e/private/a": 404, "/F013/x/..;/private/a": 404, "/other/../F013/private/a": 404, "/F013/../other": 404,
			"/..": 400, "/F013/../../x": 400, "/%2e%2e/F013/x": 400, "/F013/..;a/..;b/x": 400,
		} {
			f.ask(status, "GET "+path+http11)
			if status == 200 {
				n++
			}
			same(f.t, path, len(f.requests(n)), n)
		}
	},
}, {
	// Host in all its shapes.
	name: "F015",
	test: func(f *field) {
		_, local, _ := strings.Cut(f.addr, ":")
		for i, tc := range []struct{ head, name, port, host string }{
			{"GET http://shop.example/F015/x HTTP/1.1\r\nHost: other:1", "shop.example", local, "shop.example"},
			{"GET http://shop.example:81/F015/x HTTP/1.1\r\nHost: other", "shop.example", "81", "shop.example:81"},
			{"GET /F015/x HTTP/1.1\r\nHost: shop.example:8443", "shop.example", "8443", "shop.example:8443"},
			{"GET /F015/x HTTP/1.1\r\nHost: shop.example", "shop.example", local, "shop.example"},
			{"GET /F015/x HTTP/1.1\r\nHost: [2001:db8::1]:8080", "2001:db8::1", "8080", "[2001:db8::1]:8080"},
			{"GET /F015/x HTTP/1.1\r\nHost: [2001:db8::1]", "2001:db8::1", local, "[2001:db8::1]"},
			{"GET /F015/x HTTP/1.0", "127.0.0.1", local, ""},
		} {
			f.ask(200, tc.head)
			r := f.requests(i + 1)[i]
			host, _ := r.Header("host")
			same(f.t, tc.head, fmt.Sprint(r.URI, " ", r.ServerName, " ", r.ServerPort, " ", host), "/F015/x "+tc.name+" "+tc.port+" "+tc.host)
		}
		f.ask(400, "GET /F015/x HTTP/1.1")
	},
}, {
	// Whose connection it was.
	name: "F017",
	test: func(f *field) {
		c := f.raw("GET /F017/" + http11 + "\r\n\r\n")
		c.want(f.t, 200)
		r := f.requests(1)[0]
		_, port, _ := strings.Cut(c.LocalAddr().String(), ":")
		var got []string
		for _, a := range r.Attributes {
			if a.Code == ajptest.AttrReqAttribute {
				got = append(got, a.Name+"="+a.Value)
			}
		}
		same(f.t, "attributes", strings.Join(got, " "), "AJP_REMOTE_PORT="+port+" AJP_LOCAL_ADDR=127.0.0.1 JK_LB_ACTIVATION=ACT")
		same(f.t, "remote_addr", r.RemoteAddr, "127.0.0.1")
		same(f.t, "remote_host is null", r.RemoteHostNull, true)
	},
}, {
	// Nothing of TLS without TLS.
	name: "F018",
	test: func(f *field) {
		f.ask(200, "GET /F018/"+http11)
		r := f.requests(1)[0]
		if r.IsSSL {
			f.t.Error("is_ssl")
		}
		for _, a := range r.Attributes {
			if slices.Contains([]byte{ajptest.AttrSSLCert, ajptest.AttrSSLCipher, ajptest.AttrSSLSession, ajptest.AttrSSLKeySize}, a.Code) || a.Name == "AJP_SSL_PROTOCOL" {
				f.t.Errorf("%s is sent", a.Name)
			}
		}
	},
}, {
	// The secret goes to the container and nowhere else, and a refusal is
	// explained.
	name:   "F020",
	lines:  []string{"secret=" + fieldSecret},
	mounts: []string{"/F020wrong/* F020wrong", "/F020none/* F020none", "/F020lb/* F020lb"},
	more: func(port int) string {
		return fmt.Sprintf("worker.list=F020wrong,F020none,F020lb\nworker.F020wrong.host=127.0.0.1\nworker.F020wrong.port=%d\nworker.F020wrong.secret=not-%s\n"+
			"worker.F020none.host=127.0.0.1\nworker.F020none.port=%[1]d\n"+
			"worker.F020lb.type=lb\nworker.F020lb.secret=%[2]s\nworker.F020lb.balance_workers=F020m\nworker.F020m.host=127.0.0.1\nworker.F020m.port=%[1]d\n", port, fieldSecret)
	},
	script: func(f *field, e *ajptest.Exchange) {
		if a, _ := e.Request.Attr(ajptest.AttrSecret); a.Value != fieldSecret {
			_ = e.Send(ajptest.SendHeaders(403, "403"), ajptest.End(false))
			_ = e.Close()
			return
		}
		_ = e.Respond(200, "welcome")
	},
	test: func(f *field) {
		text := ""
		for range 2 {
			for path, status := range map[string]int{"/F020/": 200, "/F020lb/": 200, "/F020wrong/": 403, "/F020none/": 403} {
				r := f.ask(status, "GET "+path+http11)
				text += fmt.Sprintln(r.Header, r.body)
			}
		}
		const hint = "it refuses the secret or a request attribute"
		f.logs(" WRN ", hint, "F020wrong", "has a secret, which may not be the container's", "secret, AJP_REMOTE_PORT, AJP_LOCAL_ADDR, JK_LB_ACTIVATION")
		f.logs(" WRN ", hint, "F020none", "has no secret", "attributes sent: AJP_REMOTE_PORT, AJP_LOCAL_ADDR, JK_LB_ACTIVATION")
		if text += f.log() + f.out.String(); strings.Contains(text, fieldSecret) {
			f.t.Errorf("the secret is out: %s", text)
		}
		for l := range strings.Lines(f.log()) {
			if strings.Contains(l, " ERR ") && strings.Contains(l, "F020") {
				f.t.Errorf("a refusal is taken for a failure: %s", l)
			}
		}
	},
}, {
	// No attribute but those that containers know, until some are configured.
	name: "F021",
	jk: []string{"[vhost f021.example.test]", "JkMountCopy = On", "JkEnvVar = FIRST", "JkEnvVar = SECOND second", "JkEnvVar = THIRD", "JkEnvVar = AJP_FOURTH",
		"SetEnv = FIRST \"the first\"", "SetEnv = AJP_FOURTH 4"},
	script: func(f *field, e *ajptest.Exchange) {
		for _, name := range e.Request.AttrNames() {
			if !slices.Contains([]string{"query_string", "stored_method", "AJP_REMOTE_PORT", "AJP_LOCAL_ADDR", "JK_LB_ACTIVATION"}, name) {
				f.report("%s", name)
				_ = e.Send(ajptest.SendHeaders(403, "403"), ajptest.End(false))
				_ = e.Close()
				return
			}
		}
		_ = e.Respond(200, "")
	},
	test: func(f *field) {
		f.ask(200, "GET /F021/?q"+http11+"\r\nAuthorization: Basic am9lOng=\r\nCookie: JSESSIONID=a.b")
		f.ask(200, "BREW /F021/;jsessionid=x.y"+http11)
		f.ask(403, "GET /F021/ HTTP/1.1\r\nHost: f021.example.test")
		r := f.requests(3)[2]
		want := []string{"AJP_REMOTE_PORT", "AJP_LOCAL_ADDR", "JK_LB_ACTIVATION", "FIRST", "SECOND", "AJP_FOURTH"}
		if got := r.AttrNames(); !slices.Equal(got, want) {
			f.t.Errorf("attributes %q, want %q", got, want)
		}
		for name, want := range map[string]string{"FIRST": "the first", "SECOND": "second", "AJP_FOURTH": "4"} {
			got, _ := r.ReqAttr(name)
			same(f.t, name, got, want)
		}
		f.logs(" WRN ", "F021", "attributes sent: "+strings.Join(want, ", "))
	},
}}

const fieldSecret = "Xq7-found-nowhere-else"
