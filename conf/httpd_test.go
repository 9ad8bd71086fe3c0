package conf

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// unplaced clears what tells where a configuration stands in its files.
func unplaced(c *Config) *Config {
	c.Path, c.Included, c.hosts = "", nil, nil
	clearLines(reflect.ValueOf(c))
	return c
}

func clearLines(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			clearLines(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			clearLines(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case !f.IsExported():
			case strings.HasSuffix(f.Name, "Line") && f.Type.Kind() == reflect.Int:
				v.Field(i).SetInt(0)
			default:
				clearLines(v.Field(i))
			}
		}
	}
}

// What -dump prints loads to the same configuration, wherever it is kept, and is
// printed the same again.
func roundTrip(t *testing.T, name string, data []byte, o Options) {
	t.Helper()
	c, _, err := Parse(name, data, o)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := dump(name, data, o)
	if err != nil {
		t.Fatal(err)
	}
	if InApache(text) {
		t.Fatalf("this is not in jkd's language:\n%s", text)
	}
	back, warnings, err := Parse("/elsewhere/jkd.conf", text, Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !reflect.DeepEqual(unplaced(back), unplaced(c)) {
		t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", back, c, text)
	}
	_ = warnings
	again, _, err := dump("/elsewhere/jkd.conf", text, Options{})
	_, a, _ := bytes.Cut(again, []byte("\n"))
	_, b, _ := bytes.Cut(text, []byte("\n"))
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("printed again: %v\n%s\nwant\n%s", err, again, text)
	}
}

func TestDump(t *testing.T) {
	files, err := filepath.Glob("testdata/httpd/*.conf")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, name := range append(files, "testdata/httpd-jk/jkd.conf", "jkd.conf.sample") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, mpm := range []string{"", Prefork, Worker} {
				roundTrip(t, name, data, Options{MPM: mpm})
			}
		})
	}
}

