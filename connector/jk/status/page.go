package status

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// literal is HTML that stands in this package. Constants convert to it by
// themselves and nothing else does, so that what comes from outside can get
// into a page through [page.text] only.
type literal string

// page is an HTML document being written. It needs no package of templates: a
// child that is never asked for a page does not carry one.
type page struct{ b []byte }

func (p *page) put(parts ...literal) {
	for _, l := range parts {
		p.b = append(p.b, l...)
	}
}

// text writes a text, also within an attribute between double quotes.
func (p *page) text(s string) { p.b = markup(p.b, s) }

func (p *page) number(n int) { p.b = strconv.AppendInt(p.b, int64(n), 10) }

// link writes a link; class may be "".
func (p *page) link(class literal, href string, label literal) {
	p.put(`<a`)
	if class != "" {
		p.put(` class="`, class, `"`)
	}
	p.put(` href="`)
	p.text(href)
	p.put(`">`, label, `</a>`)
}

// hidden writes a parameter of a form.
func (p *page) hidden(name literal, value string) {
	p.put(`<input type="hidden" name="`, name, `" value="`)
	p.text(value)
	p.put(`">`)
}

//go:embed style.css
var style string

// styleHash lets the page's own style pass its own Content-Security-Policy.
var styleHash = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})

// pageFields are the header fields of an HTML page: it loads nothing but its
// style, sends forms to its own server only, and is shown in nobody's frame.
//
// Referrer-Policy is not no-referrer, for that would make browsers hide the
// origin of the page's own forms.
func pageFields(css string) []Field {
	src := styleHash()
	if css != "" {
		src = styleSource(css)
	}
	return []Field{
		{Name: "Content-Security-Policy", Value: "default-src 'none'; style-src " + src + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
		{Name: "X-Frame-Options", Value: "DENY"},
		{Name: "Referrer-Policy", Value: "same-origin"},
	}
}

// styleSource is where a style sheet comes from, in the words of a policy.
func styleSource(css string) string {
	u, err := url.Parse(css)
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") {
		return "'self'"
	}
	switch u.Scheme {
	case "":
		return u.Host // either scheme
	case "http", "https":
		return u.Scheme + "://" + u.Host
	}
	return "'self'"
}

// href is a link to a command that keeps how the pages are shown.
func (s *service) href(cmd Cmd, w, sw string, more ...string) string {
	return s.hrefWith(s.query.Options, cmd, w, sw, more...)
}

func (s *service) hrefWith(opt Options, cmd Cmd, w, sw string, more ...string) string {
	var b strings.Builder
	add := func(name, value string) {
		if value == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name + "=" + url.QueryEscape(value))
	}
	add("cmd", cmd.String())
	add("w", w)
	add("sw", sw)
	for i := 0; i+1 < len(more); i += 2 {
		add(more[i], more[i+1])
	}
	if opt != 0 {
		add("opt", strconv.Itoa(int(opt)))
	}
	if s.query.Refresh > 0 && (cmd == List || cmd == Show) {
		add("re", strconv.Itoa(s.query.Refresh))
	}
	return "?" + b.String()
}

// here are the parameters that lead back to this page.
func (s *service) here() []string {
	if s.query.Cmd != Show {
		return nil
	}
	return []string{"from", Show.String(), "psw", s.query.SW}
}

// back is the page that the command came from.
func (s *service) back() string {
	if s.query.From == Show {
		psw, _ := s.query.param("psw")
		return s.href(Show, s.query.W, psw)
	}
	return s.href(List, "", "")
}

// How the page writes numbers.

const none = "none"

func millisText(d time.Duration) string {
	if d == 0 {
		return none
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
}

func secondsText(d time.Duration) string {
	if d == 0 {
		return none
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + " s"
}

func limitText(n int) string {
	if n == 0 {
		return none
	}
	return strconv.Itoa(n)
}

func countText(n uint64) string { return strconv.FormatUint(n, 10) }

// sizeText is a number of bytes in three or four characters and a letter.
func sizeText(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10)
	}
	f, unit := float64(n), ""
	for _, unit = range []string{"K", "M", "G", "T", "P", "E"} {
		if f /= 1024; f < 1000 {
			break
		}
	}
	digits := 1
	if f >= 10 {
		digits = 0
	}
	return strconv.FormatFloat(f, 'f', digits, 64) + unit
}

// agoText is a time since, with its two greatest units.
func agoText(sec int64) string {
	part := func(n int64, unit string) string { return strconv.FormatInt(n, 10) + unit }
	switch m, h, d := sec/60, sec/3600, sec/86400; {
	case d > 0:
		return part(d, "d") + " " + part(h%24, "h")
	case h > 0:
		return part(h, "h") + " " + part(m%60, "m")
	case m > 0:
		return part(m, "m") + " " + part(sec%60, "s")
	}
	return part(sec, "s")
}

func (s *service) sinceText(at int64) string {
	if at <= 0 {
		return "never"
	}
	return agoText(ago(at, s.in.Now))
}

// rateText is how many there were in a second since the last reset.
func (s *service) rateText(n uint64, since int64) string {
	sec := ago(since, s.in.Now)
	if since <= 0 || sec == 0 || n < uint64(sec) {
		return ""
	}
	return sizeText(n/uint64(sec)) + "/s"
}

const htmlTime = "2006-01-02 15:04:05 -0700"

func (s *service) timeText(at int64) string {
	if at <= 0 {
		return ""
	}
	return time.Unix(at, 0).In(s.in.Now.Location()).Format(htmlTime)
}
