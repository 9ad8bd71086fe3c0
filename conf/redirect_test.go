package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestRedirects(t *testing.T) {
	const text = `Listen 8088
ServerName main.test
Redirect /a http://x.test/a
RedirectMatch gone "^/b .*"
<VirtualHost *:8088>
    ServerName v.test
    RedirectPermanent /c "/with blank"
</VirtualHost>
<Location /l>
    Redirect 303 https://x.test/whole
    RedirectTemp /l/m /n
</Location>
`
	c, _, err := Parse("/etc/httpd.conf", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := []Redirect{{Path: "/a", Status: 302, URL: "http://x.test/a", Line: 3}, {Path: "^/b .*", Match: true, Status: 410, Line: 4}}
	if !reflect.DeepEqual(c.Redirects, main) {
		t.Errorf("main: %+v", c.Redirects)
	}
	if got := c.VHosts[0].Redirects; !reflect.DeepEqual(got, append([]Redirect{{Path: "/c", Status: 301, URL: "/with blank", Line: 7}}, main...)) {
		t.Errorf("virtual host: %+v", got)
	}
	if got := c.Locations[0].Redirects; !reflect.DeepEqual(got, []Redirect{{Status: 303, URL: "https://x.test/whole", Line: 10}, {Path: "/l/m", Status: 302, URL: "/n", Line: 11}}) {
		t.Errorf("location: %+v", got)
	}
	roundTrip(t, "/etc/httpd.conf", []byte(text), Options{})
}

func TestRedirectFaults(t *testing.T) {
	for line, want := range map[string]string{
		"Redirect /a":                      "the URL to redirect to is missing",
		"Redirect gone":                    "needs a path",
		"Redirect 301":                     "needs a path",
		"Redirect gone /a http://x/":       "the status 410 has no URL",
		"Redirect 200 /a":                  `"200" is no status from 300 to 599`,
		"Redirect 3o1 /a http://x/":        `"3o1" is no status from 300 to 599`,
		"Redirect permanetn /a http://x/":  "did you mean permanent?",
		"Redirect a http://x/":             "does not begin with '/'",
		"Redirect /a x.test/b":             "it begins with a scheme or with '/'",
		"Redirect temp /a http://x/ more":  "at most a status, a path and a URL",
		"RedirectMatch ^/(a http://x/":     "missing closing",
		"RedirectMatch temp ^/a":           "the URL to redirect to is missing",
		"<Location /a>\nRedirect %{x}":     "no expressions",
		"<Location /a>\nRedirectMatch /b":  "the URL to redirect to is missing",
		"<Location /a>\nRedirect temp x y": "does not begin with '/'",
	} {
		text := "Listen 8088\n" + line + "\n"
		if strings.HasPrefix(line, "<") {
			text += "</Location>\n"
		}
		_, _, err := Parse("/etc/httpd.conf", []byte(text), Options{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/etc/httpd.conf:") {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
