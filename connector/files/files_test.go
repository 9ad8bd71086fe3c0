package files

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jkd/conf"
	"jkd/connector"
)

// recorder is an answer in memory.
type recorder struct {
	status int
	fields http.Header
	body   bytes.Buffer
	ended  bool
	// room is how many bytes the client takes before it leaves; -1: all.
	room int
}

func (r *recorder) Start(status int, fields []connector.Field) error {
	r.status, r.fields = status, http.Header{}
	for _, f := range fields {
		r.fields.Add(string(f.Name), string(f.Value))
	}
	return nil
}

func (r *recorder) Append(p []byte) error {
	if r.room >= 0 && r.body.Len()+len(p) > r.room {
		return &connector.ClientError{Op: "write", Status: 400, Err: errors.New("gone")}
	}
	r.body.Write(p)
	return nil
}
func (r *recorder) Buffered() int { return 0 }
func (r *recorder) Flush() error  { return nil }
func (r *recorder) Finish() error { r.ended = true; return nil }
func (r *recorder) Started() bool { return r.status != 0 }

// writtenAt is when files were written of which the time matters.
var writtenAt = time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)

func get(path string) *connector.Request {
	clean, _ := connector.CleanPath(nil, []byte(path))
	return &connector.Request{Method: []byte("GET"), Path: []byte(path), MatchPath: clean, RemoteAddr: []byte("192.0.2.1")}
}

