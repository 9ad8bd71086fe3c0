package status

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

// checkOutput fails if an answer is not what its type says.
func checkOutput(t *testing.T, out *Output) {
	t.Helper()
	if bytes.Contains(out.Body, []byte(theSecret)) {
		t.Fatal("the secret is in the answer")
	}
	body := string(out.Body)
	switch {
	case strings.HasPrefix(out.ContentType, "text/xml"):
		checkXML(t, body)
	case strings.HasPrefix(out.ContentType, "text/html"):
		checkHTML(t, body)
	default:
		for line := range strings.Lines(body) {
			line, ended := strings.CutSuffix(line, "\n")
			if !ended || plain(line) != line {
				t.Fatalf("line %q", line)
			}
		}
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, ok := tok.(xml.StartElement); ok {
			used := map[string]bool{}
			for _, a := range e.Attr {
				if used[a.Name.Local] {
					t.Fatalf("attribute %q twice", a.Name.Local)
				}
				used[a.Name.Local] = true
			}
		}
	}
}

var (
	tagForm   = regexp.MustCompile(`^<(/?)([a-z][a-z0-9]*)((?: [a-z][a-z0-9-]*(?:="[^"<>]*")?)*)>$`)
	attrForm  = regexp.MustCompile(` ([a-z][a-z0-9-]*)(?:="([^"<>]*)")?`)
	reference = regexp.MustCompile(`&(?:[a-z]+|#[0-9]+|#x[0-9A-Fa-f]+);`)
	void      = regexp.MustCompile(`^(?:meta|link|input|br|hr|img)$`)
)

type tag struct {
	name  string
	attrs map[string]string
}

