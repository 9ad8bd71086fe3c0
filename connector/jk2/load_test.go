package jk2

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"jkd/conf"
)

// load reads a jkd.conf and the files it names.
func load(t *testing.T, text string, files map[string]string) *Setup {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := conf.Parse(filepath.Join(dir, "jkd.conf"), []byte("[server]\nListen = 1\n"+text), conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The file is read where it is named: what stands before that gives way to it,
// and what stands after it has the last word, after a reload too.
func TestSetsAndFile(t *testing.T) {
	const file = "[channel.socket:a:1]\nlb_factor=2\n"
	set := func(n string) string { return "JkSet = channel.socket:a:1.lb_factor " + n + "\n" }
	for text, want := range map[string]int{
		"File = f\n":                                    2,
		"File = f\n" + set("3"):                         3,
		set("3") + "File = f\n":                         2,
		set("3") + "JkSet = config:file f\n":            2,
		"JkSet = config:file f\n" + set("3"):            3,
		set("1") + "JkSet = config:file f\n" + set("4"): 4,
	} {
		s := load(t, "[connector.jk2]\n"+text, map[string]string{"f": file})
		if got := s.Config.workerNamed("ajp13:a:1").LBFactor; got != want {
			t.Errorf("%q: lb_factor %d, want %d", text, got, want)
		}
		again, _, err := s.Reload([]byte(file + "ver=1\n[uri:/x]\n"))
		if err != nil || len(again.Config.Uris) != 1 || again.Config.workerNamed("ajp13:a:1").LBFactor != want {
			t.Errorf("%q, reloaded: %+v, %v", text, again, err)
		}
	}
}

// The sample has no faults and nothing that needs a word.
func TestSample(t *testing.T) {
	data, err := os.ReadFile("../../conf/workers2.properties.sample")
	if err != nil {
		t.Fatal(err)
	}
	on := bytes.ReplaceAll(data, []byte("\n#["), []byte("\n["))
	for _, p := range []string{"route", "level", "group"} {
		on = bytes.ReplaceAll(on, []byte("\n#"+p+"="), []byte("\n"+p+"="))
	}
	for _, tt := range []struct {
		text []byte
		want string
	}{{data, "1 workers, 2 uris"}, {on, "3 workers, 3 uris"}} {
		c, warnings, err := ParseConfig(testEnv(), Source{File: "w", Data: tt.text})
		same(t, "said", said(warnings, err), []string(nil))
		if err == nil {
			same(t, "sample", fmt.Sprintf("%d workers, %d uris", len(c.Workers), len(c.Uris)), tt.want)
		}
	}
}