// Each file of testdata/httpd is printed as the .dump beside it, behind what is
// said of it, and each of testdata/httpd-invalid fails with the .err beside it.
func TestHTTPD(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for dir, suffix := range map[string]string{"testdata/httpd": ".dump", "testdata/httpd-invalid": ".err"} {
		files, err := filepath.Glob(dir + "/*.conf")
		if err != nil || len(files) < 4 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			t.Run(filepath.Base(name), func(t *testing.T) {
				text, warnings, err := Dump(name, Options{})
				var out strings.Builder
				for _, w := range warnings {
					out.WriteString("# " + w.Severity.String() + ": " + w.String() + "\n")
				}
				if (err != nil) != (suffix == ".err") {
					t.Errorf("error %v", err)
				}
				if err != nil {
					out.WriteString(err.Error() + "\n")
				}
				out.Write(text)
				got := strings.ReplaceAll(out.String(), here, "HERE")
				golden := strings.TrimSuffix(name, ".conf") + suffix
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		}
	}
}

// The published deployments have the mounts that they had.
func TestDeployments(t *testing.T) {
	load := func(name string) *Config {
		t.Helper()
		c, _, err := Load("testdata/httpd/"+name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	mounts := func(list []Mount) (out []string) {
		for _, m := range list {
			out = append(out, m.Pattern+" "+m.Worker)
		}
		return out
	}
	jk := load("servlets-jk.conf")
	if got := mounts(jk.Jk.Main().Mounts); !reflect.DeepEqual(got, []string{"/examples/servlet/* ajp13", "/examples/*.jsp ajp13"}) {
		t.Errorf("mounts %q", got)
	}
	jk2 := load("servlets-jk2.conf")
	if jk2.Jk2.File == nil || filepath.Base(jk2.Jk2.File.Path) != "workers2.properties" || jk2.Jk != nil {
		t.Errorf("got %+v", jk2.Jk2)
	}
	for _, c := range []*Config{jk, jk2} {
		if l := c.Locations; len(l) != 2 || l[1].Path != "/examples/WEB-INF/" || l[1].Access.Order.Allows(loopback[0].Addr()) || l[0].Access.Says() || l[0].Rules.Options.Over(0) != Indexes|FollowSymLinks {
			t.Errorf("locations %+v", l)
		}
		if a := c.Files.Servers[0].Aliases; len(a) != 1 || a[0].Path != "/examples" || a[0].File != filepath.Join(c.Server.ServerRoot, "webapps/examples") {
			t.Errorf("aliases %+v", a)
		}
	}
	page := load("page-jk.conf")
	if o := page.Jk.Main().Options; o.ForwardURI != ForwardURICompat || !o.ForwardKeySize || page.Jk.Main().RequestLogFormat != "%w %V %T" || page.Jk.Main().LogLevel != LogInfo {
		t.Errorf("got %+v", page.Jk.Main())
	}
	if got := mounts(page.Jk.Main().Mounts); !reflect.DeepEqual(got, []string{"/test/* ajp13"}) {
		t.Errorf("mounts %q", got)
	}
	for name, url := range map[string]string{"page-proxy.conf": "http://127.0.0.1:8080/", "page-proxy-ajp.conf": "ajp://localhost:8009/"} {
		c := load(name)
		s := &c.Proxy.Servers[0]
		if len(s.Passes) != 1 || s.Passes[0].Path != "/" || s.Passes[0].URL != url || !s.PreserveHost || s.Timeout.Seconds() != 1000 || c.Server.TimeOut.Seconds() != 1000 ||
			len(s.Reverses) != 1 || s.Reverses[0].URL != url {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What 17-httpd-jk says, with Listen added.
func TestFieldHTTPD17(t *testing.T) {
	c, _, err := Load("testdata/httpd/field17.conf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Load("testdata/httpd-jk/jkd.conf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host string
		port int
		want int
	}{
		{"shop.example.test", 80, 1}, {"shop.example.test", 8443, 2}, {"plain.example.test", 8080, 3},
		// As in Apache, the first virtual host of a port has every other name.
		{"other.example.test", 80, 1}, {"", 8443, 2}, {"shop.example.test", 8080, 3}, {"shop.example.test", 81, 0},
	} {
		if got := c.VHost([]byte(tt.host), tt.port); got != tt.want {
			t.Errorf("%s:%d is served by %d, want %d", tt.host, tt.port, got, tt.want)
		}
	}
	if s := c.Jk.Servers; s[1].MountCopy != CopyOff || s[2].MountCopy != CopyOn || s[3].MountCopy != CopyOff || len(s[3].Mounts) != 0 || s[3].MountFile != nil ||
		!reflect.DeepEqual(s[2].EnvVars, []JkEnvVar{{Name: "REMOTE_USER"}, {Name: "eppn", HasDefault: true}}) || !s[1].StripSession || s[0].MountFileReload.Seconds() != 10 {
		t.Errorf("got %+v", s)
	}
	if len(want.Jk.Servers) != len(c.Jk.Servers) || !reflect.DeepEqual(want.Jk.Main().Options, c.Jk.Main().Options) {
		t.Errorf("options %+v", c.Jk.Main().Options)
	}
	if e := c.VHosts[0].Env; len(e) != 1 || e[0].Name != "no-jk" || e[0].If == nil || e[0].If.Attribute != "Request_URI" || e[0].If.Pattern != "^/app/static/" {
		t.Errorf("variables %+v", e)
	}
	l := c.Locations
	if len(l) != 2 || l[0].VHost != 2 || l[0].Path != "/jkstatus" || l[0].Worker != "jkstatus" || !l[0].Access.Require.Allows(loopback[0].Addr().Next()) || l[0].Access.Require.Allows(loopback[1].Addr()) ||
		!l[1].Match || l[1].Path != "^/api/v[0-9]+/" || l[1].Handler != JkHandler || l[1].VHost != 2 {
		t.Errorf("locations %+v", l)
	}
}

// A file in jkd's language is not taken for one in Apache's, nor the other way
// round.
func TestInApache(t *testing.T) {
	for text, want := range map[string]bool{
		"":                         false,
		"# c\n; d\n\n":             false,
		"[server]\nListen = 1":     false,
		"\xef\xbb\xbf [server]":    false,
		"Listen = 80\n[server]":    false,
		"Listen 80":                true,
		"# c\n\n<IfModule x>\n":    true,
		"\xef\xbb\xbfListen 80":    true,
		"JkWorkerProperty a=b":     true,
		"\xff\xfeL\x00":            false,
		"Define x\\\n y\n[server]": true,
	} {
		if got := InApache([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Whereabouts finds a running server by its httpd.conf too.
func TestWhereaboutsHTTPD(t *testing.T) {
	name := filepath.Join(t.TempDir(), "httpd.conf")
	if err := os.WriteFile(name, []byte("Nonsense\nPidFile run/x.pid\nControlSocket none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Whereabouts(name)
	if err != nil || s.PidFile != filepath.Join(filepath.Dir(name), "run/x.pid") || s.ControlSocket != None {
		t.Errorf("%+v %v", s, err)
	}
}

// The section about an MPM that is not in use has its numbers, for -mpm.
func TestHTTPDNumbers(t *testing.T) {
	text := "Listen 1\n<IfModule prefork.c>\nStartServers 8\nMaxClients 150\n</IfModule>\n<IfModule worker.c>\nStartServers 2\nMaxClients 100\n</IfModule>\n"
	for mpm, load := range map[string]string{"": "", Worker: "LoadModule mpm_worker_module x\n"} {
		for _, o := range []string{"", Prefork, Worker} {
			c, w, err := Parse("f", []byte(load+text), Options{MPM: o})
			if err != nil {
				t.Fatal(err, texts(w))
			}
			if c.Prefork.StartServers != 8 || c.Prefork.MaxRequestWorkers != 150 || c.Worker.StartServers != 2 || c.Worker.MaxRequestWorkers != 100 {
				t.Errorf("%s -mpm %s: %+v %+v", mpm, o, c.Prefork, c.Worker)
			}
		}
	}
	c, _, err := Parse("f", []byte("LoadModule mpm_event_module x\nListen 1\nThreadsPerChild 10\nMaxRequestWorkers 30\n"), Options{})
	if err != nil || c.Server.MPM != Worker || c.Worker.ThreadsPerChild != 10 || c.Worker.MaxRequestWorkers != 30 {
		t.Errorf("%v %+v", err, c)
	}
}

func FuzzHTTPD(f *testing.F) {
	files, err := filepath.Glob("testdata/httpd*/*.conf")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("Listen 1\n<Location ~ \"]\\\"[ \">\nSetEnv a \"`b\"\n</Location>\nJkWorkerProperty \"x = y\"\n<Location \"~\">\n</Location>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !InApache(data) || bytes.Contains(bytes.ToLower(data), []byte("nclude")) || bytes.Contains(data, []byte("|")) {
			t.Skip() // files of the machine, and programs
		}
		_, warnings, err := Parse("/f", data, Options{})
		for _, w := range warnings {
			if strings.Contains(w.String(), "\n") {
				t.Errorf("a remark of two lines: %q", w)
			}
		}
		if err == nil {
			roundTrip(t, "/f", data, Options{})
		}
	})
}
