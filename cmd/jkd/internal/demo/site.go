package demo

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
)

const (
	typeHTML = "text/html;charset=UTF-8"
	typeText = "text/plain;charset=UTF-8"
)

// page answers one request: it calls start once and writes the body. An error
// means that the connection is broken.
type page func(a *answer, r *request) error

// Path is a page to try.
type Path struct{ Path, About string }

// Paths lists what the container answers, for people: the paths may have
// example parameters.
func Paths() []Path {
	return []Path{
		{"/", "this list"},
		{"/examples/servlets/servlet/HelloWorldExample", "Hello World, as in Tomcat's examples"},
		{"/test/test.jsp", "a page of 113 KB"},
		{"/echo", "what the container was told about the request; any path below, any method, with a body or without"},
		{"/upload", "takes a body and answers with its length and SHA-256"},
		{"/sse", "ten server-sent events, one each half second (n, ms)"},
		{"/download?size=1000000", "so many bytes; byte i is i mod 251 (length=no: without Content-Length)"},
		{"/status?s=404", "an answer with that status, 200..999"},
		{"/slow?ms=100", "answers after so many milliseconds, at most a minute"},
		{"/session", "a session cookie and the number of visits"},
	}
}

// site maps paths to pages. It doesn't change once made.
type site struct {
	pattern []byte // for downloads: byte i is i mod period
	exact   map[string]page
	below   map[string]page // first path segment, for pages with paths below
}

func newSite(packetSize int) *site {
	typeField := field{"Content-Type", typeHTML}
	return &site{
		pattern: newPattern(packetSize),
		exact: map[string]page{
			"/": static(indexPage(), packetSize, typeField, field{"Content-Length", ""}),
			// With the two fields that a filter of Tomcat's examples adds.
			"/examples/servlets/servlet/HelloWorldExample": static([]byte(helloPage), packetSize,
				field{"X-Frame-Options", "DENY"}, field{"X-Content-Type-Options", "nosniff"}, typeField, field{"Content-Length", ""}),
			"/examples/servlets/helloworld.html": redirect,
			"/examples/servlets/index.html":      redirect,
			// Tomcat's buffer is smaller than this page: it gives no length.
			"/test/test.jsp": static(bigPage(), packetSize, typeField),
			"/upload":        upload,
			"/sse":           events,
			"/download":      download,
			"/status":        status,
			"/slow":          slow,
			"/session":       session,
		},
		below: map[string]page{"/echo": echo},
	}
}

func (s *site) find(path []byte) page {
	if p := s.exact[string(path)]; p != nil {
		return p
	}
	first := path
	if len(path) > 1 {
		if i := bytes.IndexByte(path[1:], '/'); i >= 0 {
			first = path[:1+i]
		}
	}
	if p := s.below[string(first)]; p != nil {
		return p
	}
	return notFound
}

// static makes a page whose packets are made once. A Content-Length among the
// fields is filled in.
func static(body []byte, packetSize int, fields ...field) page {
	for i := range fields {
		if fields[i].name == "Content-Length" {
			fields[i].value = strconv.Itoa(len(body))
		}
	}
	head := appendHeaders(nil, 200, fields...)
	whole := appendBody(bytes.Clone(head), body, packetSize)
	head, whole = append(head, packetEnd...), append(whole, packetEnd...)
	return func(a *answer, r *request) error {
		if r.method == "HEAD" {
			return a.packets(head)
		}
		return a.packets(whole)
	}
}

// helloPage has the title, heading and links of the page of the same path in
// Tomcat's examples, and its length of 387 bytes, so that measurements compare.
const helloPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>Hello World!</title>
</head>
<body bgcolor="white">
<a href="../helloworld.html"><img src="../images/code.gif" width="24" height="24" align="right" alt="view code"></a>
<a href="../index.html"><img src="../images/return.gif" width="24" height="24" align="right" alt="return"></a>
<h1>Hello World!</h1>
</body></html>
`

func indexPage() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"UTF-8\"><title>jkd demo</title></head>\n<body>\n" +
		"<h1>jkd demo</h1>\n<p>These pages come over AJP13 from a process of their own.</p>\n<ul>\n")
	for _, p := range Paths() {
		fmt.Fprintf(&b, "<li><a href=\"%s\">%s</a>: %s</li>\n", html.EscapeString(p.Path), html.EscapeString(p.Path), html.EscapeString(p.About))
	}
	b.WriteString("</ul>\n</body></html>\n")
	return b.Bytes()
}

// bigPageSize is the size of /test/test.jsp.
const bigPageSize = 113_588

// bigPage makes the same text each time: numbered paragraphs.
func bigPage() []byte {
	const end = "</body></html>\n"
	words := [...]string{"accept", "backend", "cache", "daemon", "endpoint", "fork", "graceful", "header", "idle", "listener", "mount", "packet", "request", "scoreboard", "thread", "worker"}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"UTF-8\"><title>113 KB</title></head>\n<body>\n")
	for n, x := 1, uint32(1); b.Len() < bigPageSize; n++ {
		fmt.Fprintf(&b, "<p>%d.", n)
		for range 20 {
			x = x*1664525 + 1013904223 // a linear congruence; high bits vary best
			b.WriteString(" " + words[x>>28])
		}
		b.WriteString("</p>\n")
	}
	text := b.String()[:bigPageSize-len(end)]
	// The cut may have hit a tag; blanks up to the end are harmless.
	cut := strings.LastIndex(text, "<p>")
	return []byte(text[:cut] + strings.Repeat(" ", len(text)-cut) + end)
}

func notFound(a *answer, r *request) error {
	return a.text(404, typeText, []byte("404: nothing at "+escape(r.uri)+"\n"))
}

func redirect(a *answer, r *request) error {
	return a.text(302, typeText, nil, field{"Location", "/"})
}

// status answers with the status in parameter s.
func status(a *answer, r *request) error {
	n, ok := number(r, "s", 200, 200, 999)
	if !ok {
		return a.text(400, typeText, []byte("400: s must be 200..999\n"))
	}
	var more []field
	switch n {
	case 204, 205, 304:
		a.start(int(n))
		return nil
	case 301, 302, 303, 307, 308:
		more = []field{{"Location", "/"}}
	case 401:
		more = []field{{"WWW-Authenticate", `Basic realm="jkd demo"`}}
	}
	return a.text(int(n), typeText, []byte("status "+strconv.FormatInt(n, 10)+"\n"), more...)
}

// number reads a decimal parameter; ok is false if it is there and not a
// number from lo to hi.
func number(r *request, name string, without, lo, hi int64) (n int64, ok bool) {
	v, there := r.param(name)
	if !there {
		return without, true
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil && n >= lo && n <= hi
}

// escape makes any bytes fit for a line of text: what isn't printable ASCII,
// and % and +, becomes %XX.
func escape(b []byte) string {
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c < ' ' || c > '~' || c == '%' || c == '+' {
			out = append(out, '%', hex[c>>4], hex[c&15])
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
