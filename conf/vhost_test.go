package conf

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// parse reads text below a [server] with one listener and requires it to be
// free of faults.
func parse(t *testing.T, text string) (*Config, []string) {
	t.Helper()
	c, warnings, err := Parse("/etc/f", []byte("[server]\nListen = 1\n"+text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, c) {
		t.Errorf("decoded %+v\nwant %+v", back, c)
	}
	roundTrip(t, "/etc/f", []byte("[server]\nListen = 1\n"+text), Options{})
	return c, texts(warnings)
}

// What an Apache configuration with mod_jk says, in this file's syntax.
func TestField17HTTPDJk(t *testing.T) {
	c, warnings, err := Load("testdata/httpd-jk/jkd.conf", Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, texts(warnings))
	}
	jk, root := c.Jk, c.Server.ServerRoot
	shop80, shop443, plain := c.VHost([]byte("shop.example.test"), 80), c.VHost([]byte("SHOP.example.test"), 443), c.VHost([]byte("plain.example.test."), 8080)
	if shop80 != 1 || shop443 != 2 || plain != 3 || len(jk.Servers) != 4 {
		t.Fatal(shop80, shop443, plain, len(jk.Servers))
	}
	for _, host := range []string{"", "other.example.test", "shop.example.tes", "xshop.example.test"} {
		if v := c.VHost([]byte(host), 80); v != 0 {
			t.Errorf("%q is served by %d", host, v)
		}
	}
	if v := c.VHost([]byte("shop.example.test"), 8080); v != 0 {
		t.Errorf("port 8080 is served by %d", v)
	}

	if want := []Pair{{"worker.list", "extra", 11}, {"worker.extra.type", "ajp13", 12}}; !reflect.DeepEqual(jk.Properties, want) {
		t.Errorf("properties %v", jk.Properties)
	}
	if jk.WatchdogInterval != time.Minute || jk.ShmFile != filepath.Join(root, "run/jk.shm") {
		t.Errorf("got %v %s", jk.WatchdogInterval, jk.ShmFile)
	}
	main := jk.Main()
	if want := []Mount{{"/global/*", "lb", 23}, {"/status", "jkstatus", 24}}; !reflect.DeepEqual(main.Mounts, want) {
		t.Errorf("global mounts %v", main.Mounts)
	}
	if main.MountFile == nil || main.MountFile.Path != filepath.Join(root, "conf/uriworkermap.properties") {
		t.Errorf("map file %v", main.MountFile)
	}
	for i := range jk.Servers {
		s := &jk.Servers[i]
		want := JkOptions{ForwardURI: ForwardURICompatUnparsed, ForwardURISet: true, ForwardKeySize: true, ForwardSSLCertChain: true}
		if s.Options != want {
			t.Errorf("server %d has options %+v", i, s.Options)
		}
		if s.MountFileReload != 10*time.Second || s.LogFile != filepath.Join(root, "logs/mod_jk.log") || s.LogLevel != LogInfo ||
			!s.LogLevelSet || s.LogStampFormat != "[%a %b %d %H:%M:%S %Y] " || s.RequestLogFormat != "%w %V %T" {
			t.Errorf("server %d has %+v", i, s)
		}
	}

	s := &jk.Servers[shop80]
	if want := []Mount{{"/*", "lb", 29}, {"/*.do", "lb", 30}}; !reflect.DeepEqual(s.Mounts, want) {
		t.Errorf("mounts of shop:80 %v", s.Mounts)
	}
	if want := []Mount{{"/favicon.ico", "lb", 27}, {"/static/*", "lb", 28}}; !reflect.DeepEqual(s.UnMounts, want) {
		t.Errorf("exceptions of shop:80 %v", s.UnMounts)
	}
	if !s.StripSession || s.SessionName != ";jsessionid" || s.MountFile != nil || s.MountCopy != CopyOff || len(s.EnvVars) > 0 {
		t.Errorf("shop:80 has %+v", s)
	}

	s = &jk.Servers[shop443]
	if want := []Mount{{"/examples|/*", "lb;reply_timeout=30000", 41}, {"/jkstatus", "jkstatus", 44}}; !reflect.DeepEqual(s.Mounts, want) {
		t.Errorf("mounts of shop:443 %v", s.Mounts)
	}
	if s.MountCopy != CopyOn || s.MountFile != main.MountFile || s.StripSession {
		t.Errorf("shop:443 has %+v", s)
	}
	if want := []JkEnvVar{{Name: "REMOTE_USER"}, {Name: "eppn", HasDefault: true}}; !reflect.DeepEqual(s.EnvVars, want) {
		t.Errorf("variables of shop:443 %v", s.EnvVars)
	}

	s = &jk.Servers[plain]
	if len(s.Mounts) > 0 || s.MountFile != nil || s.MountCopy != CopyOff {
		t.Errorf("plain:8080 has %+v", s)
	}

	if want := []Location{
		{VHost: shop80, Path: "/app/static/", Line: 34, Env: []EnvSetting{{Name: "no-jk"}}},
		{VHost: shop443, Path: "/jkstatus", Line: 43, Worker: "jkstatus", WorkerLine: 44},
		{VHost: shop443, Path: "/api", Line: 47, Handler: JkHandler, Env: []EnvSetting{{Name: "JK_WORKER_NAME", Value: "lb"}}},
	}; !reflect.DeepEqual(c.Locations, want) {
		t.Errorf("locations %+v", c.Locations)
	}
}

