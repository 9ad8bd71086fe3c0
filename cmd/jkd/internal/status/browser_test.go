package status

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector/connectortest"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

var pictures = flag.String("pictures", "", "directory in which pictures of the page are kept")

// dark makes the browser prefer dark pages.
const dark = "--blink-settings=preferredColorScheme=0"

// busyStatus is a server with work, and a back end that is away.
func busyStatus() *Status {
	s := sampleStatus()
	now := s.Server.Now
	s.Totals.Accesses, s.Totals.Bytes, s.Totals.Duration = 9412345, 214<<30, 97000*time.Second
	s.Totals.CPU = scoreboard.Times{User: 910 * time.Second, System: 402 * time.Second, ChildrenUser: 7215 * time.Second, ChildrenSystem: 3120 * time.Second}
	s.Server.Load = [3]float64{1.42, 1.1, 0.87}
	s.Limits = Limits{ServerLimit: 16, ThreadLimit: 16, ThreadsPerChild: 16, MaxRequestWorkers: 128}
	s.Children, s.Slots, s.Workers[0].Requests = nil, nil, [counters.NumClasses]uint64{counters.Class2xx: 5310, counters.Class3xx: 120, counters.Class4xx: 44}
	s.Totals.Busy, s.Totals.Graceful, s.Totals.Idle = 0, 0, 0
	does := []scoreboard.Status{scoreboard.Ready, scoreboard.BusyWrite, scoreboard.KeepAlive, scoreboard.Ready, scoreboard.BusyWrite, scoreboard.BusyRead, scoreboard.Ready,
		scoreboard.KeepAlive, scoreboard.Ready, scoreboard.Ready, scoreboard.Logging, scoreboard.Ready, scoreboard.Closing}
	for server := range 8 {
		c := Child{Server: server, PID: 20431 + 17*server, Generation: 3, Started: now.Add(-time.Duration(server*17+3) * time.Minute), CPU: time.Duration(server*3170+811) * time.Millisecond, Accesses: uint64(4000 - 311*server)}
		if server == 6 {
			c.Generation, c.Quiescing = 2, true
		}
		for thread := range 16 {
			x := Slot{Server: server, Thread: thread, PID: c.PID, Generation: c.Generation, Current: server != 6, Status: does[(server*5+thread*thread)%len(does)]}
			switch {
			case server == 7 && thread < 5:
				x.Status = scoreboard.Starting
			case server == 7:
				x.Status = scoreboard.Dead
			case server == 6 && thread%3 > 0:
				x.Status = scoreboard.Graceful
			}
			if server < 2 && x.Status > scoreboard.Starting && thread < 9 {
				x.ConnAccesses, x.ChildAccesses, x.SlotAccesses = uint64(thread), uint64(220+thread), uint64(1420+7*thread)
				x.ConnBytes, x.ChildBytes, x.SlotBytes = uint64(thread*7019), uint64(3+thread)<<19, uint64(9+thread)<<21
				x.CPU, x.SinceLastUsed, x.LastRequest, x.Duration = c.CPU, time.Duration(thread)*time.Second, time.Duration(thread*3+1)*time.Millisecond, time.Duration(thread+4)*time.Minute
				x.Client, x.Protocol, x.VHost = fmt.Sprintf("192.0.2.%d", 17+thread*11), "http/1.1", "www.example.com:80"
				x.Request = []string{"GET /shop/cart.jsp HTTP/1.1", "GET /shop/images/logo.png HTTP/1.1", "POST /shop/order HTTP/1.1"}[thread%3]
			}
			switch {
			case x.Status == scoreboard.Ready:
				c.Idle++
			case x.Status == scoreboard.Graceful:
				s.Totals.Graceful++
			case x.Status > scoreboard.Ready:
				c.Busy++
			}
			s.Slots = append(s.Slots, x)
		}
		s.Totals.Busy += c.Busy
		s.Totals.Idle += c.Idle
		if server < 7 {
			for i, w := range []string{"tomcat1", "tomcat2", "tomcat3"} {
				c.Caches = append(c.Caches, Cache{w, counters.Cache{Hits: uint64(1400 - 90*server - i*330), Misses: uint64(12 + server + i), Opened: uint64(12 + server + i), Refused: uint64(i / 2 * (server % 2)),
					Closed: [counters.NumCloseReasons]uint64{counters.ClosedAge: uint64(7 + server)}, Idle: 5 + i, Busy: (server + i) % 4, Oldest: now.Add(-time.Duration(40+server*31) * time.Second)}})
			}
		}
		s.Children = append(s.Children, c)
	}
	s.Workers = s.Workers[:1]
	for i, name := range []string{"tomcat1", "tomcat2", "tomcat3"} {
		w := Worker{Name: name, Connector: "jk", Totals: counters.Totals{
			Requests: [counters.NumClasses]uint64{counters.Class2xx: uint64(41200 - 9100*i), counters.Class3xx: 310, counters.Class4xx: 52, counters.Class5xx: uint64(i / 2 * 38), counters.Aborted: 7},
			Duration: time.Duration(700+i*390) * time.Second, Bytes: uint64(3-i) << 29, Errors: uint64(i / 2 * 21),
			Cache: counters.Cache{Hits: uint64(40100 - 9000*i), Misses: 250, Opened: 250, Refused: uint64(i), Idle: 35 + i, Busy: 11 - i,
				Closed: [counters.NumCloseReasons]uint64{counters.ClosedAge: 61, counters.ClosedError: uint64(i / 2 * 21), counters.ClosedIdle: 88, counters.ClosedOverflow: 4}},
		}}
		for k := range w.Durations {
			w.Durations[k] = uint64(9000 * math.Exp(-math.Pow(float64(k)-4.2-float64(i), 2)/5))
		}
		s.Workers = append(s.Workers, w)
	}
	s.Balancers[0].Members = []Member{
		{Name: "tomcat1", Address: "10.0.3.11:8009", Activation: "ACT", State: "OK", Factor: 2, Elected: 41569, Busy: 11},
		{Name: "tomcat2", Address: "10.0.3.12:8009", Activation: "ACT", State: "OK", Factor: 1, Elected: 32469, Errors: 2, Busy: 10, LastError: now.Add(-26 * time.Hour)},
		{Name: "tomcat3", Address: "10.0.3.13:8009", Activation: "ACT", State: "ERR", Sick: true, Factor: 1, Elected: 23407, Errors: 21, LastError: now.Add(-41 * time.Second)},
		{Name: "tomcat4", Address: "10.0.3.14:8009", Activation: "DIS", State: "OK/IDLE", Factor: 1},
	}
	s.History = nil
	for i := range counters.HistorySeconds {
		wave := 1 + .35*math.Sin(float64(i)/29) + .18*math.Sin(float64(i)/4.7) + .1*math.Sin(float64(i*i))
		n := 140 * wave
		latency := 9 + 3*math.Sin(float64(i)/23) + 2*math.Sin(float64(i*i))
		if i > 255 {
			n, latency = n*.7, latency*2.6
		}
		s.History = append(s.History, counters.Second{Unix: now.Unix() - counters.HistorySeconds + 1 + int64(i), Requests: uint64(n), Duration: time.Duration(n * latency * float64(time.Millisecond)),
			Errors: uint64(i / 259 * (i % 2)), Busy: int(n / 4), Idle: 60})
	}
	return s
}

