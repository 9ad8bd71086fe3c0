package conf

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// write makes files below a new directory and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func texts(warnings []Warning) []string {
	var out []string
	for _, w := range warnings {
		out = append(out, w.String())
	}
	return out
}

func TestLoadMinimal(t *testing.T) {
	dir := write(t, map[string]string{"jkd.conf": "[server]\nListen = 8080\n[connector.jk]\n"})
	got, warnings, err := Load(filepath.Join(dir, "jkd.conf"), Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := Defaults()
	want.Path = filepath.Join(dir, "jkd.conf")
	want.Server.Listen = []Listen{{"", 8080}}
	want.Server.ServerRoot = dir
	want.Server.PidFile = filepath.Join(dir, "logs/jkd.pid")
	want.Server.ErrorLog = filepath.Join(dir, "logs/error_log")
	want.Jk = &Jk{Servers: []JkServer{DefaultJkServer()}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestLoadEverything(t *testing.T) {
	dir := write(t, map[string]string{
		"etc/jkd.conf": `
[Server]
listen = 8080
LISTEN = [::1]:8080
ServerName = www.example.test:80
ServerRoot = ..
PidFile = run/pid
ErrorLog = "log/error log"
LogLevel = Debug
CustomLog = log/access "%h %l %u %t \"%r\" %>s %b"
CustomLog = log/short short env=!quiet
CustomLog = log/rest %h "%r" %>s env=loud
LogFormat = "%h %>s" short
SetEnv = A b
UnsetEnv = B C
MPM = Worker
ScoreBoardFile = run/score
KeepAlive = off
MaxKeepAliveRequests = 0
KeepAliveTimeout = 1500ms
KeepAliveParking = off
TimeOut = 2min
GracefulShutdownTimeout = 1h
ListenBacklog = 1
LimitRequestLine = 16k
LimitRequestFields = 0
LimitRequestFieldSize = 1k
LimitRequestBody = 10g

[mpm.prefork]
StartServers = 1
MinSpareServers = 2
MaxSpareServers = 3
ServerLimit = 40
MaxClients = 50
MaxRequestsPerChild = 6

[mpm.worker]
StartServers = 2
MinSpareThreads = 10
MaxSpareThreads = 100
ServerLimit = 20
ThreadLimit = 100
ThreadsPerChild = 50
MaxRequestWorkers = 500
MaxConnectionsPerChild = 7

[connector.jk]
JkWorkersFile = etc/w.properties
JkMountFile = ` + "\x22etc/map.properties\x22" + `
JkMount = /a/* w
JkMount = "/b b/*" 'w;fail_on_status=404, 503'
JkUnMount = /a/x w
JkWorkerProperty = worker.w.secret = a=b#c
`,
		"etc/w.properties":   "worker.list=w\n",
		"etc/map.properties": "/m=w\n",
		"run/x":              "",
		"log/x":              "",
	})
	got, warnings, err := Load(filepath.Join(dir, "etc/jkd.conf"), Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, texts(warnings))
	}
	at := func(s string) string { return filepath.Join(dir, s) }
	want := &Config{
		Path: at("etc/jkd.conf"),
		Server: ServerConfig{
			Listen:     []Listen{{"", 8080}, {"::1", 8080}},
			ServerName: "www.example.test", ServerPort: 80,
			ServerRoot: dir, PidFile: at("run/pid"), ErrorLog: at("log/error log"), PidFileSet: true, ErrorLogSet: true,
			LogLevel: LogDebug, MPM: Worker, ScoreBoardFile: at("run/score"),
			KeepAliveTimeout: 1500 * time.Millisecond, TimeOut: 2 * time.Minute, GracefulShutdownTimeout: time.Hour,
			ListenBacklog: 1, LimitRequestLine: 16384, LimitRequestFieldSize: 1024, LimitRequestBody: 10 << 30,
		},
		Prefork: PreforkConfig{1, 2, 3, 40, 50, 6}, // not in use: read, not corrected
		Worker: WorkerConfig{StartServers: 2, MinSpareThreads: 10, MaxSpareThreads: 100, ServerLimit: 20, ThreadLimit: 100,
			ThreadsPerChild: 50, MaxRequestWorkers: 500, MaxConnectionsPerChild: 7},
		Jk: &Jk{
			WorkersFile: &File{at("etc/w.properties"), []byte("worker.list=w\n")},
			Servers:     []JkServer{DefaultJkServer()},
			Properties:  []Pair{{"worker.w.secret", "a=b#c", 54}},
		},
		Env:        []EnvSetting{{Name: "A", Value: "b"}, {Name: "B", Unset: true}, {Name: "C", Unset: true}},
		LogFormats: map[string]string{"short": "%h %>s"},
		CustomLogs: []CustomLog{
			{Path: at("log/access"), Format: CommonFormat, Line: 10}, {Path: at("log/short"), Format: "%h %>s", Env: "!quiet", Line: 11},
			{Path: at("log/rest"), Format: `%h "%r" %>s`, Env: "loud", Line: 12},
		},
	}
	main := want.Jk.Main()
	main.MountFile = &File{at("etc/map.properties"), []byte("/m=w\n")}
	main.Mounts = []Mount{{"/a/*", "w", 51}, {"/b b/*", "w;fail_on_status=404, 503", 52}}
	main.UnMounts = []Mount{{"/a/x", "w", 53}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v %+v\nwant %+v %+v", got, got.Jk, want, want.Jk)
	}

	snapshot, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, want) {
		t.Errorf("decoded %+v\nwant %+v", back, want)
	}
}

func TestMPMOverride(t *testing.T) {
	text := []byte("[server]\nListen = 1\nMPM = worker\n[mpm.prefork]\nMaxRequestWorkers = 300\n[mpm.worker]\nThreadsPerChild = 100\n[connector.jk]\n")
	for mpm, want := range map[string][]string{
		"":        {"f:7: ThreadsPerChild: 100 is more than ThreadLimit 64; 64 is used", "f:7: MaxRequestWorkers: 400 is not a multiple of ThreadsPerChild 64; 384 is used"},
		"prefork": {"f:5: MaxRequestWorkers: 300 is more than ServerLimit 256; 256 is used"},
		"Worker":  {"f:7: ThreadsPerChild: 100 is more than ThreadLimit 64; 64 is used", "f:7: MaxRequestWorkers: 400 is not a multiple of ThreadsPerChild 64; 384 is used"},
	} {
		c, warnings, err := Parse("f", text, Options{MPM: mpm})
		if err != nil {
			t.Fatal(err)
		}
		if c.Server.MPM != strings.ToLower(cmpOr(mpm, "worker")) {
			t.Errorf("%q: MPM is %q", mpm, c.Server.MPM)
		}
		if got := texts(warnings); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", mpm, got, want)
		}
	}
	_, _, err := Parse("f", text, Options{MPM: "event"})
	if err == nil || err.Error() != "-mpm: the MPM event is not supported, use worker" {
		t.Errorf("got %v", err)
	}
}