// A minus beats a plus within a server, and a virtual host begins with what
// the main server ends with.
func TestJkOptions(t *testing.T) {
	on := func(set func(*JkOptions)) JkOptions {
		o := JkOptions{ForwardKeySize: true}
		if set != nil {
			set(&o)
		}
		return o
	}
	for _, tc := range []struct {
		name, main, vhost   string
		wantMain, wantVHost JkOptions
	}{
		{"nothing", "", "", on(nil), on(nil)},
		{"minus after plus", "+FlushHeader -FlushHeader", "", on(nil), on(nil)},
		{"minus before plus", "-FlushHeader +FlushHeader", "", on(nil), on(nil)},
		{"names without case or sign", "flushheader FLUSHPACKETS +rejectunsafeuri", "",
			on(func(o *JkOptions) { o.FlushHeader, o.FlushPackets, o.RejectUnsafeURI = true, true, true }),
			on(func(o *JkOptions) { o.FlushHeader, o.FlushPackets, o.RejectUnsafeURI = true, true, true })},
		{"a virtual host takes away", "+DisableReuse +FlushHeader", "-DisableReuse",
			on(func(o *JkOptions) { o.DisableReuse, o.FlushHeader = true, true }), on(func(o *JkOptions) { o.FlushHeader = true })},
		{"a virtual host gives back what main took", "-ForwardKeySize -FlushHeader", "+ForwardKeySize +FlushHeader",
			JkOptions{}, on(func(o *JkOptions) { o.FlushHeader = true })},
		{"the last form wins", "ForwardURICompat ForwardURIEscaped", "",
			on(func(o *JkOptions) { o.ForwardURI, o.ForwardURISet = ForwardURIEscaped, true }),
			on(func(o *JkOptions) { o.ForwardURI, o.ForwardURISet = ForwardURIEscaped, true })},
		{"a form replaces the inherited one", "ForwardURICompat", "+ForwardURIProxy",
			on(func(o *JkOptions) { o.ForwardURI, o.ForwardURISet = ForwardURICompat, true }),
			on(func(o *JkOptions) { o.ForwardURI, o.ForwardURISet = ForwardURIProxy, true })},
		{"all the others", "ForwardDirectories ForwardLocalAddress ForwardPhysicalAddress ForwardSSLCertChain -ForwardKeySize", "",
			JkOptions{ForwardDirectories: true, ForwardLocalAddress: true, ForwardPhysicalAddress: true, ForwardSSLCertChain: true},
			JkOptions{ForwardDirectories: true, ForwardLocalAddress: true, ForwardPhysicalAddress: true, ForwardSSLCertChain: true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// One line each, the virtual host before the section it inherits from.
			lines := func(s string) (out string) {
				for _, w := range strings.Fields(s) {
					out += "JkOptions = " + w + "\n"
				}
				return out
			}
			for form, text := range map[string]string{
				"lines": "[vhost a]\n" + lines(tc.vhost) + "[connector.jk]\n" + lines(tc.main),
				"words": "[connector.jk]\n" + oneLine(tc.main) + "[vhost a]\n" + oneLine(tc.vhost),
			} {
				c, warnings := parse(t, text)
				if len(warnings) > 0 || c.Jk.Servers[0].Options != tc.wantMain || c.Jk.Servers[1].Options != tc.wantVHost {
					t.Errorf("%s: got %+v\n%q", form, c.Jk.Servers, warnings)
				}
			}
		})
	}
	_, warnings := parse(t, "[connector.jk]\nJkOptions = +CollapseSlashesAll -CollapseSlashesUnmount\n")
	if want := []string{
		"/etc/f:4: JkOptions: CollapseSlashesAll has no effect: slashes are always collapsed",
		"/etc/f:4: JkOptions: CollapseSlashesUnmount has no effect: slashes are always collapsed",
	}; !reflect.DeepEqual(warnings, want) {
		t.Errorf("got %q", warnings)
	}
}