// site serves the page: at /framed so that another page may look into it, with
// more accesses each time, and told to refresh itself with ?refresh.
type site struct {
	mu    sync.Mutex
	asked []string
}

func (s *site) serve(t *testing.T, look string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/look", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>look</title><style>body{margin:0}iframe{border:0}</style><body><script>"+look+"</script>") // the browser may be gone
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, q.URL.RequestURI())
		n := len(s.asked)
		s.mu.Unlock()
		v := busyStatus()
		v.Server.Extended = q.URL.RawQuery != "off"
		v.Totals.Accesses += uint64(n)
		v.Workers[1].Name = fmt.Sprintf("tomcat1 seen %d", n)
		o := HTMLOptions{NoTable: strings.Contains(q.URL.RawQuery, "notable")}
		if strings.Contains(q.URL.RawQuery, "refresh") {
			o.Refresh = 1
			w.Header().Set("Refresh", "1")
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if q.URL.Path != "/framed" {
			w.Header().Set("Content-Security-Policy", ContentSecurityPolicy())
		}
		var b bytes.Buffer
		if err := WriteHTML(&b, v, o); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(b.Bytes()) // the browser may be gone
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux}}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.URL
}

func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(a string) bool { return a == "/favicon.ico" })
}

// found is what the script of a look has written, up to its end.
func found(t *testing.T, dom string) string {
	t.Helper()
	_, out, _ := strings.Cut(dom, `id="out">`)
	out, _, ok := strings.Cut(out, " done")
	if !ok {
		t.Fatalf("the look at the page has not come to its end: %.4000s", out+dom)
	}
	return out
}