func TestConfigBesideErrors(t *testing.T) {
	for text, there := range map[string]bool{
		"Listen = x\n[connector.jk]\nJkMount = /a b\n":                       true,
		"Listen = 1\n[connector.jk]\nJkMount = /a\nJkMount = /a b\n":         true,
		"Listen = 1\n[connector.jk]\nJkLogLevel = loud\nJkMount = /a b\n":    true,
		"Listen = 1\n[connector.jk]\nJkUnMount = /a\nJkMount = /a b\n":       true,
		"Listen = 1\n[connector.jk]\nJkWorkerProperty = x\nJkMount = /a b\n": false,
		"Listen = 1\n[connector.jk]\nJkWorkersFile = /a/b\nJkMount = /a b\n": false,
		"Listen = 1\n[connector.jk]\nJkMuont = /a b\n":                       false,
		"Listen = 1\nnonsense\n[connector.jk]\nJkMount = /a b\n":             false,
		"Listen = x\n": false,
		"Listen = 1\n[statsu]\n[connector.jk]\nJkMount = /a b\n": true,
	} {
		c, _, err := Parse("f", []byte("[server]\n"+text), Options{})
		if err == nil || (c != nil) != there || there && len(c.Jk.Main().Mounts) != 1 {
			t.Errorf("%q: got %+v, %v", text, c, err)
		}
	}
}

