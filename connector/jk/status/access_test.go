package status

import (
	"strings"
	"testing"
)

func TestWhoMayChange(t *testing.T) {
	const reset = "cmd=reset&w=lonely&mime=txt"
	tests := []struct {
		name    string
		method  string
		query   string
		prepare func(*rig)
		status  int
	}{
		{"GET", "GET", reset, nil, 403},
		{"HEAD", "HEAD", reset, nil, 403},
		{"GET with token", "GET", reset + "&token=" + token, nil, 200},
		{"GET with token in capitals", "GET", reset + "&token=" + strings.ToUpper(token), nil, 200},
		{"GET with a wrong token", "GET", reset + "&token=" + token[1:], nil, 403},
		{"GET with an empty token", "GET", reset + "&token=", nil, 403},
		{"no token is no password", "GET", reset + "&token=", func(r *rig) { r.in.Token = "" }, 403},
		{"GET with token from elsewhere", "GET", reset + "&token=" + token, func(r *rig) { r.in.SecFetchSite = "cross-site" }, 200},
		{"POST", "POST", reset, nil, 200},
		{"POST with a wrong token", "POST", reset + "&token=1", nil, 200},
		{"POST of this page", "POST", reset, func(r *rig) { r.in.Origin, r.in.SecFetchSite = "https://shop.example", "same-origin" }, 200},
		{"POST of the user", "POST", reset, func(r *rig) { r.in.SecFetchSite = "none" }, 200},
		{"POST of another site", "POST", reset, func(r *rig) { r.in.SecFetchSite = "cross-site" }, 403},
		{"POST of a sister", "POST", reset, func(r *rig) { r.in.SecFetchSite = "same-site" }, 403},
		{"POST of who knows", "POST", reset, func(r *rig) { r.in.SecFetchSite = "something new" }, 403},
		{"POST of another origin", "POST", reset, func(r *rig) { r.in.Origin = "https://evil.example" }, 403},
		{"POST of no origin", "POST", reset, func(r *rig) { r.in.Origin = "null" }, 403},
		{"POST of a nonsense origin", "POST", reset, func(r *rig) { r.in.Origin = "shop.example" }, 403},
		{"POST of an origin without host", "POST", reset, func(r *rig) { r.in.Host, r.in.Origin = "", "https://" }, 403},
		{"POST of another port", "POST", reset, func(r *rig) { r.in.Origin = "https://shop.example:8443" }, 403},
		{"POST of a longer name", "POST", reset, func(r *rig) { r.in.Origin = "https://shop.example.evil.example" }, 403},
		{"POST with default ports", "POST", reset, func(r *rig) { r.in.Host, r.in.Origin = "Shop.example:443", "https://shop.EXAMPLE" }, 200},
		{"POST with a port", "POST", reset, func(r *rig) { r.in.Host, r.in.Origin = "shop.example:8080", "http://shop.example:8080" }, 200},
		{"POST of another site with token", "POST", reset + "&token=" + token, func(r *rig) { r.in.SecFetchSite = "cross-site" }, 200},
		{"POST without a form's type", "POST", reset, func(r *rig) { r.in.ContentType = "text/plain" }, 200}, // and no body
		{"allowed GET", "GET", reset, func(r *rig) { r.config.AllowGetUpdate = true }, 200},
		{"allowed GET of another site", "GET", reset, func(r *rig) { r.config.AllowGetUpdate, r.in.SecFetchSite = true, "cross-site" }, 403},
		{"read-only", "POST", reset + "&token=" + token, func(r *rig) { r.config.ReadOnly = true }, 403},
		{"read-only view", "POST", reset + "&opt=32&token=" + token, nil, 403},
		{"PUT", "PUT", reset + "&token=" + token, nil, 405},
		{"get", "get", reset + "&token=" + token, nil, 405},
	}
	for _, tt := range tests {
		r := newRig()
		r.in.Method, r.in.Query = tt.method, []byte(tt.query)
		if tt.prepare != nil {
			tt.prepare(r)
		}
		out := Serve(r.in, r, r.config)
		if out.Status != tt.status || (len(r.calls) == 1) != (tt.status == 200) {
			t.Errorf("%s: status %d, want %d, did %q", tt.name, out.Status, tt.status, r.calls)
		}
		if tt.status == 403 && !strings.HasPrefix(string(out.Body), "Result: type=ERROR message=") {
			t.Errorf("%s: answers %s", tt.name, out.Body)
		}
	}
}

func TestReadOnly(t *testing.T) {
	for _, query := range []string{"cmd=edit&w=cart", "cmd=update&w=cart&vlr=9", "cmd=reset&w=cart", "cmd=recover&w=cart&sw=elm"} {
		for _, opt := range []string{"", "&opt=32"} {
			r := newRig()
			r.config.ReadOnly = opt == ""
			if out := r.post(query+opt, "token="+token); out.Status != 403 || len(r.calls) > 0 {
				t.Errorf("%s: status %d, did %q", query+opt, out.Status, r.calls)
			}
		}
	}
	for _, query := range []string{"cmd=list", "cmd=show&w=cart", "cmd=show&w=lonely"} {
		r := newRig()
		r.config.ReadOnly = true
		out := r.get(query)
		for _, s := range []string{"cmd=edit", "cmd=reset", "cmd=recover", "<button type=\"submit\" form", token, "opt=32"} {
			if strings.Contains(string(out.Body), s) {
				t.Errorf("%s, read-only, has %q", query, s)
			}
		}
	}
}

