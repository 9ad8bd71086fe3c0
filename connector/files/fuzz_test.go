package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jkd/conf"
	"jkd/connector"
)

// FuzzDocumentRoot: whatever the path and the fields, what is served is for
// clients, and no request ends without an answer or an error that has a status.
func FuzzDocumentRoot(f *testing.F) {
	for _, path := range []string{
		"/", "/ok", "/sub/", "/sub", "/in", "/up", "/absolute", "/updir/secret", "/dir/ok", "/fifo", "/loop", "/null", "/a/ok", "/a/../secret", "/v1/ok", "/v../ok", "/v/ok", "/one",
		"/WEB-INF/x", "/%57eb-inf;a/x", "/..;/WEB-INF/x", "/x.JSP", "/.htaccess", "/%2e%2e/secret", "/..%2fsecret", "/%5c..%5csecret", "/sub/%2e%2e/%2e%2e/secret", "//secret", "/list/", "/WEB\u200c-INF/x",
		"/%ef%bc%b7EB-INF/x", "/WEB-INF./x", "/a%00", "/ok/", "/ok;x=1", "/%",
	} {
		f.Add(path, "bytes=0-1", "gzip")
	}
	f.Add("/ok", "bytes=-1,0-0,3-2", "gzip;q=0,*")
	f.Add("/sub/index.html", "bytes=99999999999999999999-", "br")
	dir := tree(f, map[string]string{
		"www/ok": "fine", "www/ok.gz": "fine", "www/sub/index.html": "fine", "www/WEB-INF/x": "secret", "www/web-inf/x": "secret", "www/sub/META-INF/x": "secret", "www/x.JSP": "secret",
		"www/.htaccess": "secret", "www/denied/x": "secret", "www/list/x": "fine", "alias/ok": "fine", "versions/1/ok": "fine", "secret": "secret", "other/secret": "secret", "neighbour/x": "secret",
	})
	www := filepath.Join(dir, "www")
	for name, to := range map[string]string{
		"in": "ok", "up": "../secret", "absolute": filepath.Join(dir, "secret"), "updir": "../other", "loop": "loop", "dir": ".", "null": "/dev/null", "list/up": "../../secret",
	} {
		if err := os.Symlink(to, filepath.Join(www, name)); err != nil {
			f.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(www, "fifo"), 0o644); err != nil {
		f.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	c := server1(conf.FilesServer{
		DocumentRoot: www, Rules: conf.FileRules{Precompressed: []string{"br", "gzip"}},
		Aliases: []conf.Alias{{Path: "/a/", File: at("alias")}, {Path: "/one", File: at("alias/ok")}, {Path: "^/v(.*)/(.*)$", Match: true, File: at("versions") + "/$1/$2"}},
	},
		conf.Directory{Path: at("www/denied"), Access: conf.Access{Require: prefixes()}},
		conf.Directory{Path: at("www/list"), Rules: conf.FileRules{Options: conf.FileOptions{Reset: true, Add: conf.Indexes}}},
	)
	f.Fuzz(func(t *testing.T, path, ranges, accept string) {
		clean, err := connector.CleanPath(nil, []byte(path))
		if err != nil {
			return
		}
		r := &connector.Request{
			Method: []byte("GET"), Path: []byte(path), MatchPath: clean, RemoteAddr: []byte("192.0.2.1"),
			Fields: []connector.Field{{Name: []byte("Range"), Value: []byte(ranges)}, {Name: []byte("Accept-Encoding"), Value: []byte(accept)}},
		}
		worker := c.Match(r)
		if worker == nil {
			if path[0] == '/' {
				t.Errorf("%q is nobody's", path)
			}
			return
		}
		w := &recorder{room: -1}
		err = worker.Service(r, w)
		var e *connector.Error
		var to *connector.Redirect
		body := w.body.String()
		switch {
		case strings.Contains(body, "secret"):
			t.Errorf("served %q", body)
		case errors.As(err, &to) && w.status == 0 && strings.Contains(string(to.Path), "index.html"):
		case err == nil && w.ended && w.status == 206:
		case err == nil && w.ended && w.status == 200 && (body == "fine" || strings.HasPrefix(body, "<!DOCTYPE")):
		case err != nil && errors.As(err, &e) && e.Own && e.Status >= 300 && w.status == 0:
		default:
			t.Errorf("%v, %d %q", err, w.status, body)
		}
	})
}