const lookBegin = `
const out = document.createElement('pre'); out.id = 'out'; document.body.append(out);
const say = (...words) => { out.textContent += '[' + words.join(' ') + ']'; };
const wait = ms => new Promise(r => setTimeout(r, ms));
const open = async (url, width) => {
  const f = document.createElement('iframe');
  f.style.width = width + 'px'; f.style.height = '800px';
  const loaded = new Promise(r => f.onload = r);
  f.src = url; document.body.append(f); await loaded;
  return f;
};
`

// With its own policy the page has its style and its script, and nothing is
// refused; it replaces what has changed without being loaded anew.
func TestBrowserPolicy(t *testing.T) {
	s := &site{}
	dom, messages := connectortest.Browse(t, "1400,900", s.serve(t, "")+"/#refresh=1")
	if strings.Contains(messages, "Content Security Policy") || strings.Contains(messages, "CONSOLE") {
		t.Errorf("the browser says %s", messages)
	}
	asked := s.requests()
	if len(asked) < 2 || !strings.Contains(dom, "seen ") || strings.Contains(dom, "seen 1<") {
		t.Errorf("asked %q", asked)
	}
}

// A page that was told to refresh itself asks for one that was not, and does
// it in its place.
func TestBrowserRefresh(t *testing.T) {
	s := &site{}
	_, messages := connectortest.Browse(t, "1400,900", s.serve(t, "")+"/?notable&refresh=1")
	if strings.Contains(messages, "CONSOLE") {
		t.Errorf("the browser says %s", messages)
	}
	if asked := s.requests(); len(asked) < 3 || asked[0] != "/?notable&refresh=1" || asked[1] != "/?notable" || asked[2] != "/?notable" {
		t.Errorf("asked %q", asked)
	}
}

// Only the tables scroll sideways, and every text can be read on what is
// behind it.
func TestBrowserLayout(t *testing.T) {
	const look = lookBegin + `
const channel = c => { c /= 255; return c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
const light = c => .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]);
const over = (c, b) => [0, 1, 2].map(i => c[i] * c[3] + b[i] * (1 - c[3])).concat(1);
async function main() {
  for (const q of ['', '?notable', '?off'])
    for (const width of [360, 700, 1400]) {
      const f = await open('/framed' + q, width);
      const w = f.contentWindow, d = f.contentDocument, e = d.documentElement;
      say('width', q, width, e.scrollWidth, e.clientWidth);
      const behind = n => {
        if (!n) return [255, 255, 255, 1];
        const c = parse(w.getComputedStyle(n).backgroundColor);
        return c[3] === 1 ? c : over(c, behind(n.parentElement));
      };
      let least = 99, where = '', n = 0;
      for (const x of d.body.querySelectorAll('*')) {
        if (![...x.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()) || x.closest('script,svg')) continue;
        const b = behind(x), c = over(parse(w.getComputedStyle(x).color), b);
        const [hi, lo] = [light(b), light(c)].sort((p, q) => q - p);
        const ratio = (hi + .05) / (lo + .05);
        n++;
        if (ratio < least) { least = ratio; where = x.tagName + '.' + x.className; }
      }
      say('contrast', q, width, least.toFixed(2), where.replaceAll(' ', '.'), n);
      for (const x of d.querySelectorAll('[aria-labelledby]'))
        for (const id of x.getAttribute('aria-labelledby').split(' ')) if (!d.getElementById(id)) say('label', id, 'is not there');
      const ids = [...d.querySelectorAll('[id]')].map(x => x.id);
      if (new Set(ids).size !== ids.length) say('label', 'twice:', ids.filter((x, i) => ids.indexOf(x) !== i));
      if (d.querySelectorAll('[data-live]:not([id])').length) say('label', 'live without id');
      if (w.getComputedStyle(d.body).backgroundColor !== 'rgb(255, 255, 255)') say('dark');
      f.remove();
    }
  out.textContent += ' done';
}
main();`
	for name, flags := range map[string][]string{"light": nil, "dark": {dark}} {
		dom, _ := connectortest.Browse(t, "1500,900", (&site{}).serve(t, look)+"/look", flags...)
		seen := found(t, dom)
		widths := regexp.MustCompile(`\[width \S* (\d+) (\d+) (\d+)\]`).FindAllStringSubmatch(seen, -1)
		contrasts := regexp.MustCompile(`\[contrast \S* (\d+) ([\d.]+) (\S+) (\d+)\]`).FindAllStringSubmatch(seen, -1)
		if len(widths) != 9 || len(contrasts) != 9 || strings.Contains(seen, "[label") || strings.Count(seen, "[dark]") != 9*len(flags) {
			t.Errorf("%s: %s", name, seen)
		}
		for _, m := range widths {
			if m[2] != m[3] {
				t.Errorf("%s: a page is %s wide on a screen of %s", name, m[2], m[3])
			}
		}
		for _, m := range contrasts {
			if ratio, _ := strconv.ParseFloat(m[2], 64); ratio < 4.5 {
				t.Errorf("%s: %s on %s px has a contrast of %s", name, m[3], m[1], m[2])
			}
			if n, _ := strconv.Atoi(m[4]); n < 100 {
				t.Errorf("%s: only %d texts", name, n)
			}
		}
	}
}

