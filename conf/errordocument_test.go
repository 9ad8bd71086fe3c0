package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestErrorDocuments(t *testing.T) {
	const text = `Listen 8088
ServerName main.test
ErrorDocument 404 /missing.html?a=%20
ErrorDocument 503 "Back <b>soon</b>"
ErrorDocument 500 "from the days of 1.3
<VirtualHost *:8088>
    ServerName v.test
    ErrorDocument 404 http://other.test/missing
    ErrorDocument 502 default
</VirtualHost>
<Location /l>
    ErrorDocument 403 word
    ErrorDocument 403 note:word
</Location>
`
	c, _, err := Parse("/etc/httpd.conf", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := []ErrorDocument{
		{Status: 404, Path: "/missing.html?a=%20", Line: 3}, {Status: 503, Text: "Back <b>soon</b>", Line: 4},
		{Status: 500, Text: "from the days of 1.3", Line: 5},
	}
	if !reflect.DeepEqual(c.ErrorDocuments, main) {
		t.Errorf("main: %+v", c.ErrorDocuments)
	}
	own := append(main[:3:3], ErrorDocument{Status: 404, URL: "http://other.test/missing", Line: 8}, ErrorDocument{Status: 502, Line: 9})
	if got := c.VHosts[0].ErrorDocuments; !reflect.DeepEqual(got, own) {
		t.Errorf("virtual host: %+v", got)
	}
	if got := c.Locations[0].ErrorDocuments; !reflect.DeepEqual(got, []ErrorDocument{{Status: 403, Text: "word", Line: 12}, {Status: 403, Text: "note:word", Line: 13}}) {
		t.Errorf("location: %+v", got)
	}
	roundTrip(t, "/etc/httpd.conf", []byte(text), Options{})
}

func TestErrorDocumentFaults(t *testing.T) {
	for line, want := range map[string]string{
		"ErrorDocument 404":           "a text or the word default behind the status",
		"ErrorDocument 404 ":          "a text or the word default behind the status",
		"ErrorDocument 304 /x":        "304 is no status from 400 to 599",
		"ErrorDocument 4o4 /x":        "4o4 is no status",
		"ErrorDocument 600 /x":        "600 is no status",
		"ErrorDocument 404 not found": "a text with blanks must be quoted",
		"ErrorDocument 404 /a%2":      "'%' is not followed by two hexadecimal digits",
		"ErrorDocument 404 /a%00":     "other than 00",
		"ErrorDocument 404 /%zz":      "'%' is not followed by two hexadecimal digits",
		"ErrorDocument 404 \"\"":      "the argument is empty",
		"ErrorDocument 404 \"a\" b\"": "a text with blanks must be quoted",
		"ErrorDocument 404 /a\tb c":   "a text with blanks must be quoted",
	} {
		_, _, err := Parse("/etc/httpd.conf", []byte("Listen 8088\n"+line+"\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), "/etc/httpd.conf:2: ErrorDocument: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	c, warnings, err := Parse("/etc/httpd.conf", []byte("Listen 8088\nErrorDocument 401 http://other.test/\n"), Options{})
	if err != nil || len(c.ErrorDocuments) != 0 || !strings.Contains(strings.Join(texts(warnings), "\n"), "never asked for a password") {
		t.Errorf("401: %v, %v", warnings, err)
	}
}
