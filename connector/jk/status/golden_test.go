package status

import (
	"embed"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

//go:embed testdata/golden
var goldens embed.FS

// pages are the requests that have golden files.
var pages = []struct{ name, query string }{
	{"list", "cmd=list"},
	{"show-balancer", "cmd=show&w=cart"},
	{"show-member", "cmd=show&w=cart&sw=elm"},
	{"show-ajp", "cmd=show&w=parked"},
	{"version", "cmd=version"},
	{"dump", "cmd=dump"},
	{"edit-balancer", "cmd=edit&w=cart"},
	{"edit-member", "cmd=edit&w=cart&sw=elm&from=show&psw=elm"},
	{"edit-all", "cmd=edit&w=cart&att=vwa"},
	{"edit-ajp", "cmd=edit&w=parked&opt=4"},
	{"update", "cmd=update&w=cart&sw=elm&vwa=s&vwf=3&token=" + token},
	{"reset", "cmd=reset&w=cart&token=" + token},
	{"recover", "cmd=recover&w=cart&sw=elm&token=" + token},
	{"error", "cmd=show&w=nobody"},
}

func TestGolden(t *testing.T) {
	for _, pg := range pages {
		for _, mime := range mimeNames {
			t.Run(pg.name+"/"+mime, func(t *testing.T) {
				r := newRig()
				out := r.get(pg.query + "&mime=" + mime)
				if out.Status != 200 {
					t.Fatalf("status %d: %s", out.Status, out.Body)
				}
				if strings.Contains(string(out.Body), theSecret) {
					t.Error("the secret is in the answer")
				}
				golden(t, pg.name+"."+mime, strings.Replace(string(out.Body), style, "STYLE", 1))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/golden/" + name
	if *update {
		if err := os.WriteFile(filepath.FromSlash(path), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := goldens.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from\n%s\ngot\n%s", path, want, got)
	}
}
