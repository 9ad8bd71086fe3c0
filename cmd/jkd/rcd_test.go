//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// rcSubr stands in for FreeBSD's /etc/rc.subr: it reads rc.conf, recognises
// the running process by pid file and exact name, and acts on start, stop and
// status. Signals are noted, not sent.
const rcSubr = `
load_rc_config() { . "$TEST_DIR/rc.conf"; }
checkyesno() { eval "_v=\$$1"; [ "$_v" = YES ]; }
install() { mkdir -p "$(eval echo \${$#})"; } # no owner and group to set in a test
run_rc_command() {
	_rc_prefix=
	rc_arg=$1
	case $1 in one*) _rc_prefix=one; rc_arg=${1#one}; eval "$rcvar=YES";; esac
	eval "rc_flags=\$${name}_flags"
	case " start stop restart status $extra_commands " in
	*" $rc_arg "*) ;;
	*) echo "unknown directive '$rc_arg'"; return 1;;
	esac
	rc_pid=
	if [ -r "$pidfile" ] && [ "$(sed -n 2p "$pidfile")" = "${procname:-$command}" ]; then
		rc_pid=$(sed -n 1p "$pidfile")
	fi
	eval "_cmd=\$${rc_arg}_cmd _precmd=\$${rc_arg}_precmd"
	if [ -n "$_cmd" ]; then $_cmd; return; fi
	case $rc_arg in
	status) if [ -n "$rc_pid" ]; then echo "running as $rc_pid"; else echo "not running"; return 1; fi;;
	start)
		if ! checkyesno "$rcvar"; then echo "not enabled"; return 0; fi
		[ -x "$command" ] || { echo "cannot run $command"; return 1; }
		for f in $required_files; do [ -r "$f" ] || { echo "$f is not readable"; return 1; }; done
		if [ -n "$_precmd" ]; then $_precmd || { echo "precmd failed"; return 1; }; fi
		$command $rc_flags $command_args;;
	stop)
		[ -n "$rc_pid" ] || { echo "not running"; return 1; }
		echo "signal ${sig_stop:-TERM} to $rc_pid"; rm "$pidfile";;
	restart)
		if [ -n "$_precmd" ]; then $_precmd || { echo "precmd failed"; return 1; }; fi
		run_rc_command stop; run_rc_command start;;
	esac
}
`

// The fake jkd: notes its arguments and writes the pid file a real one would.
// The second line is the name that ps would show.
const fakeJKD = `#!/bin/sh
echo "jkd $*" >>"$TEST_DIR/calls"
case " $* " in
*" -t "*) grep -q broken "$TEST_DIR/jkd.conf" && { echo "jkd.conf:1: broken" >&2; exit 1; }; echo "Syntax OK"; exit 0;;
esac
printf '%s\n' 4711 "$0" >"$TEST_DIR/run/jkd/jkd.pid"
`

func TestRCScript(t *testing.T) {
	script, err := os.ReadFile("../../rc.d/jkd")
	if err != nil {
		t.Skip("needs the source tree")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	text := string(script)
	for old, new := range map[string]string{
		"/etc/rc.subr":        dir + "/rc.subr",
		"/usr/local/sbin/jkd": dir + "/jkd",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("the script names %s %d times, want once", old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, new, 1)
	}
	write("script", text, 0o755)
	write("rc.subr", rcSubr, 0o644)
	write("jkd", fakeJKD, 0o755)
	write("jkd.conf", "fine\n", 0o644)
	conf := "jkd_config=" + dir + "/jkd.conf\njkd_pidfile=" + dir + "/run/jkd/jkd.pid\njkd_flags='-mpm worker'\n"

	// The rows follow one another.
	for _, tt := range []struct {
		name   string
		rcConf string // appended to rc.conf
		config string // jkd.conf; empty: remove it
		arg    string
		ok     bool
		output string // a part of it
		calls  string // what jkd was called with, newline separated
	}{
		{"disabled", "", "fine", "start", true, "not enabled", ""},
		{"status, stopped", "jkd_enable=YES\n", "fine", "status", false, "not running", ""},
		{"no configuration", "jkd_enable=YES\n", "", "start", false, "is not readable", ""},
		{"broken configuration", "jkd_enable=YES\n", "broken", "start", false, "jkd.conf:1: broken", "-mpm worker -f CONF -t"},
		{"start", "jkd_enable=YES\n", "fine", "start", true, "", "-mpm worker -f CONF -t\n-mpm worker -f CONF"},
		{"status, running", "jkd_enable=YES\n", "fine", "status", true, "running as 4711", ""},
		{"configtest", "jkd_enable=YES\n", "fine", "configtest", true, "Syntax OK", "-mpm worker -f CONF -t"},
		{"configtest, broken", "jkd_enable=YES\n", "broken", "configtest", false, "jkd.conf:1: broken", "-mpm worker -f CONF -t"},
		{"restart, broken: nothing is stopped", "jkd_enable=YES\n", "broken", "restart", false, "precmd failed", "-mpm worker -f CONF -t"},
		{"still running", "jkd_enable=YES\n", "fine", "status", true, "running as 4711", ""},
		{"restart", "jkd_enable=YES\n", "fine", "restart", true, "signal TERM to 4711", "-mpm worker -f CONF -t\n-mpm worker -f CONF -t\n-mpm worker -f CONF"},
		{"gracefulstop", "jkd_enable=YES\n", "fine", "gracefulstop", true, "signal WINCH to 4711", ""},
		{"stop, stopped", "jkd_enable=YES\n", "fine", "stop", false, "not running", ""},
		{"onestart, disabled", "", "fine", "onestart", true, "", "-mpm worker -f CONF -t\n-mpm worker -f CONF"},
		{"stop", "", "fine", "stop", true, "signal TERM to 4711", ""},
		{"unknown", "jkd_enable=YES\n", "fine", "explode", false, "unknown directive", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write("rc.conf", conf+tt.rcConf, 0o644)
			os.Remove(filepath.Join(dir, "jkd.conf"))
			if tt.config != "" {
				write("jkd.conf", tt.config+"\n", 0o644)
			}
			os.Remove(filepath.Join(dir, "calls"))
			cmd := exec.Command("sh", filepath.Join(dir, "script"), tt.arg)
			cmd.Env = append(os.Environ(), "TEST_DIR="+dir)
			out, err := cmd.CombinedOutput()
			if (err == nil) != tt.ok || !strings.Contains(string(out), tt.output) {
				t.Errorf("%s: %v, output %q; want success %v and %q", tt.arg, err, out, tt.ok, tt.output)
			}
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			got := strings.TrimSpace(strings.ReplaceAll(string(calls), dir+"/jkd.conf", "CONF"))
			if got = strings.ReplaceAll(got, "jkd -", "-"); got != tt.calls {
				t.Errorf("jkd was called with\n%s\nwant\n%s", got, tt.calls)
			}
		})
	}
}

func TestRCScriptSyntax(t *testing.T) {
	const script = "../../rc.d/jkd"
	if _, err := os.Stat(script); err != nil {
		t.Skip("needs the source tree")
	}
	if out, err := exec.Command("sh", "-n", script).CombinedOutput(); err != nil {
		t.Errorf("sh -n: %v\n%s", err, out)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck here: only sh -n was run")
	}
	// SC1091: rc.subr is not here; SC2034, SC2154: it uses and sets variables.
	if out, err := exec.Command("shellcheck", "-s", "sh", "-e", "SC1091,SC2034,SC2154", script).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