func TestUsers(t *testing.T) {
	tests := []struct {
		users []string
		fold  bool
		user  string
		ok    bool
	}{
		{nil, false, "", true},
		{nil, false, "ada", true},
		{[]string{"ada", "bob"}, false, "bob", true},
		{[]string{"ada", "bob"}, false, "Bob", false},
		{[]string{"ada", "bob"}, true, "Bob", true},
		{[]string{"ada", "bob"}, false, "", false},
		{[]string{"ada", ""}, true, "", false},
		{[]string{"ada"}, true, "eve", false},
	}
	for _, tt := range tests {
		for _, query := range []string{"cmd=list", "cmd=reset&w=cart&token=" + token, "cmd=nonsense"} {
			r := newRig()
			r.config.Users, r.config.UserCaseInsensitive, r.in.RemoteUser = tt.users, tt.fold, tt.user
			out := r.get(query)
			if ok := out.Status == 200; ok != tt.ok {
				t.Errorf("users %q, user %q: status %d", tt.users, tt.user, out.Status)
			}
			if !tt.ok && (string(out.Body) != "Forbidden\n" || len(r.calls) > 0 || out.Status != 403) {
				t.Errorf("users %q, user %q: %d %s, did %q", tt.users, tt.user, out.Status, out.Body, r.calls)
			}
		}
	}
}

func TestForms(t *testing.T) {
	r := newRig()
	in := r.in
	in.Method, in.Body = "POST", []byte("cmd=reset&w=lonely")
	for contentType, status := range map[string]int{
		"application/x-www-form-urlencoded":                 200,
		"Application/X-WWW-Form-urlencoded ; charset=UTF-8": 200,
		"":                                200,
		"text/plain":                      415,
		"multipart/form-data; boundary=x": 415,
		"application/json":                415,
		"application/x-www-form-urlencoded-or-something-else": 415,
	} {
		in.ContentType = contentType
		if out := Serve(in, r, r.config); out.Status != status {
			t.Errorf("type %q: status %d, want %d", contentType, out.Status, status)
		}
	}
	in.Method, in.ContentType = "GET", ""
	r.calls = nil
	in.Token = token
	in.Body = []byte("cmd=reset&w=lonely&token=" + token)
	if out := Serve(in, r, r.config); out.Status != 200 || len(r.calls) > 0 {
		t.Errorf("the body of a GET was read: %d, %q", out.Status, r.calls)
	}
}

func TestFields(t *testing.T) {
	r := newRig()
	for _, query := range []string{"", "mime=xml", "mime=txt", "mime=prop", "cmd=nonsense", "mime=nonsense", "cmd=reset&w=cart"} {
		out := r.get(query)
		if out.field("Cache-Control") != "no-cache, no-store" || out.field("Pragma") != "no-cache" || out.field("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%q: fields %q", query, out.Fields)
		}
		isHTML := strings.HasPrefix(out.ContentType, "text/html")
		policy := out.field("Content-Security-Policy")
		if isHTML != strings.Contains(policy, "frame-ancestors 'none'") || isHTML != (out.field("X-Frame-Options") == "DENY") ||
			isHTML != (out.field("Referrer-Policy") == "same-origin") {
			t.Errorf("%q: fields %q", query, out.Fields)
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("policy %s", policy)
		}
	}
	for css, src := range map[string]string{
		"/jk.css":                          "style-src 'self';",
		"https://static.example/jk.css":    "style-src https://static.example;",
		"//static.example:81/jk.css":       "style-src static.example:81;",
		"https://a;script-src *":           "style-src 'self';",
		"https://a;script-src.example/x":   "style-src 'self';",
		"data:text/css,x":                  "style-src 'self';",
		"ftp://static.example/a":           "style-src 'self';",
		"http://[::1]:8080/a?b=%22%3C#'x'": "style-src http://[::1]:8080;",
	} {
		r.config.CSS = css
		out := r.get("")
		if !strings.Contains(out.field("Content-Security-Policy"), src) {
			t.Errorf("css %s: policy %s", css, out.field("Content-Security-Policy"))
		}
		if !strings.Contains(string(out.Body), `<link rel="stylesheet" href="`) || strings.Contains(string(out.Body), "<style") {
			t.Errorf("css %s is not used", css)
		}
	}
	if out := r.get("x=%"); out.Status != 200 || !strings.Contains(string(out.Body), "Invalid parameters.") {
		t.Errorf("bad query: %d", out.Status)
	}
	r.in.Method = "PUT"
	if out := r.get(""); out.field("Allow") != "GET, HEAD, POST" {
		t.Errorf("PUT: %q", out.Fields)
	}
}
