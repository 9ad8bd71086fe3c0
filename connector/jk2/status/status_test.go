package status

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/connector/jk2/jk2shm"
)

var update = flag.Bool("update", false, "write testdata anew")

func sample() *Model {
	return &Model{
		Software: "jkd/1", Child: 3, Generation: 7,
		Components: []Component{
			{Name: "ajp13:a:8009", Type: "ajp13", Ver: 2, Settable: []string{"lb_factor", "route"}, Invocable: []string{"init", "destroy"},
				Attributes: []Attribute{{"lb_factor", "1"}, {"route", "<b>&"}}},
			{Name: "ajp13:b:8009", Type: "ajp13", Disabled: true, Attributes: []Attribute{{"lb_factor", "3"}, {"route", "x\ny"}}},
			{Name: "status:", Type: "status"},
			{Name: "uri:/x/*", Type: "uri", Debug: 1, Attributes: []Attribute{{"group", "lb:lb"}}},
		},
		Settings: []Setting{{"ajp13:a:8009", "route", "${r}", "<b>&"}, {"ajp13:a:8009", "secretkey", "*", "*"}},
		Caches:   []Cache{{Worker: "ajp13:a:8009", Endpoints: 5, Idle: 3, Connected: 2, Max: 8, Requests: 100, Errors: 1, Hits: 94, Connects: 6, Refused: 2}},
		Board: &jk2shm.View{Version: 9, LastSlot: 4, Slots: []jk2shm.Slot{
			{Name: "epStat.1", Server: 1, Size: 8096, StructSize: 128, Cnt: 1, Records: []jk2shm.Record{{Requests: 10, Errors: 2, Active: "/x/<i>", Connected: 1e15, Total: 24e3, Max: 9e3, Start: 1e15, JkStart: 1e15 + 1000, End: 1e15 + 5000}}},
			{Name: "epStat.3", Server: 3, Size: 8096, StructSize: 128, Cnt: 2, Records: []jk2shm.Record{{Requests: 1, Worker: 1, Torn: true}, {}}},
		}},
	}
}

// fake remembers what it was told to change.
type fake struct {
	did string
	err error
}

func (f *fake) Set(c, p, v string) error { f.did += "set " + c + " " + p + " " + v + "."; return f.err }
func (f *fake) Invoke(c, m string) error { f.did += "invoke " + c + " " + m + "."; return f.err }
func (f *fake) Reload() error            { f.did += "reload."; return f.err }
func (f *fake) Reset() error             { f.did += "reset."; return f.err }

func serve(in Input, f *fake) Output {
	in.ServerName = "www.example.test"
	return Serve(in, sample, f)
}

