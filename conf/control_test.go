package conf

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestControl(t *testing.T) {
	for _, tt := range []struct{ directive, pid, want string }{
		{"", "", ""},
		{"", "/run/jkd/jkd.pid", "/run/jkd/jkd.ctl"},
		{"", "/run/jkd", "/run/jkd.ctl"},
		{None, "/run/jkd/jkd.pid", ""},
		{"/tmp/s", "", "/tmp/s"},
		{"/tmp/s", "/run/jkd/jkd.pid", "/tmp/s"},
	} {
		if got := (&ServerConfig{ControlSocket: tt.directive}).Control(tt.pid); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestControlSocket(t *testing.T) {
	dir := write(t, map[string]string{"f": ""})
	for _, tt := range []struct{ value, want, fault string }{
		{"NONE", None, ""},
		{"run.ctl", filepath.Join(dir, "run.ctl"), ""},
		{"/" + strings.Repeat("x", MaxSocketPath-1), "/" + strings.Repeat("x", MaxSocketPath-1), ""},
		{"/" + strings.Repeat("x", MaxSocketPath), "", "3: ControlSocket: the path of a socket has at most 103 bytes, this one 104"},
		{dir, "", "3: ControlSocket: " + dir + " is a directory"},
		{`""`, "", "3: ControlSocket: the path is empty"},
	} {
		path := filepath.Join(dir, "jkd.conf")
		cfg, _, err := Parse(path, []byte("[server]\nListen = 8080\nControlSocket = "+tt.value+"\n[connector.jk]\n"), Options{})
		switch {
		case tt.fault == "" && err != nil, tt.fault != "" && (err == nil || err.Error() != path+":"+tt.fault):
			t.Errorf("%s: %v, want %q", tt.value, err, tt.fault)
		case tt.fault == "" && cfg.Server.ControlSocket != tt.want:
			t.Errorf("%s: %q", tt.value, cfg.Server.ControlSocket)
		}
	}
}

// TestWhereabouts: a running server is found with a file that would not start
// one.
func TestWhereabouts(t *testing.T) {
	for _, tt := range []struct{ text, pid, control string }{
		{"", "logs/jkd.pid", "logs/jkd.ctl"},
		{"[server]\nLissen = 7\nPidFile = run/x.pid\n]broken\n[conector]\n", "run/x.pid", "run/x.ctl"},
		{"[Server]\nServerRoot = sub\npidfile = a\n[server]\nCONTROLSOCKET = b\n[connector.jk]\nJkWorkersFile = nowhere\n", "sub/a", "sub/b"},
		{"[server]\nControlSocket = none\n[vhost x]\nPidFile = no\n", "logs/jkd.pid", ""},
	} {
		dir := write(t, map[string]string{"jkd.conf": tt.text})
		s, err := Whereabouts(filepath.Join(dir, "jkd.conf"))
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		control := tt.control
		if control != "" {
			control = filepath.Join(dir, control)
		}
		if pid := filepath.Join(dir, tt.pid); s.PidFile != pid || s.Control(s.PidFile) != control {
			t.Errorf("%q: pid file %s, control %q; want %s, %q", tt.text, s.PidFile, s.Control(s.PidFile), pid, control)
		}
	}
	dir := write(t, map[string]string{"jkd.conf": "[server]\n\nPidFile = |x\n"})
	for name, want := range map[string]string{"jkd.conf": "jkd.conf:3: PidFile: ", "none.conf": "none.conf: "} {
		if _, err := Whereabouts(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