func oneLine(s string) string {
	if s == "" {
		return ""
	}
	return "JkOptions = " + s + "\n"
}

// Everything of scope V: what a virtual host inherits, and what it has of its
// own.
func TestJkInheritance(t *testing.T) {
	dir := write(t, map[string]string{"m1": "/a=w\n", "m2": "/b=w\n", "alias1/x": "", "alias2/x": ""})
	text := func(s string) string { return strings.ReplaceAll(s, "DIR", dir) }
	main := text(`[connector.jk]
JkMount = /main w
JkUnMount = /main/no w
JkMountFile = DIR/m1
JkMountFileReload = -1
JkAutoAlias = DIR/alias1
JkStripSession = On ;sid
JkExtractSSL = Off
JkEnvVar = A 1
JkEnvVar = B
JkEnvVar = C ""
JkEnvVar = A 2
JkHTTPSIndicator = MY_HTTPS
JkLocalAddrIndicator = MY_ADDR
JkLogFile = DIR/log1
JkLogLevel = DEBUG
JkLogStampFormat = "%Y "
JkRequestLogFormat = %w
`)
	base := DefaultJkServer()
	base.MountFileReload = 0
	base.StripSession, base.SessionName, base.ExtractSSL = true, ";sid", false
	base.EnvVars = []JkEnvVar{{"A", "2", true}, {"B", "", false}, {"C", "", true}}
	base.Indicators.HTTPS, base.Indicators.LocalAddr = "MY_HTTPS", "MY_ADDR"
	base.LogFile, base.LogLevel, base.LogLevelSet = dir+"/log1", LogDebug, true
	base.LogStampFormat, base.RequestLogFormat = "%Y ", "%w"
	m1, m2 := &File{dir + "/m1", []byte("/a=w\n")}, &File{dir + "/m2", []byte("/b=w\n")}

	for _, tc := range []struct {
		name, copy, vhost string
		want              func(*JkServer)
	}{
		{"nothing said", "", "", func(*JkServer) {}},
		{"copy on", "", "JkMountCopy = On\n", func(s *JkServer) {
			s.MountCopy, s.MountFile, s.AutoAlias = CopyOn, m1, dir+"/alias1"
		}},
		{"copy on, file and alias of its own", "", "JkMountCopy = on\nJkMountFile = DIR/m2\nJkAutoAlias = DIR/alias2\n", func(s *JkServer) {
			s.MountCopy, s.MountFile, s.AutoAlias = CopyOn, m2, dir+"/alias2"
		}},
		{"file and alias of its own", "", "JkMountFile = DIR/m2\nJkMountFileReload = 5\nJkAutoAlias = DIR/alias2\n", func(s *JkServer) {
			s.MountFile, s.AutoAlias, s.MountFileReload = m2, dir+"/alias2", 5*time.Second
		}},
		{"copy all", "JkMountCopy = All\n", "", func(s *JkServer) {
			s.MountCopy, s.MountFile, s.AutoAlias = CopyOn, m1, dir+"/alias1"
		}},
		{"copy all, but off here", "JkMountCopy = all\n", "JkMountCopy = Off\n", func(*JkServer) {}},
		{"mounts", "JkMountCopy = All\n", "JkMount = /v w\nJkUnMount = /v/no *\n", func(s *JkServer) {
			s.MountCopy, s.MountFile, s.AutoAlias = CopyOn, m1, dir+"/alias1"
			s.Mounts, s.UnMounts = []Mount{{"/v", "w", 4}}, []Mount{{"/v/no", "*", 5}}
		}},
		{"variables", "", "JkEnvVar = C 3\nJkEnvVar = A\nJkEnvVar = D d\n", func(s *JkServer) {
			s.EnvVars = []JkEnvVar{{"A", "", false}, {"B", "", false}, {"C", "3", true}, {"D", "d", true}}
		}},
		{"indicators", "", "JkLocalAddrIndicator = OTHER\nJkRequestIdIndicator = RID\n", func(s *JkServer) {
			s.Indicators.LocalAddr, s.Indicators.RequestID = "OTHER", "RID"
		}},
		{"the server's own log", "", "JkLogFile = \"\"\nJkLogLevel = trace\nJkLogStampFormat = \"\"\nJkRequestLogFormat = \"%v %T\"\n", func(s *JkServer) {
			s.LogFile, s.LogLevel, s.LogStampFormat, s.RequestLogFormat = "", LogTrace, "", "%v %T"
		}},
		{"the rest", "", "JkStripSession = Off\nJkExtractSSL = On\n", func(s *JkServer) {
			s.StripSession, s.SessionName, s.ExtractSSL = false, ";jsessionid", true
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, warnings := parse(t, "[vhost a]\n"+text(tc.vhost)+main+tc.copy)
			if len(warnings) > 0 {
				t.Fatal(warnings)
			}
			want := base
			want.EnvVars = append([]JkEnvVar(nil), base.EnvVars...)
			tc.want(&want)
			// The main server's formats stand behind the virtual host.
			own := strings.Contains(tc.vhost, "JkLogStampFormat")
			if s := &c.Jk.Servers[1]; own != (s.LogStampLine < c.Jk.Servers[0].LogStampLine) || own != (s.RequestLogLine < c.Jk.Servers[0].RequestLogLine) ||
				s.LogStampLine == 0 || s.RequestLogLine == 0 {
				t.Errorf("formats of lines %d and %d, main's are in %d and %d", s.LogStampLine, s.RequestLogLine,
					c.Jk.Servers[0].LogStampLine, c.Jk.Servers[0].RequestLogLine)
			}
			for i := range c.Jk.Servers {
				c.Jk.Servers[i].LogStampLine, c.Jk.Servers[i].RequestLogLine = 0, 0
			}
			if !reflect.DeepEqual(c.Jk.Servers[1], want) {
				t.Errorf("got %+v\nwant %+v", c.Jk.Servers[1], want)
			}
			mainWant := base
			mainWant.MountFile, mainWant.AutoAlias = m1, dir+"/alias1"
			if tc.copy != "" {
				mainWant.MountCopy = CopyAll
			}
			got := c.Jk.Servers[0]
			if len(got.Mounts) != 1 || len(got.UnMounts) != 1 {
				t.Errorf("main has %+v", got)
			}
			got.Mounts, got.UnMounts = nil, nil
			if !reflect.DeepEqual(got, mainWant) {
				t.Errorf("main: got %+v\nwant %+v", got, mainWant)
			}
		})
	}
}

