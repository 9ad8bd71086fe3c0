package jk2

import (
	"strings"
	"testing"

	"jkd/conf"
)

// rows are texts and all that a reading has to say about them.
type rows []struct {
	name, text string
	want       []string
}

func (r rows) run(t *testing.T) {
	t.Helper()
	for _, tt := range r {
		_, warnings, err := ParseConfig(testEnv("HOME", "/root"), source(tt.text+mapped))
		same(t, tt.name, said(warnings, err), tt.want)
	}
}

// mapped is what makes a configuration complete, so that nothing is said about
// what is missing.
const mapped = "\n[channel.socket:h:1]\n[uri:/mapped/*]\n"

func TestLexical(t *testing.T) {
	rows{
		{"nothing", "", nil},
		{"comments", "# x\n[shm:] # y\nfile=/a#b\n", nil},
		{"blanks", "  [shm:]\t\n\tfile = /a \r\n", nil},
		{"no header end", "[shm:\nfile=/a\n", []string{"error w:1: [shm:: the section header has no closing bracket"}},
		{"text behind the header", "[shm:] file=/a\n", []string{
			"warning w:1: [shm:] file=/a: what follows the first ']' is dropped: the section is [shm:]",
			"info w:1: [shm:]: has no file, so there is no shared memory; file=anon would be memory without a file"}},
		{"no name", "[]\n", []string{"error w:1: []: the section has no name"}},
		{"no pair", "[shm:]\nfile\n=x\nslots=\nfile=/a\n", []string{
			"info w:2: the line has no '=': ignored",
			"info w:3: the line has no name before '=': ignored",
			"info w:4: slots: has no value: ignored"}},
		{"flat form", "shm:file=/a\n", []string{
			"warning w:1: shm:file: has no effect before the first section: write [shm] and below it file=/a",
			"info w:1: shm:file: stands before the first section and is a variable only"}},
		{"NUL", "[shm:]\nfi\x00le=/a\n", []string{
			"error w:2: the line contains a NUL byte",
			"info w:1: [shm:]: has no file, so there is no shared memory; file=anon would be memory without a file"}},
		{"twice", "[shm:]\nfile=/a\n[shm]\nfile=/b\n", []string{"warning w:4: file: given again: this one counts, not /a of w:2"}},
		{"twice the same", "[shm:]\nfile=/a\nfile=/a\n", nil},
		{"case counts", "[Shm:]\n", []string{"error w:1: [Shm:]: unknown kind of component, did you mean shm?"}},
		{"unknown kind", "[chanel.socket:localhost:8009]\nport=1\n", []string{"error w:1: [chanel.socket:localhost:8009]: unknown kind of component, did you mean channel.socket?"}},
		{"switched off", "[disabled:nonsense]\nx=y\n[disabled]\n", []string{"info w:1: [disabled:nonsense]: is switched off", "info w:3: [disabled]: is switched off"}},
		{"unknown property", "[channel.socket:localhost:8009]\nndelay=1\nqwertz=2\n", []string{
			"warning w:2: ndelay: unknown property of channel.socket: ignored, did you mean nodelay?",
			"warning w:3: qwertz: unknown property of channel.socket: ignored"}},
		{"version is not ver", "[lb:lb]\nversion=3\n", []string{"warning w:2: version: unknown property of lb: ignored, did you mean ver?"}},
		{"read-only", "[channel.socket:h:1]\n[ajp13:h:1]\nlb_value=3\n", []string{"warning w:3: lb_value: is shown by the status page and cannot be set: ignored"}},
		{"no effect", "[lb:lb]\nattempts=3\n[config]\nsave=1\n[shm]\nfile=/a\nsize=5\n", []string{
			"info w:2: attempts: has no effect, as in mod_jk2: each worker is tried",
			"info w:4: save: has no effect: jkd writes no configuration files",
			"info w:7: size: is not needed: the size follows from slots"}},
		{"one only", "[shm:x]\nfile=/a\n", []string{"warning w:1: [shm:x]: there is one shm only: read as [shm:]"}},
		{"short forms", "[status]\n[lb]\n[logger]\n[uriMap]\n[config]\n", []string{
			"warning w:2: [lb]: names no balancer: read as [lb:lb]",
			"info w:1: [status]: is read as [status:]"}},
		{"parts that jkd does not have", "[vm:]\n[channel.jni:jni]\n[worker.jni:onStartup]\nARG=x\n[threadMutex:]\n", []string{
			"error w:1: [vm:]: is not supported: " + noJVM + ". Write disabled=1 below it to keep the section",
			"error w:2: [channel.jni:jni]: is not supported: " + noJVM + ". Write disabled=1 below it to keep the section",
			"error w:3: [worker.jni:onStartup]: is not supported: " + noJVM + ". Write disabled=1 below it to keep the section",
			"info w:5: [threadMutex:]: has no effect: mod_jk2 needed it inside, jkd does not"}},
		{"disabled=0 is not disabled", "[vm:]\ndisabled=0\n", []string{
			"error w:1: [vm:]: is not supported: " + noJVM + ". Write disabled=1 below it to keep the section"}},
		{"secret with #", "[channel.socket:h:1]\nsecretkey=a#b\n", []string{"warning w:2: secretkey: the value ends at a '#', which begins a comment; it is not part of the secret"}},
		{"numbers", "[channel.socket:h:1]\ntimeout=10s\nlb_factor=one\nmax_connections=99999999999\nlevel=-1\n", []string{
			`error w:3: lb_factor: "one" is not a whole number; mod_jk2 reads it as 0`,
			"error w:4: max_connections: 99999999999 is too large, at most 2147483647 is allowed",
			"error w:5: level: -1 is negative",
			`warning w:2: timeout: of "10s" only 10 is read`}},
		{"flags", "[channel.socket:h:1]\nkeepalive=true\nnodelay=2\n", []string{
			`error w:2: keepalive: "true" is neither 1 (on) nor 0 (off); mod_jk2 reads it as 0`}},
		{"switches", "[workerEnv:]\nsslEnable=0\nforwardKeySize=off\n", []string{
			"warning w:2: sslEnable: is on whatever its value is: leave the line out to have it off",
			"warning w:3: forwardKeySize: is on whatever its value is: leave the line out to have it off"}},
	}.run(t)
}

