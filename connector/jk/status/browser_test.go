package status

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"jkd/connector/connectortest"
)

// site serves the status worker and pages that look at it, or attack it.
type site struct {
	mu      sync.Mutex
	rig     *rig
	answers []string // to requests that would change something
}

func (s *site) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(io.LimitReader(q.Body, MaxBody+1))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.rig.in
	in.Method, in.Query, in.Body, in.ContentType = q.Method, []byte(q.URL.RawQuery), body, q.Header.Get("Content-Type")
	in.Host, in.Origin, in.SecFetchSite = q.Host, q.Header.Get("Origin"), q.Header.Get("Sec-Fetch-Site")
	out := Serve(in, s.rig, s.rig.config)
	if parsed, _ := ParseQuery(in.Query, body); parsed.Cmd.Changes() {
		s.answers = append(s.answers, fmt.Sprintf("%s %s %s: %d", q.Method, parsed.Cmd, in.SecFetchSite, out.Status))
	}
	framed := q.URL.Path == "/framed" // so that a test can look into it
	for _, f := range out.Fields {
		if !framed || f.Name != "X-Frame-Options" && f.Name != "Content-Security-Policy" {
			w.Header().Set(f.Name, f.Value)
		}
	}
	w.Header().Set("Content-Type", out.ContentType)
	w.WriteHeader(out.Status)
	_, _ = w.Write(out.Body) // the browser may be gone
}

// serve begins a server with the status worker at every path but those of
// pages.
func (s *site) serve(t *testing.T, pages map[string]string) string {
	mux := http.NewServeMux()
	mux.Handle("/", s)
	for path, text := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, text)
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.URL
}

// The page loads nothing that its own policy forbids, and its style is in
// force.
func TestBrowserPolicy(t *testing.T) {
	s := &site{rig: newRig()}
	dom, messages := connectortest.Browse(t, "1400,900", s.serve(t, nil)+"/?cmd=list")
	if !strings.Contains(dom, "JK Status Manager") {
		t.Errorf("document %s", dom)
	}
	if strings.Contains(messages, "Content Security Policy") || strings.Contains(messages, "CONSOLE") {
		t.Errorf("the browser says %s", messages)
	}
}

// On a phone nothing is wider than the screen, and the text of a page is as
// wide as that.
func TestBrowserPhone(t *testing.T) {
	const look = `<!DOCTYPE html><title>x</title><body><script>
const out = document.createElement('p'); out.id = 'out';
async function main() {
  for (const q of ['cmd=list', 'cmd=show&w=cart', 'cmd=show&w=parked', 'cmd=edit&w=cart', 'cmd=edit&w=cart&sw=elm', 'cmd=dump', 'cmd=version', 'cmd=show&w=nobody'])
    for (const width of [360, 390, 700, 1400]) {
      const f = document.createElement('iframe');
      f.style.width = width + 'px'; f.style.height = '800px'; f.style.border = 0;
      const loaded = new Promise(r => f.onload = r);
      f.src = '/framed?' + q; document.body.append(f); await loaded;
      const d = f.contentDocument;
      d.querySelectorAll('details').forEach(x => x.open = true);
      const e = d.documentElement;
      out.textContent += '[' + q + ' ' + width + ': ' + e.scrollWidth + '/' + e.clientWidth + ' ' + f.contentWindow.getComputedStyle(d.body).fontSize + ']';
      f.remove();
    }
  out.textContent += ' done';
}
document.body.append(out); main();
</script>`
	s := &site{rig: newRig()}
	dom, _ := connectortest.Browse(t, "1500,900", s.serve(t, map[string]string{"/look": look})+"/look")
	_, seen, _ := strings.Cut(dom, `id="out">`)
	if !strings.Contains(seen, " done") {
		t.Fatalf("document %s", dom)
	}
	all := regexp.MustCompile(`\[(.*?): (\d+)/(\d+) (\d+)px\]`).FindAllStringSubmatch(seen, -1)
	if len(all) != 8*4 {
		t.Errorf("%d pages were seen: %s", len(all), seen)
	}
	for _, m := range all {
		if m[2] != m[3] || m[4] != "15" {
			t.Errorf("page %s is %s wide on a screen of %s, with letters of %s", m[1], m[2], m[3], m[4])
		}
	}
}

// The page's own forms and buttons work.
func TestBrowserForms(t *testing.T) {
	const click = `<!DOCTYPE html><title>x</title><body><script>
async function main() {
  for (const [page, ...buttons] of [
    ['cmd=list', 'button[aria-label="Reset elm"]'],
    ['cmd=show&w=cart', 'button[aria-label="Try recovery elm"]'],
    ['cmd=edit&w=cart', '#vls', '.edit button'],
  ]) {
    const f = document.createElement('iframe');
    const load = () => new Promise(r => f.onload = r);
    let loaded = load();
    f.src = '/framed?' + page; document.body.append(f); await loaded;
    loaded = load();
    for (const b of buttons) f.contentDocument.querySelector(b).click();
    await loaded;
  }
}
main();
</script>`
	s := &site{rig: newRig()}
	s.rig.in.Token = "" // so that only the browser's own word counts
	connectortest.Browse(t, "1400,900", s.serve(t, map[string]string{"/click": click})+"/click")
	s.check(t, "reset cart/elm 1935831600, recover cart/elm, update cart/: sticky_session=False",
		"POST reset same-origin: 200, POST recover same-origin: 200, POST update same-origin: 200")
}

// A picture and a form of another site change nothing.
func TestBrowserAttack(t *testing.T) {
	s := &site{rig: newRig()}
	url := s.serve(t, nil)
	evil := (&site{rig: newRig()}).serve(t, map[string]string{
		"/evil": `<!DOCTYPE html><title>x</title><body><form method="post" action="` + url + `/"><input name="cmd" value="reset"><input name="w" value="cart"></form>
<img src="` + url + `/?cmd=reset&amp;w=cart"><script>onload = () => document.forms[0].submit()</script>`,
	})
	connectortest.Browse(t, "1400,900", evil+"/evil")
	s.check(t, "", "GET reset same-site: 403, POST reset same-site: 403")
}

// check compares what was done and answered.
func (s *site) check(t *testing.T, calls, answers string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.rig.calls, ", "); got != calls {
		t.Errorf("did %q, want %q", got, calls)
	}
	if got := strings.Join(s.answers, ", "); got != answers {
		t.Errorf("answers %q, want %q", got, answers)
	}
}
