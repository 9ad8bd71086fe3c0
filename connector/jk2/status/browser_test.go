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

// site serves the page at every path but those of pages.
type site struct {
	mu      sync.Mutex
	f       fake
	answers []string // to requests that would change something
}

func (s *site) serve(t *testing.T, pages map[string]string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		form, err := io.ReadAll(io.LimitReader(q.Body, MaxQuery+1))
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		out := Serve(Input{
			Method: q.Method, Query: []byte(q.URL.RawQuery), Form: form, Host: q.Host,
			Origin: q.Header.Get("Origin"), SecFetchSite: q.Header.Get("Sec-Fetch-Site"),
		}, sample, &s.f)
		if strings.Contains(q.URL.RawQuery+string(form), "set=") {
			s.answers = append(s.answers, fmt.Sprint(q.Method, " ", out.Status))
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
	})
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

// The page loads nothing that its own policy forbids, its style included.
func TestBrowserPolicy(t *testing.T) {
	dom, messages := connectortest.Browse(t, "1400,900", (&site{}).serve(t, nil))
	if !strings.Contains(dom, "jk2 status") || !strings.Contains(dom, "epStat.3") {
		t.Errorf("document %s", dom)
	}
	if strings.Contains(messages, "Content Security Policy") || strings.Contains(messages, "CONSOLE") {
		t.Errorf("the browser says %s", messages)
	}
}

// On a phone only the tables scroll, and the text is as wide as the screen.
func TestBrowserPhone(t *testing.T) {
	const look = `<!DOCTYPE html><title>x</title><body><script>
const out = document.createElement('p'); out.id = 'out';
async function main() {
  for (const q of ['', 'cfgOrig=1', 'scoreboard=1', 'endpoints=1'])
    for (const width of [360, 700, 1400]) {
      const f = document.createElement('iframe');
      f.style.width = width + 'px'; f.style.height = '800px'; f.style.border = 0;
      const loaded = new Promise(r => f.onload = r);
      f.src = '/framed?' + q; document.body.append(f); await loaded;
      const e = f.contentDocument.documentElement;
      out.textContent += '[' + q + ' ' + width + ': ' + e.scrollWidth + '/' + e.clientWidth + ']';
      f.remove();
    }
  out.textContent += ' done';
}
document.body.append(out); main();
</script>`
	dom, _ := connectortest.Browse(t, "1500,900", (&site{}).serve(t, map[string]string{"/look": look})+"/look")
	_, seen, _ := strings.Cut(dom, `id="out">`)
	if !strings.Contains(seen, " done") {
		t.Fatalf("document %s", dom)
	}
	all := regexp.MustCompile(`\[(.*?): (\d+)/(\d+)\]`).FindAllStringSubmatch(seen, -1)
	if len(all) != 4*3 {
		t.Errorf("%d pages were seen: %s", len(all), seen)
	}
	for _, m := range all {
		if m[2] != m[3] {
			t.Errorf("page %s is %s wide on a screen of %s", m[1], m[2], m[3])
		}
	}
}

// The page's own form works; one of another site does not, nor does a picture.
func TestBrowserForms(t *testing.T) {
	s := &site{}
	url := s.serve(t, map[string]string{"/click": `<!DOCTYPE html><title>x</title><body><script>
async function main() {
  const f = document.createElement('iframe');
  const load = () => new Promise(r => f.onload = r);
  let loaded = load();
  f.src = '/framed'; document.body.append(f); await loaded;
  loaded = load();
  f.contentDocument.querySelector('#set').value = 'ajp13:a:8009|lb_factor|3';
  f.contentDocument.querySelector('#set').form.querySelector('button').click();
  await loaded;
}
main();
</script>`})
	connectortest.Browse(t, "1400,900", url+"/click")
	evil := (&site{}).serve(t, map[string]string{
		"/evil": `<!DOCTYPE html><title>x</title><body><form method="post" action="` + url + `/"><input name="set" value="a|b|c"></form>
<img src="` + url + `/?set=a|b|c"><script>onload = () => document.forms[0].submit()</script>`,
	})
	connectortest.Browse(t, "1400,900", evil+"/evil")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.f.did != "set ajp13:a:8009 lb_factor 3." {
		t.Errorf("did %q", s.f.did)
	}
	if got := strings.Join(s.answers, ", "); got != "POST 200, GET 403, POST 403" {
		t.Errorf("answers %s", got)
	}
}