func TestLongLine(t *testing.T) {
	_, _, err := ParseConfig(testEnv(), source("[shm:]\nfile="+strings.Repeat("x", conf.MaxLine)+mapped))
	same(t, "error", said(nil, err), []string{"error w:2: the line is 8197 bytes long, at most 8192 are allowed"})
}

func TestMacros(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"none", "file=/a", "/a"},
		{"server root", "file=${serverRoot}/x", "/srv/x"},
		{"predefined", "file=/${fs}a${ps}b.${so}.${arch}", "//a:b.so.i386"},
		{"environment", "file=${HOME}/x", "/root/x"},
		{"variable", "$DIR=/tmp\nfile=${DIR}/x", "/tmp/x"},
		{"variable before the environment", "$HOME=/tmp\nfile=${HOME}/x", "/tmp/x"},
		{"a variable's value is not expanded", "$A=/tmp\n$B=${A}/x\nfile=/y${B}", "/y${A}/x"},
		{"unknown", "file=/${nobody}", "/${nobody}"},
		{"later", "file=/${A}\n$A=x", "/${A}"},
		{"other syntax", "file=/$(HOME)$HOME", "/$(HOME)$HOME"},
		{"not closed", "file=/${HOME", "/${HOME"},
		{"property", "[lb:lb]\nrecovery=7\n[shm:]\nfile=/${lb:lb.recovery}", "/7"},
		{"property of a channel", "[channel.socket:localhost:8009]\nport=8009\n[shm:]\nfile=/${channel.socket:localhost:8009.port}", "/8009"},
		{"property of config", "[config:]\nlogdir=/l\n[shm:]\nfile=${logdir}/s", "/l/s"},
		{"not a secret", "[channel.socket:h:2]\nsecretkey=s\n[shm:]\nfile=/${channel.socket:h:2.secretkey}", "/${channel.socket:h:2.secretkey}"},
		{"twenty", "$A=a\nfile=/" + strings.Repeat("${A}", 21), "/" + strings.Repeat("a", 20) + "${A}"},
	} {
		c, _, err := ParseConfig(testEnv("HOME", "/root"), source("[shm:]\n"+tt.text+mapped))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		same(t, tt.name, c.Shm.File, tt.want)
	}

	_, warnings, err := ParseConfig(testEnv(), source("[channel.socket:h:1]\ntimeout=${T}\nlb_factor=1${T}\n[shm:]\nfile=/a${\n"+mapped))
	same(t, "said", said(warnings, err), []string{
		"warning w:2: timeout: ${T} is defined neither above nor in the environment: left as it is; the default 0 is used",
		"warning w:3: lb_factor: ${T} is defined neither above nor in the environment: left as it is",
		`warning w:3: lb_factor: of "1${T}" only 1 is read`,
		"warning w:5: file: ${ is never closed: the text is left as it is",
	})
}

