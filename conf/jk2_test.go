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
		Line: 5, Before: 2,
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
	t.Setenv("JKD_TEST_DIR", dir)
	for text, want := range map[string]*File{
		"":                        {usual, []byte("[shm:]\n")},
		"File = own.properties\n": {own, []byte("[logger]\n")},
		// As in httpd.conf of mod_jk2.
		"JkSet = config.file own.properties\n":                 {own, []byte("[logger]\n")},
		"JkSet = config:file ${serverRoot}/own.properties\n":   {own, []byte("[logger]\n")},
		"JkSet = config:file '" + own + "'\n":                  {own, []byte("[logger]\n")},
		"JkSet2 = config file own.properties\n":                {own, []byte("[logger]\n")},
		"JkSet2 = config: file ${JKD_TEST_DIR}/own.properties": {own, []byte("[logger]\n")},
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

// A set that stands behind the file's name has the last word, and only one
// directive names the file.
func TestJk2FileOrder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("[shm:]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(text string) (*Config, error) {
		c, _, err := Parse(filepath.Join(dir, "f"), []byte("[server]\nListen = 1\n[connector.jk2]\n"+text), Options{})
		return c, err
	}
	c, err := read("JkSet = shm:slots 1\nJkSet = config:file a\nJkSet = shm:slots 2\nJkSet = shm:slots 3\n")
	if err != nil || c.Jk2.Before != 1 || len(c.Jk2.Sets) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"File = a\nJkSet = config:file a\n":                 "5: JkSet: the file is named by File in line 4 already",
		"JkSet = config.file a\nFile = a\n":                 "5: File: the file is named by JkSet in line 4 already",
		"JkSet = config.file a\n\nJkSet2 = config file a\n": "6: JkSet2: the file is named by JkSet in line 4 already",
		"JkSet = config.file b\n":                           "4: JkSet: " + filepath.Join(dir, "b") + ": no such file or directory",
		"JkSet = config.file ${nobody}/a\n":                 "4: JkSet: ${nobody}/a: there is no such variable",
	} {
		if _, err := read(text); err == nil || err.Error() != filepath.Join(dir, "f")+":"+want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
