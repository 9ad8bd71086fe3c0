package conf

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestJk2(t *testing.T) {
	c, warnings := parse(t, `[vhost two.test]
ServerAlias = 2.test
[connector.jk2]
JkSet = workerEnv:timing 1
JkSet2 = "channel.socket:localhost:8009" tomcatId node1
JkUriSet = /a/* group lb:lb
[location two.test /b]
JkUriSet = group "ajp13:localhost:8009"
JkUriSet = debug 1
[location /c]
JkUriSet = group lb:x
`)
	if len(warnings) > 0 {
		t.Error(warnings)
	}
	want := &Jk2{
		Line: 5,
		Sets: []JkSet{
			{Property: "workerEnv:timing", Value: "1", Line: 6},
			{Object: "channel.socket:localhost:8009", Property: "tomcatId", Value: "node1", Line: 7},
		},
		URISets: []JkURISet{
			{Path: "/a/*", Property: "group", Value: "lb:lb", Line: 8},
			{VHost: 1, Path: "/b", Property: "group", Value: "ajp13:localhost:8009", Line: 10},
			{VHost: 1, Path: "/b", Property: "debug", Value: "1", Line: 11},
			{Path: "/c", Property: "group", Value: "lb:x", Line: 13},
		},
	}
	if !reflect.DeepEqual(c.Jk2, want) {
		t.Errorf("got %+v\nwant %+v", c.Jk2, want)
	}
}

// Without File the one is read that mod_jk2 looked for; with it only that.
func TestJk2File(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	usual, own := write("conf/workers2.properties", "[shm:]\n"), write("own.properties", "[logger]\n")
	for text, want := range map[string]*File{
		"":                        {usual, []byte("[shm:]\n")},
		"File = own.properties\n": {own, []byte("[logger]\n")},
	} {
		c, _, err := Parse(filepath.Join(dir, "jkd.conf"), []byte("[server]\nListen = 1\n[connector.jk2]\n"+text), Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		if !reflect.DeepEqual(c.Jk2.File, want) {
			t.Errorf("%q: got %+v", text, c.Jk2.File)
		}
	}
	if _, _, err := Parse(filepath.Join(dir, "jkd.conf"), []byte("[server]\nListen = 1\n"), Options{}); err != nil {
		t.Error(err)
	}
}