// Every indicator has a default and a directive that changes this one only.
func TestJkIndicators(t *testing.T) {
	if n := reflect.TypeFor[JkIndicators]().NumField(); n != len(jkIndicators) {
		t.Errorf("%d directives for %d fields", len(jkIndicators), n)
	}
	for name, where := range jkIndicators {
		c, _ := parse(t, "[connector.jk]\n"+name+" = OTHER\n")
		want := DefaultIndicators()
		if *where(&want) == "" {
			t.Errorf("%s has no default", name)
		}
		*where(&want) = "OTHER"
		if got := c.Jk.Main().Indicators; got != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestJkWarnings(t *testing.T) {
	c, warnings := parse(t, "[connector.jk]\nJkMountCopy = On\nJkShmSize = 64\nJkAutoAlias = /no/where\nJkLogLevel = info\nJkLogLevel = warn\n")
	want := []string{
		"/etc/f:4: JkMountCopy: On has an effect in a virtual host only; All is for every one of them",
		"/etc/f:5: JkShmSize: has no effect: the segment has the size that the workers need",
		"/etc/f:6: JkAutoAlias: the directory /no/where does not exist",
		"/etc/f:8: JkLogLevel: given again: this one counts, not info of line 7",
	}
	if !reflect.DeepEqual(warnings, want) {
		t.Errorf("got %q", warnings)
	}
	if c.Jk.ShmSize != 64<<10 || c.Jk.Main().LogLevel != LogWarn {
		t.Errorf("got %+v", c.Jk)
	}
}

func TestVHosts(t *testing.T) {
	c, warnings := parse(t, `SetEnv = A main
CustomLog = /dev/main
LogFormat = "%h" late
[vhost Www.Example.test.]
ServerAlias = example.test www.example.test "EXAMPLE.test"
ServerAlias = *.a.example.test 127.0.0.1 [::1]
SetEnv = A "own value"
UnsetEnv = B
CustomLog = /dev/own late env=A
[vhost www.example.test:8080]
ServerAlias = *.example.test
[vhost other]
ServerAlias = w?w.* *
[location /x]
UnsetEnv = A
[location www.example.test:8080 "/a b"]
SetEnv = C ""
[location WWW.example.test. /y]
SetHandler = Jakarta-Servlet
`)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	main := EnvSetting{Name: "A", Value: "main"}
	if want := []VHost{
		{Name: "www.example.test", Aliases: []string{"example.test", "*.a.example.test", "127.0.0.1", "::1"}, Line: 6,
			Env: []EnvSetting{main, {Name: "A", Value: "own value"}, {Name: "B", Unset: true}}},
		{Name: "www.example.test", Port: 8080, Aliases: []string{"*.example.test"}, Line: 12, Env: []EnvSetting{main}},
		{Name: "other", Aliases: []string{"w?w.*", "*"}, Line: 14, Env: []EnvSetting{main}},
	}; !reflect.DeepEqual(c.VHosts, want) {
		t.Errorf("got %+v\nwant %+v", c.VHosts, want)
	}
	if want := []EnvSetting{main}; !reflect.DeepEqual(c.Env, want) {
		t.Errorf("variables %v", c.Env)
	}
	if want := []CustomLog{
		{Path: "/dev/main", Format: CommonFormat, Line: 4},
		{Path: "/dev/own", Format: "%h", Env: "A", VHost: 1, Line: 11},
	}; !reflect.DeepEqual(c.CustomLogs, want) {
		t.Errorf("logs %+v", c.CustomLogs)
	}
	if want := []Location{
		{Path: "/x", Line: 16, Env: []EnvSetting{{Name: "A", Unset: true}}},
		{VHost: 2, Path: "/a b", Line: 18, Env: []EnvSetting{{Name: "C"}}},
		{VHost: 1, Path: "/y", Line: 20, Handler: JkHandler},
	}; !reflect.DeepEqual(c.Locations, want) {
		t.Errorf("locations %+v", c.Locations)
	}

	for _, tc := range []struct {
		host string
		port int
		want int
	}{
		{"www.example.test", 80, 1}, {"WWW.EXAMPLE.TEST.", 80, 1}, {"www.example.test", 8080, 2},
		{"example.test", 8080, 1}, {"127.0.0.1", 1, 1}, {"::1", 1, 1},
		{"x.a.example.test", 8080, 1}, {"x.b.example.test", 8080, 2}, {"x.b.example.test", 80, 3},
		{"a.example.test", 8080, 2}, {".a.example.test", 8080, 1}, {"wow.example.test", 8080, 2},
		{"other", 80, 3}, {"anything", 80, 3}, {"", 80, 3}, {".", 80, 3}, {strings.Repeat("x", 300), 80, 3},
	} {
		if got := c.VHost([]byte(tc.host), tc.port); got != tc.want {
			t.Errorf("%.40s:%d is served by %d, want %d", tc.host, tc.port, got, tc.want)
		}
	}
	made := &Config{VHosts: c.VHosts}
	if got := made.VHost([]byte("www.example.test"), 8080); got != 2 {
		t.Errorf("made in code: %d", got)
	}
	host := []byte("X.A.Example.test")
	if n := testing.AllocsPerRun(100, func() { c.VHost(host, 8080); c.VHost(host[4:], 8080) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"?", "", false}, {"", "", true}, {"", "a", false}, {"a*", "a", true}, {"a*b*c", "axbxbxc", true},
		{"a*b*c", "axbxbx", false}, {"*.x", "a.b.x", true}, {"*.x", "x", false}, {"?.x", "a.x", true}, {"**", "ab", true}, {"a", "ab", false},
		{strings.Repeat("*a", 100) + "b", strings.Repeat("a", 250), false},
	} {
		if got := Wildcard(tc.pattern, []byte(tc.name)); got != tc.want {
			t.Errorf("%s and %s: %v", tc.pattern, tc.name, got)
		}
	}
}

// Virtual hosts may mount only where workers are named.
func TestMountsWithoutConnector(t *testing.T) {
	for text, want := range map[string]string{
		"[vhost a]\nJkStripSession = On\nJkMount = /x w\n": "f:4: JkStripSession: needs a section [connector.jk], which names the workers",
		"[location /x]\nJkMount = w\n":                     "f:4: JkMount: needs a section [connector.jk], which names the workers",
		"[vhost a]\nSetEnv = a\n[location /x]\nSetEnv = a": "",
	} {
		_, _, err := Parse("f", []byte("[server]\nListen = 1\n"+text), Options{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func BenchmarkVHost(b *testing.B) {
	c := &Config{}
	for i := range 100 {
		c.VHosts = append(c.VHosts, VHost{Name: strings.Repeat("x", i) + ".example.test"})
	}
	c.index()
	host := []byte("xxxxxxxxxxxxxxxxxxxxxxxx.example.test")
	b.ReportAllocs()
	for b.Loop() {
		if c.VHost(host, 80) != 25 {
			b.Fatal("not found")
		}
	}
}