func TestPages(t *testing.T) {
	for name, query := range map[string]string{
		"default.html": "", "cfgorig.html": "cfgOrig=1", "cfgparsed.html": "cfgParsed=1", "scoreboard.html": "scoreboard=1", "endpoints.html": "endpoints=1",
		"lst.txt": "lst=*", "dmp.txt": "dmp=*", "dmp-one.txt": "dmp=uri:/x/%2A", "dmp-prefix.txt": "dmp=ajp13:a*", "qry.txt": "qry=*", "all.json": "mime=json",
	} {
		out := serve(Input{Method: "GET", Query: []byte(query), Token: "0123"}, nil)
		if out.Status != 200 {
			t.Errorf("%s: %d", name, out.Status)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, out.Body, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if string(out.Body) != string(want) {
			t.Errorf("%s: got\n%s", name, out.Body)
		}
		if strings.HasSuffix(name, ".html") && (strings.Contains(string(out.Body), "<b>") || strings.Contains(string(out.Body), "<i>")) {
			t.Errorf("%s: a value is taken for markup", name)
		}
	}
	var d Document
	if err := json.Unmarshal(serve(Input{Method: "GET", Query: []byte("mime=json")}, nil).Body, &d); err != nil || d.Schema != Schema || d.Scoreboard.Requests != 11 || d.Scoreboard.Errors != 2 {
		t.Errorf("%v, %+v", err, d)
	}
}

func TestGet(t *testing.T) {
	for query, want := range map[string]string{
		"get=ajp13:a:8009|lb_factor":    "OK|ajp13:a:8009|lb_factor1",
		"get=ajp13:a:8009%7Cver":        "OK|ajp13:a:8009|ver2",
		"get=ajp13:b:8009|disabled":     "OK|ajp13:b:8009|disabled1",
		"get=ajp13:c:8009|lb_factor":    "there is no ajp13:c:8009|lb_factor\n",
		"get=ajp13:a:8009|nope":         "there is no ajp13:a:8009|nope\n",
		"get=ajp13:a:8009":              "there is no ajp13:a:8009\n",
		"get=%0d%0aX: y":                "there is no ??X: y\n",
		"get=%zz":                       "the query is not well encoded\n",
		strings.Repeat("x", MaxQuery+1): "the query is too long\n",
	} {
		if out := serve(Input{Method: "GET", Query: []byte(query)}, nil); string(out.Body) != want {
			t.Errorf("%.60s: %q", query, out.Body)
		}
	}
}

// A change is a POST that no other site has sent, or has the token.
func TestChanges(t *testing.T) {
	const set = "set=ajp13:a:8009|lb_factor|3"
	for _, tt := range []struct {
		name   string
		in     Input
		did    string
		status int
	}{
		{"a link", Input{Method: "GET", Query: []byte(set)}, "", 403},
		{"a link, HEAD", Input{Method: "HEAD", Query: []byte("rld=1")}, "", 403},
		{"a wrong token", Input{Method: "GET", Query: []byte(set + "&token=0124")}, "", 403},
		{"no token anywhere", Input{Method: "GET", Query: []byte(set + "&token=")}, "", 403},
		{"the token", Input{Method: "GET", Query: []byte(set + "&token=0aB3"), Token: "0Ab3"}, "set ajp13:a:8009 lb_factor 3.", 200},
		{"a form", Input{Method: "POST", Form: []byte(set)}, "set ajp13:a:8009 lb_factor 3.", 200},
		{"a form of ours", Input{Method: "POST", Form: []byte(set), Origin: "http://a.test", Host: "a.test", SecFetchSite: "same-origin"}, "set ajp13:a:8009 lb_factor 3.", 200},
		{"a form of theirs", Input{Method: "POST", Form: []byte(set), Origin: "http://b.test", Host: "a.test"}, "", 403},
		{"a form of theirs, new browser", Input{Method: "POST", Form: []byte(set), SecFetchSite: "cross-site"}, "", 403},
		{"value with a bar", Input{Method: "POST", Form: []byte("set=a|b|c|d%3Be")}, "set a b c|d;e.", 200},
		{"too few", Input{Method: "POST", Form: []byte("set=a|b")}, "", 400},
		{"reload", Input{Method: "POST", Query: []byte("rld=1")}, "reload.", 200},
		{"reset", Input{Method: "POST", Form: []byte("scoreboard.reset=1")}, "reset.", 200},
		{"invoke", Input{Method: "POST", Form: []byte("inv=ajp13:a:8009|destroy")}, "invoke ajp13:a:8009 destroy.", 200},
		{"invoke nothing", Input{Method: "POST", Form: []byte("inv=ajp13:a:8009")}, "", 400},
		{"another method", Input{Method: "PUT", Query: []byte(set)}, "", 405},
	} {
		f := &fake{}
		if out := serve(tt.in, f); out.Status != tt.status || f.did != tt.did {
			t.Errorf("%s: %d, did %q: %s", tt.name, out.Status, f.did, out.Body)
		}
	}
	out := serve(Input{Method: "POST", Form: []byte("set=ajp13:a:8009|secretkey|hush")}, &fake{})
	if body := string(out.Body); out.ContentType != htmlType || !strings.Contains(body, "done: set ajp13:a:8009|secretkey<") || strings.Contains(body, "hush") {
		t.Errorf("a form gets %s: %s", out.ContentType, body)
	}
	f := &fake{err: errors.New("no such thing")}
	if out := serve(Input{Method: "POST", Form: []byte(set)}, f); out.Status != 400 || string(out.Body) != set+": no such thing\n" {
		t.Errorf("%d, %s", out.Status, out.Body)
	}
}

// Without jk2.shm the page says so.
func TestNoScoreboard(t *testing.T) {
	none := func() *Model { m := sample(); m.Board = nil; return m }
	for _, query := range []string{"", "scoreboard=1", "endpoints=1"} {
		if out := Serve(Input{Method: "GET", Query: []byte(query)}, none, nil); !strings.Contains(string(out.Body), "No Scoreboard available") {
			t.Errorf("%q: %s", query, out.Body)
		}
	}
	if out := Serve(Input{Method: "GET", Query: []byte("mime=json")}, none, nil); !strings.Contains(string(out.Body), `"scoreboard": null`) {
		t.Errorf("%s", out.Body)
	}
}

// A style sheet of the administrator's takes the place of the page's style.
func TestStyleSheet(t *testing.T) {
	out := serve(Input{Method: "GET", CSS: "/my.css\"><script>"}, nil)
	body := string(out.Body)
	if !strings.Contains(body, `<link rel="stylesheet" href="/my.css`) || strings.Contains(body, "<style>") || strings.Contains(body, "<script>") {
		t.Errorf("%.700s", body)
	}
	if policy := out.Fields[len(out.Fields)-1].Value; !strings.Contains(policy, "style-src *;") {
		t.Error(policy)
	}
}

func FuzzServe(f *testing.F) {
	f.Add("GET", "get=ajp13:a:8009|ver", "")
	f.Add("POST", "", "set=a|b|c&token=1")
	f.Add("GET", "lst=*&mime=json;x", "%")
	f.Fuzz(func(t *testing.T, method, query, form string) {
		c := &fake{}
		out := serve(Input{Method: method, Query: []byte(query), Form: []byte(form), Token: "0123"}, c)
		if c.did != "" && method != "POST" && !strings.Contains(query+form, "token") {
			t.Errorf("%s %q %q did %s", method, query, form, c.did)
		}
		if out.ContentType == htmlType && !strings.HasSuffix(string(out.Body), "</html>\n") {
			t.Error("half a page")
		}
	})
}
