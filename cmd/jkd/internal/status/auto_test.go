package status

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func auto(t *testing.T, s *Status) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteAuto(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// apacheKeys are the keys of Apache 2.4's ?auto, in its order; the extended
// ones are marked.
const apacheKeys = `ServerVersion ServerMPM Server_Built CurrentTime RestartTime ParentServerConfigGeneration ParentServerMPMGeneration
ServerUptimeSeconds ServerUptime Load1 Load5 Load15 +Total_Accesses +Total_kBytes +Total_Duration +CPUUser +CPUSystem +CPUChildrenUser
+CPUChildrenSystem +CPULoad +Uptime +ReqPerSec +BytesPerSec +BytesPerReq +DurationPerReq BusyWorkers GracefulWorkers IdleWorkers Scoreboard`

func keysOf(extended bool) (keys []string) {
	for _, k := range strings.Fields(apacheKeys) {
		if k = strings.ReplaceAll(k, "_", " "); k[0] == '+' {
			if !extended {
				continue
			}
			k = k[1:]
		}
		keys = append(keys, k)
	}
	return keys
}

// parseAuto reads the lines as monitoring programs do.
func parseAuto(t *testing.T, text string) (name string, keys []string, values map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	values = map[string]string{}
	for _, line := range lines[1:] {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			t.Errorf("line %q has no key", line)
		}
		if _, twice := values[k]; twice {
			t.Errorf("key %q is there twice", k)
		}
		keys = append(keys, k)
		values[k] = strings.TrimPrefix(v, " ")
	}
	return lines[0], keys, values
}

func TestAutoValues(t *testing.T) {
	name, _, got := parseAuto(t, auto(t, sampleStatus()))
	if name != "www.example.com" {
		t.Errorf("first line %q", name)
	}
	// Worked out by hand from sampleStatus; 90061 s of uptime.
	for k, want := range map[string]string{
		"ServerVersion": "jkd/1.0 (linux)", "ServerMPM": "worker", "Server Built": "2026-12-02T10:11:12",
		"CurrentTime": "Wednesday, 02-Dec-2026 23:15:07 UTC", "RestartTime": "Tuesday, 01-Dec-2026 22:14:06 UTC",
		"ParentServerConfigGeneration": "3", "ParentServerMPMGeneration": "3",
		"ServerUptimeSeconds": "90061", "ServerUptime": "1 day 1 hour 1 minute 1 second",
		"Load1": "0.50", "Load5": "1.00", "Load15": "1.26",
		"Total Accesses": "123456", "Total kBytes": "5242880", "Total Duration": "7654",
		"CPUUser": "12.34", "CPUSystem": "0.25", "CPUChildrenUser": "1", "CPUChildrenSystem": "0.01",
		"CPULoad": "0.0151009", "Uptime": "90061", "ReqPerSec": "1.3708", "BytesPerSec": "59611.9",
		"BytesPerReq": "43486.8", "DurationPerReq": "0.0619978",
		"BusyWorkers": "2", "GracefulWorkers": "1", "IdleWorkers": "1", "Scoreboard": "_WG.",
		"ChildProcesses": "2", "ChildProcessesStopping": "1", "ChildStarts": "9", "ChildDeaths": "7",
		"ConnsTotal": "32", "ConnsAsyncKeepAlive": "30",
	} {
		if got[k] != want {
			t.Errorf("%s is %q, want %q", k, got[k], want)
		}
	}
}

func TestAutoKeys(t *testing.T) {
	young := func(s *Status) { s.Server.Restart = s.Server.Now }
	without := func(remove ...string) (keys []string) {
		for _, k := range keysOf(true) {
			if !strings.Contains(" "+strings.Join(remove, " ")+" ", " "+k+" ") {
				keys = append(keys, k)
			}
		}
		return keys
	}
	for _, tt := range []struct {
		name   string
		change func(*Status)
		want   []string
	}{
		{"all", func(*Status) {}, keysOf(true)},
		{"ExtendedStatus off", func(s *Status) { s.Server.Extended = false }, keysOf(false)},
		{"no time has gone by", young, without("CPULoad", "ReqPerSec", "BytesPerSec")},
		{"no request yet", func(s *Status) { s.Totals.Accesses = 0 }, without("BytesPerReq", "DurationPerReq")},
		{"no processor time", func(s *Status) {
			s.Totals.CPU.User, s.Totals.CPU.System, s.Totals.CPU.ChildrenUser, s.Totals.CPU.ChildrenSystem = 0, 0, 0, 0
		}, without("CPULoad")},
	} {
		s := sampleStatus()
		tt.change(s)
		_, keys, _ := parseAuto(t, auto(t, s))
		if len(keys) < len(tt.want) || strings.Join(keys[:len(tt.want)], "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: keys %q, want first %q", tt.name, keys, tt.want)
		}
	}
}

func TestUptimeWords(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, ""},
		{0, ""},
		{time.Second - 1, ""},
		{time.Second, " 1 second"},
		{2*time.Minute + 2*time.Second, " 2 minutes 2 seconds"},
		{time.Hour, " 1 hour"},
		{48*time.Hour + 3*time.Second, " 2 days 3 seconds"},
	} {
		if got := uptimeWords(tt.d); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"GET / HTTP/1.1", "GET / HTTP/1.1"},
		{"a\r\nb\x1b\x00\x7f", `a\x0d\x0ab\x1b\x00\x7f`},
		{"größe", "größe"},
		{"a\u202eb", `a\xe2\x80\xaeb`},
		{"\u0085\xffx", `\xc2\x85\xffx`},
		{"", ""},
	} {
		if got := oneLine(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