func TestSlots(t *testing.T) {
	for text, want := range map[string]string{
		"ServerLimit = 20000":                      "f:5: ServerLimit: ServerLimit 20000 times ThreadLimit 64 is more than 1048576",
		"ThreadLimit = 20000\nServerLimit = 60000": "f:6: ServerLimit: ServerLimit 20000 times ThreadLimit 20000 is more than 1048576",
		"ServerLimit = 100\nThreadLimit = 10000":   "",
	} {
		_, _, err := Parse("f", []byte("[server]\nListen = 1\nMPM = worker\n[mpm.worker]\n"+text+"\n"), Options{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func TestLoadFaultyPaths(t *testing.T) {
	dir := write(t, map[string]string{"dir/x": "", "secret": "", "c.conf": `[server]
Listen = 1
ServerRoot = nowhere
[connector.jk]
JkWorkersFile = ../dir
JkMountFile = ../missing
`, "big": strings.Repeat("#\n", MaxFile/2+1)})
	check := func(name string, want ...string) {
		t.Helper()
		_, _, err := Load(filepath.Join(dir, name), Options{})
		if err == nil {
			t.Fatalf("%s: no error", name)
		}
		var errs Errors
		if !errors.As(err, &errs) {
			t.Fatalf("%s: %T", name, err)
		}
		var one *Error
		if !errors.As(err, &one) || one != errs[0] {
			t.Errorf("%s: the first fault cannot be had by errors.As", name)
		}
		if got := strings.ReplaceAll(err.Error(), dir, "DIR"); got != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, strings.Join(want, "\n"))
		}
	}
	check("missing", "DIR/missing: no such file or directory")
	check("dir", "DIR/dir: is a directory, not a file")
	check("big", fmt.Sprintf("DIR/big: the file is larger than %d bytes", MaxFile))
	check("c.conf",
		"DIR/c.conf:3: ServerRoot: DIR/nowhere: no such file or directory",
		"DIR/c.conf:5: JkWorkersFile: DIR/dir: is a directory, not a file",
		"DIR/c.conf:6: JkMountFile: DIR/missing: no such file or directory")
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Join(dir, "secret"), 0); err != nil {
			t.Fatal(err)
		}
		check("secret", "DIR/secret: permission denied")
	}
	if _, err := readFile(os.DevNull); err == nil || err.Error() != "is not a regular file" {
		t.Errorf("%s: %v", os.DevNull, err)
	}
}