// checkHTML is a strict reader of the HTML that this package writes: every tag
// is closed in order, all values are quoted, text has no stray markup, ids are
// unique, every control has a label, heads of tables have a scope.
func checkHTML(t *testing.T, text string) {
	t.Helper()
	text, ok := strings.CutPrefix(text, "<!DOCTYPE html>\n")
	if !ok {
		t.Fatal("no DOCTYPE")
	}
	if _, rest, found := strings.Cut(text, "<style>"); found && strings.HasPrefix(rest, style) {
		text = strings.Replace(text, style, "", 1)
	}
	tags, err := readHTML(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	ids, labelled := map[string]bool{}, map[string]bool{}
	for _, g := range tags {
		if id, ok := g.attrs["id"]; ok {
			if ids[id] {
				t.Fatalf("id %q twice", id)
			}
			ids[id] = true
		}
		if g.name == "label" {
			labelled[g.attrs["for"]] = true
		}
	}
	for _, g := range tags {
		kind := g.attrs["type"]
		switch g.name {
		case "script", "iframe", "img", "object", "embed", "base":
			t.Fatalf("element %s", g.name)
		case "th":
			if g.attrs["scope"] == "" {
				t.Fatal("th without scope")
			}
		case "select", "input":
			if kind != "hidden" && g.attrs["name"] != "re" && !labelled[g.attrs["id"]] {
				t.Fatalf("control %v has no label", g.attrs)
			}
		case "form":
			if g.attrs["action"] != "?" {
				t.Fatalf("form with action %q", g.attrs["action"])
			}
		case "a":
			if h := g.attrs["href"]; !strings.HasPrefix(h, "?") && !strings.HasPrefix(h, "#") {
				t.Fatalf("link to %q", h)
			}
		case "button":
			if form := g.attrs["form"]; form != "" && !ids[form] {
				t.Fatalf("button of a form %q that is not there", form)
			}
		}
		for name := range g.attrs {
			if strings.HasPrefix(name, "on") || name == "style" {
				t.Fatalf("attribute %s", name)
			}
		}
	}
}

func readHTML(text string) (tags []tag, err error) {
	var open []string
	for text != "" {
		t, rest, more := strings.Cut(text, "<")
		if strings.Contains(t, ">") || strings.Count(t, "&") != len(reference.FindAllString(t, -1)) {
			return nil, errors.New("no text: " + t)
		}
		if !more {
			break
		}
		t, text, more = strings.Cut(rest, ">")
		m := tagForm.FindStringSubmatch("<" + t + ">")
		if m == nil || !more {
			return nil, errors.New("no tag: " + t)
		}
		switch {
		case m[1] != "":
			if len(open) == 0 || open[len(open)-1] != m[2] {
				return nil, errors.New("end of " + m[2] + " in " + strings.Join(open, " "))
			}
			open = open[:len(open)-1]
			continue
		case !void.MatchString(m[2]):
			open = append(open, m[2])
		}
		g := tag{m[2], map[string]string{}}
		for _, a := range attrForm.FindAllStringSubmatch(m[3], -1) {
			if _, twice := g.attrs[a[1]]; twice {
				return nil, errors.New("attribute " + a[1] + " twice")
			}
			g.attrs[a[1]] = a[2]
		}
		tags = append(tags, g)
	}
	if len(open) > 0 {
		return nil, errors.New("never ended: " + strings.Join(open, " "))
	}
	return tags, nil
}

// The checker itself finds what it is there for.
func TestReadHTML(t *testing.T) {
	for text, ok := range map[string]bool{
		`<p>a &amp; b &#39; "c"</p>`:      true,
		`<p><b>a</p></b>`:                 false,
		`<p>`:                             false,
		`</p>`:                            false,
		`<p>a & b</p>`:                    false,
		`<p>a < b</p>`:                    false,
		`<p>a > b</p>`:                    false,
		`<p class=a></p>`:                 false,
		`<p class="a" class="b"></p>`:     false,
		`<p title="<b>"></p>`:             false,
		`<input type="checkbox" checked>`: true,
	} {
		if _, err := readHTML(text); (err == nil) != ok {
			t.Errorf("readHTML(%s): %v", text, err)
		}
	}
}

// hostileTexts are names and values that try to be more than that.
var hostileTexts = []string{
	`<script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)`,
	`</style></title><script>`,
	"a\r\nSet-Cookie: b=c\nworker.result.type=OK",
	"nul\x00 esc\x1b[31m del\x7f csi\u009b",
	"\xff\xfe broken \xc3",
	"\u202egnp.exe \u2028 \ufffe",
	`a&b;c=d&lt;`,
	`back\slash\`,
	`javascript:alert(1)`,
	"]]>--><!--",
	"$(reboot) `x` %s%n",
}

func hostileView(h string) View {
	v := sample()
	b := &v.Balancers[0]
	b.Name = h
	for i := range b.Members {
		m := &b.Members[i]
		m.Name, m.Type, m.Host, m.Address, m.Source, m.Route, m.Redirect, m.Domain = h, h, h, h, h, h, h, h
	}
	for i := range b.Maps {
		m := &b.Maps[i]
		m.Server, m.URI, m.FailOnStatus, m.Active, m.DisabledMembers, m.Stopped = h, h, h, h, h, h
	}
	v.AJP[0].Name, v.AJP[0].Host, v.AJP[0].Source = h, h, h
	v.Software = Software{h, h}
	v.Configuration = append(v.Configuration, Pair{h, h}, Pair{"xmlns", h})
	return v
}

func TestHostileTexts(t *testing.T) {
	for _, h := range hostileTexts {
		for _, mime := range mimeNames {
			for _, query := range []string{"cmd=list", "cmd=dump", "cmd=version",
				"cmd=show&w=W", "cmd=show&w=W&sw=W", "cmd=edit&w=W", "cmd=edit&w=W&sw=W", "cmd=edit&w=W&att=vwn", "cmd=show&w=not+W", "cmd=W", "cmd=show&w=cart&sw=W",
				"cmd=reset&w=W", "cmd=update&w=W&sw=W&vwf=7&vahst=W&vwc=W", "cmd=recover&w=W&sw=W", "cmd=edit&w=lonely&from=show&psw=W&att=W", "cmd=list&re=5&opt=32"} {
				r := newRig()
				r.view = func() View { return hostileView(h) }
				r.in.ServerName, r.in.RemoteUser, r.in.Token = h, h, token
				r.config.CSS, r.config.Name = h, h
				if mime == "prop" {
					r.config.Prefix = h
				}
				for _, with := range []error{nil, errors.New(h)} {
					if with != nil && !strings.Contains(query, "vwf") && !strings.Contains(query, "reset") {
						continue // only these have an error of the control in the answer
					}
					r.refuse = with
					out := r.get(strings.ReplaceAll(query, "W", escape(h)) + "&token=" + token + "&mime=" + mime)
					checkOutput(t, &out)
					for _, f := range out.Fields {
						if plain(f.Value) != f.Value {
							t.Errorf("%s: %q", f.Name, f.Value)
						}
					}
				}
				for _, line := range r.log {
					if plain(line) != line {
						t.Errorf("line of the log %q", line)
					}
				}
			}
		}
	}
}

// escape is for a query.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + string("0123456789ABCDEF"[s[i]>>4]) + string("0123456789ABCDEF"[s[i]&15]))
	}
	return b.String()
}

func TestAllPagesAreWellFormed(t *testing.T) {
	for _, pg := range pages {
		for _, mime := range mimeNames {
			for _, opt := range []string{"0", "1", "2", "4", "8", "16", "24", "32", "64", "128", "256", "511"} {
				r := newRig()
				out := r.get(pg.query + "&re=10&mime=" + mime + "&opt=" + opt)
				checkOutput(t, &out)
			}
		}
	}
}