// A heading sorts its table; a refresh keeps the order, where the table is
// scrolled to and what has the focus; pausing stops it.
func TestBrowserSort(t *testing.T) {
	const look = lookBegin + `
async function main() {
  const f = await open('/framed#refresh=1', 500);
  const d = f.contentDocument;
  const table = d.getElementById('workers').closest('table');
  const column = i => [...table.tBodies[0].rows].map(r => r.cells[i].textContent.replace(/ seen.*/, '')).join(',');
  const heads = [...table.tHead.rows[0].cells];
  const press = i => { heads[i].querySelector('button').focus(); heads[i].querySelector('button').click(); };
  const sorts = () => heads.map(h => h.getAttribute('aria-sort') || '').join('');
  say('natural', column(0), sorts());
  press(2); say('down', column(2), sorts());
  press(2); say('up', column(2), sorts());
  press(2); say('natural', column(0), sorts());
  press(0); say('up', column(0), sorts());
  press(0); say('down', column(0), sorts());
  press(10); say('time', column(10), sorts());
  const box = table.parentNode;
  box.scrollLeft = 77;
  const name = () => /seen \d+/.exec(table.textContent)[0];
  const before = name();
  d.querySelector('details').open = true;
  for (let i = 0; i < 100 && name() === before; i++) await wait(100);
  say('refreshed', name() !== before, column(10), sorts(), box.scrollLeft, d.activeElement === heads[10].querySelector('button'), d.querySelector('details').open);
  d.getElementById('pause').click();
  await wait(300);
  const still = name();
  await wait(2500);
  say('paused', name() === still, d.getElementById('pause').textContent, d.getElementById('state').textContent);
  d.getElementById('pause').click();
  for (let i = 0; i < 100 && name() === still; i++) await wait(100);
  say('resumed', name() !== still, d.getElementById('pause').textContent, d.getElementById('state').textContent);
  out.textContent += ' done';
}
main();`
	dom, messages := connectortest.Browse(t, "1500,900", (&site{}).serve(t, look)+"/look", "--virtual-time-budget=30000")
	const want = "[natural -,tomcat1,tomcat2,tomcat3 ][down 41569,32469,23407,5474 descending][up 5474,23407,32469,41569 ascending][natural -,tomcat1,tomcat2,tomcat3 ]" +
		"[up tomcat1,tomcat2,tomcat3,- ascending][down tomcat3,tomcat2,tomcat1,- descending][time 63.2 ms,33.6 ms,16.8 ms,0 ms descending]" +
		"[refreshed true 63.2 ms,33.6 ms,16.8 ms,0 ms descending 77 true true][paused true Resume Paused][resumed true Pause ]"
	if got := found(t, dom); got != want {
		t.Errorf("got  %s\nwant %s\n%s", got, want, messages)
	}
}

// Pictures of the page are kept where -pictures says, and one with -update for
// the README.
func TestBrowserPictures(t *testing.T) {
	if *pictures == "" && !*update {
		t.Skip("no pictures are wanted")
	}
	dir := *pictures
	if dir == "" {
		dir = t.TempDir()
	}
	const phone = lookBegin + `open('/framed' + location.hash.slice(1), 390).then(f => { f.style.height = '3000px'; });`
	url := (&site{}).serve(t, phone)
	for name, x := range map[string]struct {
		size, path string
		flags      []string
	}{
		"readme":   {"1100,570", "/", nil},
		"light":    {"1400,3300", "/", nil},
		"dark":     {"1400,3300", "/", []string{dark}},
		"phone":    {"390,3000", "/look#", nil},
		"dusk":     {"390,3000", "/look#", []string{dark}},
		"notable":  {"1100,3000", "/?notable", nil},
		"extended": {"1100,3000", "/?off", nil},
	} {
		if *pictures == "" && name != "readme" {
			continue
		}
		file := filepath.Join(dir, name+".png")
		connectortest.Browse(t, x.size, url+x.path, append(x.flags, "--screenshot="+file, "--hide-scrollbars", "--disable-lcd-text")...)
		picture, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name == "readme" && *update {
			if len(picture) > 150<<10 {
				t.Errorf("the picture has %d bytes", len(picture))
			}
			if err := os.WriteFile("../../../../docs/status.png", picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