func TestWarnings(t *testing.T) {
	dir := write(t, map[string]string{"x": ""})
	_, warnings, err := Load(filepath.Join(write(t, map[string]string{"c.conf": `[server]
Listen = 1
TimeOut = 5
TimeOut = 6
KeepAliveTimeout = 0
PidFile = ` + dir + `/no/pid
MPM = worker
[mpm.worker]
ThreadStackSize = 1m
MaxClients = 100
MaxRequestWorkers = 150
StartServers = 0
`}), "c.conf"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, fmt.Sprintf("%d %s: %s", w.Line, w.Key, strings.ReplaceAll(w.Msg, dir, "DIR")))
	}
	want := []string{
		"4 TimeOut: given again: this one counts, not 5 of line 3",
		"5 KeepAliveTimeout: 0 leaves no time for a second request; KeepAlive Off is used",
		"6 PidFile: the directory DIR/no does not exist",
		"9 ThreadStackSize: has no effect: stacks grow by themselves",
		"11 MaxRequestWorkers: given again: this one counts, not 100 of line 10",
		"12 StartServers: 0 is less than 1; 1 is used",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A format is a nickname or contains a '%'; what it means is not judged here.
func TestCustomLogFormat(t *testing.T) {
	for format, want := range map[string]string{
		"":             "",
		"common":       "",
		"combined":     "",
		CombinedFormat: "",
		`"%h \"%r\""`:  "",
		"%h":           "",
		"env=a":        "",
		"common env=a": "",
		"comon":        "f:3: CustomLog: unknown format \"comon\", did you mean common? (combined, common)",
		`"%h" env=`:    "f:3: CustomLog: \"env=\" is neither env=NAME nor env=!NAME",
		`"%h" env=!`:   "f:3: CustomLog: \"env=!\" is neither env=NAME nor env=!NAME",
		`"%h" a`:       "f:3: CustomLog: \"a\" follows the format; only env=NAME or env=!NAME may",
		"%h expr=a":    "f:3: CustomLog: a condition expr= is not supported, only env=NAME and env=!NAME",
		`""`:           "f:3: CustomLog: the format is empty",
	} {
		_, _, err := Parse("f", []byte("[server]\nListen = 1\nCustomLog = logs/a "+format+"\n"), Options{})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
}

// Each file of testdata/invalid must fail with the text beside it.
func TestInvalid(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid/*.conf")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			_, _, err := Load(name, Options{})
			if err == nil {
				t.Fatal("loaded")
			}
			got := strings.ReplaceAll(err.Error(), here, "HERE") + "\n"
			golden := strings.TrimSuffix(name, ".conf") + ".err"
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

func TestSample(t *testing.T) {
	cfg, warnings, err := Load("jkd.conf.sample", Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, texts(warnings))
	}
	if cfg.Jk == nil || cfg.Jk.WorkersFile == nil || cfg.Jk.Main().MountFile == nil {
		t.Error("the sample names no connector files")
	}
	if len(cfg.VHosts) > 0 || len(cfg.Locations) > 0 {
		t.Error("the sample has virtual hosts of its own")
	}

	// Every directive is in the sample, and what is commented out there is
	// its default.
	data, err := os.ReadFile("jkd.conf.sample")
	if err != nil {
		t.Fatal(err)
	}
	sections, errs := ReadSections("sample", uncomment(data))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, section := range []string{serverSection, "mpm.prefork", "mpm.worker", jkSection} {
		seen := map[string]bool{}
		for _, p := range sections.Get(section) {
			seen[p.Key] = true
		}
		for _, name := range namesOf(section) {
			if !seen[name] && name != "ThreadStackSize" {
				t.Errorf("[%s] lacks %s", section, name)
			}
		}
	}
	for _, name := range []string{"User", "Group", "ChrootDir", "CoreDumpDirectory", "ServerRoot", "ServerName", "CustomLog", "ScoreBoardFile", "Listen", "PidFile", "ControlSocket", "ErrorLog", "AcceptFilter",
		"LogFormat", "SetEnv", "UnsetEnv", "JkMount", "JkUnMount", "JkWorkerProperty", "JkAutoAlias", "JkOptions", "JkEnvVar",
		"SetEnvIf", "SetEnvIfNoCase", "BrowserMatch", "BrowserMatchNoCase", "DocumentRoot", "Alias", "AliasMatch", "Redirect", "RedirectMatch", "RedirectTemp", "RedirectPermanent", "ErrorDocument", "Header", "RequestHeader", "DirectoryIndex", "Options", "AllowOverride",
		"TypesConfig", "AddType", "ForceType", "DefaultType", "AddCharset", "AddDefaultCharset", "AddEncoding", "PrecompressedFiles",
		"JkLogFile", "JkLogLevel", "JkRequestLogFormat", "JkShmFile", "JkShmSize"} {
		data = bytes.ReplaceAll(data, []byte("\n#"+name+" ="), []byte("\n# "+name+" ="))
	}
	got, warnings, err := Parse("jkd.conf.sample", uncomment(data), Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, texts(warnings))
	}
	got.Jk.Main().LogStampLine = 0 // it says the default
	if !reflect.DeepEqual(got, cfg) {
		t.Errorf("a default in the sample is wrong:\n%+v\n%+v", got, cfg)
	}
}

// The examples of virtual hosts at the end of the sample can be used.
func TestSampleVHosts(t *testing.T) {
	data, err := os.ReadFile("jkd.conf.sample")
	if err != nil {
		t.Fatal(err)
	}
	var on [][]byte
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("#[")); ok {
			line = append([]byte("["), rest...)
		}
		if rest, ok := bytes.CutPrefix(line, []byte("#  ")); ok {
			line = rest
		}
		on = append(on, line)
	}
	text := bytes.ReplaceAll(bytes.Join(on, nil), []byte("logs/shop_log"), []byte("shop_log")) // there is no logs here
	text = bytes.ReplaceAll(text, []byte("status.htpasswd"), []byte("testdata/status.htpasswd"))
	cfg, warnings, err := Parse("jkd.conf.sample", text, Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, texts(warnings))
	}
	if cfg.Jk2 == nil || cfg.Jk2.File == nil {
		t.Error("the sample names no workers2.properties")
	}
	for _, name := range namesOf(jk2Section) {
		if !bytes.Contains(data, []byte("\n#  "+name+" = ")) {
			t.Errorf("[%s] lacks %s", jk2Section, name)
		}
	}
	for _, name := range namesOf(statusSection) {
		if !bytes.Contains(data, []byte("\n#  "+name+" = ")) {
			t.Errorf("[%s] lacks %s", statusSection, name)
		}
	}
	if cfg.Status == nil || !reflect.DeepEqual(cfg.Status.Require, loopback) || cfg.Status.AuthName != DefaultAuthName || !cfg.Status.ExtendedStatus || cfg.Status.ShowQueryStrings {
		t.Errorf("a default of [status] in the sample is wrong: %+v", cfg.Status)
	}
	if len(cfg.VHosts) != 1 || len(cfg.Locations) != 4 || len(cfg.Jk.Servers) != 2 || len(cfg.Jk.Servers[1].Mounts) != 2 {
		t.Errorf("got %+v %+v %+v", cfg.VHosts, cfg.Locations, cfg.Jk.Servers)
	}
}

// uncomment removes the '#' before a directive, but not the one of text.
func uncomment(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, l := range lines {
		if len(l) > 1 && l[0] == '#' && l[1] != ' ' && bytes.Contains(l, []byte(" = ")) {
			lines[i] = l[1:]
		}
	}
	return bytes.Join(lines, nil)
}

func TestIdentity(t *testing.T) {
	c, _, err := Parse("f", []byte("[server]\nListen = 1\nUser = #54321\nGroup = #54322\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (&Identity{UID: 54321, GID: 54322, Groups: []uint32{54322}}); !reflect.DeepEqual(c.Server.Identity, want) {
		t.Errorf("got %+v, want %+v", c.Server.Identity, want)
	}
	for text, want := range map[string]string{
		"User = #54321":                    "f:3: User: the system has no user with this number: directive Group is needed too",
		"User = root":                      "f:3: User: children do not run as root; if they shall, leave User and Group out and set AllowRootChildren = On",
		"User = #0":                        "f:3: User: children do not run as root; if they shall, leave User and Group out and set AllowRootChildren = On",
		"User = #-1":                       `f:3: User: "#-1" is not '#' and a number`,
		"User = nobody-at-all":             `f:3: User: there is no user "nobody-at-all" on this system`,
		"Group = #5":                       "f:3: Group: needs directive User beside it",
		"User = #54321\nGroup = no-group!": `f:4: Group: there is no group "no-group!" on this system`,
	} {
		_, _, err := Parse("f", []byte("[server]\nListen = 1\n"+text+"\n"), Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	snapshot, err := Defaults().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"empty": "", "none": "\x00", "cut": string(snapshot[:len(snapshot)-1]), "more": string(snapshot) + "\x00",
	} {
		if c, err := Decode([]byte(in)); err == nil {
			t.Errorf("%s: got %+v", name, c)
		}
	}
}