// tree makes files, text by path.
func tree(t testing.TB, list map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range list {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// server makes the connector of one server that says this of files.
func server1(on conf.FilesServer, sections ...conf.Directory) *Connector {
	return New(&conf.Config{Files: &conf.FilesConfig{Servers: []conf.FilesServer{on}, Directories: sections}}, Options{})
}

// ask has c answer a request. A status below 0 is that of nobody.
func ask(t testing.TB, c *Connector, r *connector.Request) (status int, w *recorder, err error) {
	t.Helper()
	w = &recorder{room: -1}
	worker := c.Match(r)
	if worker == nil {
		return -1, w, nil
	}
	var e *connector.Error
	var to *connector.Redirect
	switch err = worker.Service(r, w); {
	case err == nil && w.ended:
		return w.status, w, nil
	case errors.As(err, &to):
		return -2, w, err
	case errors.As(err, &e) && w.status == 0:
		return e.Status, w, err
	}
	t.Fatalf("%s: %v after %d", r.Path, err, w.status)
	return 0, w, err
}

// What a directory has, and what is not the name of anything in it.
func TestDocumentRoot(t *testing.T) {
	dir := tree(t, map[string]string{"index.html": "top", "a/b.css": "b{}", "a/index.html": "a", "x/y": "y", "a;b/c": "c"})
	c := server1(conf.FilesServer{DocumentRoot: dir})
	for _, tt := range []struct {
		path   string
		status int
		body   string // or where a redirect leads
	}{
		{"/", -2, "/index.html"}, {"/a/", -2, "/a/index.html"}, {"/index.html", 200, "top"}, {"/a/b.css", 200, "b{}"}, {"/a//./b.css;v=1", 200, "b{}"},
		{"/a", 301, "/a/"}, {"/a;x", 301, "/a/"}, {"/a%3bb", 301, "/a%3Bb/"}, {"/a%3bb/c", 200, "c"}, {"/a/;jsessionid=1", -2, "/a/index.html;jsessionid=1"},
		{"/a/x/..", -2, "/a/index.html"}, {"/x/", 403, ""}, {"/x", 301, "/x/"},
		{"/a/b.css/", 404, ""}, {"/none", 404, ""}, {"/none/", 404, ""}, {"/a/b.css/c", 404, ""}, {"/.htaccess", 403, ""}, {"/x/.HTpasswd", 403, ""}, {"/.ht/x", 403, ""},
		{"/a%2Fb.css", 404, ""}, {"/" + strings.Repeat("n", 300), 404, ""},
	} {
		status, w, err := ask(t, c, get(tt.path))
		got := w.body.String()
		var to *connector.Redirect
		var e *connector.Error
		if errors.As(err, &to) {
			got = string(to.Path)
		} else if errors.As(err, &e) && status == 301 {
			got = string(e.Fields[0].Value)
		}
		if status != tt.status || got != tt.body || status >= 400 && !e.Own {
			t.Errorf("%s: %d %q %v; want %d %q", tt.path, status, got, err, tt.status, tt.body)
		}
	}
	if c.Match(&connector.Request{Path: []byte("*"), MatchPath: []byte("*")}) != nil || c.Match(&connector.Request{MatchPath: []byte("/"), VHost: 1}) != nil ||
		c.Match(&connector.Request{MatchPath: []byte("/"), Handler: conf.JkHandler}) != nil {
		t.Error("what is not for files is taken")
	}
	if New(&conf.Config{}, Options{}) != nil || server1(conf.FilesServer{}) != nil {
		t.Error("a connector without directories")
	}
}

func TestServeFails(t *testing.T) {
	dir := tree(t, map[string]string{"large": strings.Repeat("x", 3*pieceSize)})
	status, _, err := ask(t, server1(conf.FilesServer{DocumentRoot: filepath.Join(dir, "none")}), get("/x"))
	var e *connector.Error
	if errors.As(err, &e); status != 404 || e.Own || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the directory: %d, %v", status, err)
	}
	w := &recorder{room: 2 * pieceSize}
	r := get("/large")
	if err := server1(conf.FilesServer{DocumentRoot: dir}).Match(r).Service(r, w); !errors.As(err, &e) || !e.Client || e.Status != 400 || w.ended || w.body.Len() != 2*pieceSize {
		t.Errorf("to a client that leaves: %v after %d bytes", err, w.body.Len())
	}
}

func TestTypes(t *testing.T) {
	for ext, typ := range types {
		if ext != strings.ToLower(ext) || !strings.Contains(typ, "/") || strings.ContainsAny(typ, "; ") {
			t.Errorf("%q: %q", ext, typ)
		}
	}
}

// A tag is strong when nobody can have written the file twice at its time.
func TestETag(t *testing.T) {
	dir := tree(t, map[string]string{"x": "abc"})
	info, err := os.Stat(filepath.Join(dir, "x"))
	if err != nil {
		t.Fatal(err)
	}
	young, old := etag(info, content{}, info.ModTime()), etag(info, content{}, info.ModTime().Add(2*time.Second))
	packed := etag(info, content{coding: "gzip", varies: true}, info.ModTime().Add(2*time.Second))
	if young != "W/"+old || !strings.HasPrefix(old, `"3-`) || packed != strings.TrimSuffix(old, `"`)+`-gzip"` {
		t.Errorf("%s, %s and %s", young, old, packed)
	}
}

// FuzzAutoAlias: whatever the path, what is served is never private, and no
// request ends without an answer or an error that has a status.
func FuzzAutoAlias(f *testing.F) {
	for _, path := range []string{
		"/shop/ok", "/shop/WEB-INF/x", "/shop/%57eb-inf;a/x", "/shop/..;/WEB-INF/x", "/shop/a/../META-INF/x", "/shop.war", "/shop/x.JSP", "//shop//sub/%2e%2e/WEB-INF%2fx",
		"/shop/_sWEB-INF/x", "/shop/._s./outside", "/shop/up", "/shop/sub/", "/shop/%5c..%5c..%5coutside",
	} {
		f.Add(path)
	}
	dir := tree(f, map[string]string{
		"apps/shop/ok": "fine", "apps/shop/sub/index.html": "fine", "apps/shop/WEB-INF/x": "secret", "apps/shop/sub/WEB-INF/x": "secret",
		"apps/shop/META-INF/x": "secret", "apps/shop/web-inf/x": "secret", "apps/shop/x.JSP": "secret", "apps/shop.war": "secret", "outside": "secret",
		"apps/x": "secret", "apps/WEB-INF/x": "secret",
	})
	if err := os.Symlink("../../outside", filepath.Join(dir, "apps/shop/up")); err != nil {
		f.Fatal(err)
	}
	a := New(&conf.Config{Jk: &conf.Jk{Servers: []conf.JkServer{{AutoAlias: filepath.Join(dir, "apps"), StripSession: true, SessionName: "_s"}}}}, Options{})
	f.Fuzz(func(t *testing.T, path string) {
		clean, err := connector.CleanPath(nil, []byte(path))
		if err != nil {
			return
		}
		r := &connector.Request{Method: []byte("GET"), Path: []byte(path), MatchPath: clean}
		worker := a.Match(r)
		if worker == nil {
			return
		}
		w := &recorder{room: -1}
		err = worker.Service(r, w)
		var e *connector.Error
		var to *connector.Redirect
		switch {
		case errors.As(err, &to) && w.status == 0 && bytes.HasSuffix(to.Path, []byte("index.html")):
		case err == nil && (!w.ended || w.body.String() != "fine"):
			t.Errorf("served %q", w.body.String())
		case err != nil && (!errors.As(err, &e) || !e.Own || w.status != 0):
			t.Errorf("failed: %v", err)
		}
	})
}
