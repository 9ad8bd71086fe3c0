package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/result"
	"jkd/bench/internal/scenario"
)

// TestMain is the HTTP responder too: contenders start this program itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == contender.HTTPBack {
		os.Exit(failed(serveHTTP(os.Args[2])))
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args      string
		scenarios int // 0: an error
	}{
		{"-only hello,page -rounds 3 -seconds 5 -contenders jkd,nginx", 2},
		{"-quick", len(scenario.All())},
		{"-only nothing", 0},
		{"-only hello,nothing", 0},
		{"-contenders lighttpd", 0},
		{"-rounds 0", 0},
		{"-seconds 61", 0},
		{"hello", 0},
		{"-no-such-flag", 0},
	} {
		o, err := parse(strings.Fields(tt.args), io.Discard)
		if (err != nil) != (tt.scenarios == 0) || err == nil && len(o.scenarios) != tt.scenarios {
			t.Errorf("%s: %d scenarios, %v", tt.args, len(o.scenarios), err)
		}
	}
}

func TestParseNone(t *testing.T) {
	if o, err := parse([]string{"-only", "none"}, io.Discard); err != nil || len(o.scenarios) != 0 {
		t.Errorf("%d scenarios, %v", len(o.scenarios), err)
	}
}

// A small run of the real thing, as far as the programs are there.
func TestSmoke(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers: left out with -short")
	}
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	for _, tool := range []string{"go", "wrk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	if _, err := os.Stat("main.go"); err != nil {
		t.Skip("needs the source tree")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "jkd"), "jkd/cmd/jkd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	o, err := parse([]string{"-quick", "-only", "hello,transfer", "-contenders", "jkd-worker-jk,jkd-worker-http,apache-worker-jk", "-jkd", filepath.Join(dir, "jkd"), "-out", dir}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil || !bytes.Contains(text, []byte("## hello")) || !bytes.Contains(text, []byte("## transfer")) {
		t.Errorf("report: %v\n%s", err, text)
	}
	r, err := result.Read(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ scenario, name, contender, metric string }{
		{"hello", "c=20", "jkd-worker-jk", result.CPU},
		{"hello", "c=20", "jkd-worker-http", result.Memory},
		{"transfer", "download", "jkd-worker-jk", result.Speed},
		{"transfer", "upload", "jkd-worker-http", result.Speed},
	} {
		s := r.Section(tt.scenario)
		if v, ok := s.Median(tt.name, tt.contender, tt.metric); !ok || v <= 0 {
			t.Errorf("%v: %v, %v; notes %q", tt, v, ok, s.Notes)
		}
		if v, _ := s.Median(tt.name, tt.contender, result.Failed); v != 0 {
			t.Errorf("%v: %v requests failed", tt, v)
		}
	}
}
