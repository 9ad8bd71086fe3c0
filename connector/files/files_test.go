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

func get(path string) *connector.Request {
	clean, _ := connector.CleanPath(nil, []byte(path))
	return &connector.Request{Method: []byte("GET"), Path: []byte(path), MatchPath: clean}
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

// Serve by itself, as a connector that maps paths to files uses it.
func TestServe(t *testing.T) {
	dir := tree(t, map[string]string{"index.html": "top", "a/b.css": "b{}", "a/index.html": "a"})
	for _, tt := range []struct {
		name   string
		status int
		body   string
	}{
		{"", 200, "top"}, {"a/", 200, "a"}, {"a/b.css", 200, "b{}"}, {"a", 301, ""}, {"a/b.css/", 404, ""}, {"none", 404, ""}, {"none/", 404, ""},
		{"../x", 404, ""}, {"/a/b.css", 404, ""}, {"a//b.css", 404, ""}, {"a/./b.css", 404, ""}, {"a/../a/b.css", 404, ""}, {".", 301, ""}, {"./", 200, "top"},
		{"a/\x00", 404, ""}, {"a//", 404, ""},
	} {
		w := &recorder{room: -1}
		err := Serve(dir, tt.name, get("/x/"+tt.name), w)
		var e *connector.Error
		switch {
		case tt.status == 200:
			if err != nil || !w.ended || w.status != 200 || w.body.String() != tt.body {
				t.Errorf("%q: %v, %d %q", tt.name, err, w.status, w.body.String())
			}
		case !errors.As(err, &e) || e.Status != tt.status || !e.Own || w.status != 0:
			t.Errorf("%q: %v, %d", tt.name, err, w.status)
		}
	}
}

func TestServeFails(t *testing.T) {
	dir := tree(t, map[string]string{"large": strings.Repeat("x", 3*pieceSize)})
	var e *connector.Error
	if err := Serve(filepath.Join(dir, "none"), "x", get("/x"), &recorder{room: -1}); !errors.As(err, &e) || e.Status != 404 || e.Own || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without the directory: %v", err)
	}
	w := &recorder{room: 2 * pieceSize}
	if err := Serve(dir, "large", get("/large"), w); !errors.As(err, &e) || !e.Client || e.Status != 400 || w.ended || w.body.Len() != 2*pieceSize {
		t.Errorf("to a client that leaves: %v after %d bytes", err, w.body.Len())
	}
}

func TestTypes(t *testing.T) {
	for name, want := range map[string]string{
		"a.html": "text/html", "a.HTM": "text/html", "a.b.Js": "text/javascript", "README": "application/octet-stream", "a.": "application/octet-stream",
		".css": "text/css", "a.unknown": "application/octet-stream", "": "application/octet-stream", "x.tar.gz": "application/gzip",
	} {
		if got := typeOf(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
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
	young, old := etag(info, info.ModTime()), etag(info, info.ModTime().Add(2*time.Second))
	if young != "W/"+old || !strings.HasPrefix(old, `"3-`) {
		t.Errorf("%s and %s", young, old)
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
	a := NewAutoAlias([]Site{{Dir: filepath.Join(dir, "apps"), Session: "_s"}})
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
		switch {
		case err == nil && (!w.ended || w.body.String() != "fine"):
			t.Errorf("served %q", w.body.String())
		case err != nil && (!errors.As(err, &e) || !e.Own || w.status != 0):
			t.Errorf("failed: %v", err)
		}
	})
}