func TestSplitSet(t *testing.T) {
	for name, want := range map[string]string{
		"config:file": "config|file", "config.file": "config|file", "channel.socket:localhost:8009.tomcatId": "channel.socket:localhost:8009|tomcatId",
		"channel.socket:localhost:tomcatId": "channel.socket:localhost|tomcatId", "uri:/a.b:group": "uri:/a.b|group",
		"shm": "no", "shm:": "no", ".x": "no",
	} {
		object, property, ok := SplitSet(name)
		got := object + "|" + property
		if !ok {
			got = "no"
		}
		same(t, name, got, want)
	}
}

// Settings one by one come before the file or after it, as they stand.
func TestSets(t *testing.T) {
	set := func(object, property, value string) Source {
		return Source{File: "c", Sets: []Set{{Object: object, Property: property, Value: value, Line: 7}}}
	}
	text := source("[channel.socket:h:1]\nlb_factor=5\n[uri:/a/*]\n")
	for _, tt := range []struct {
		sources []Source
		want    int
	}{
		{[]Source{set("channel.socket:h:1", "lb_factor", "6"), text}, 5},
		{[]Source{text, set("channel.socket:h:1", "lb_factor", "6")}, 6},
		{[]Source{text, set("ajp13:h:1", "lb_factor", "7")}, 7},
		{[]Source{text, {File: "c", Sets: []Set{{Object: "shm", Property: "$F", Value: "8"}, {Object: "ajp13:h:1", Property: "lb_factor", Value: "${F}"}}}}, 8},
		{[]Source{text, {File: "c", Sets: []Set{{Object: "config", Property: "W", Value: "h:1"}, {Object: "ajp13:${W}", Property: "lb_factor", Value: "9"}}}}, 9},
	} {
		c, _, err := ParseConfig(testEnv(), tt.sources...)
		if err != nil {
			t.Error(err)
			continue
		}
		same(t, "lb_factor", c.Workers[0].LBFactor, tt.want)
	}
	_, warnings, err := ParseConfig(testEnv(), text, set("channel.socket:h:1", "lb_factr", "6"), set("chanel:x", "a", "b"), set("lb:lb", "", ""))
	same(t, "said", said(warnings, err), []string{
		"error c:7: [chanel:x]: unknown kind of component",
		"warning c:7: lb_factr: unknown property of channel.socket: ignored, did you mean lb_factor?",
		"info c:7: lb:lb: has no property or no value: ignored",
		"info w:2: lb_factor: is a cost: with 5 the worker gets 5 times fewer requests than one with 1",
	})
}

func TestSettings(t *testing.T) {
	c := parse(t, "[channel.socket:h:1]\nsecretkey=s\n$X=1\ntimeout=${X}0\n[uri:/a]\ninfo=one\ninfo=two\n")
	same(t, "settings", c.Settings(), []Setting{
		{"channel.socket:h:1", "secretkey", "*", "*", "w", 2},
		{"channel.socket:h:1", "timeout", "${X}0", "10", "w", 4},
		{"uri:/a", "info", "one", "one", "w", 6},
		{"uri:/a", "info", "two", "two", "w", 7},
	})
}
