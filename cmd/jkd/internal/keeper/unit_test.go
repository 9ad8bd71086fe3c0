//go:build unix

package keeper

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseReport(t *testing.T) {
	for _, tt := range []struct {
		line string
		want report
		ok   bool
	}{
		{"2", report{pid: 2}, true},
		{"4194304", report{pid: 4194304}, true},
		{"77 0", report{77, true, 0}, true},
		{"77 255", report{77, true, 255}, true},
		{"77 256", report{}, false},
		{"77 01", report{}, false},
		{"77 -1", report{}, false},
		{"77 ", report{}, false},
		{"77 0 0", report{}, false},
		{"", report{}, false},
		{" ", report{}, false},
		{"0", report{}, false},
		{"1", report{}, false},
		{"+5", report{}, false},
		{"-5", report{}, false},
		{"1_0", report{}, false},
		{"0x10", report{}, false},
		{"99999999999999999999", report{}, false},
		{"4294967298", report{}, false},
	} {
		if got, ok := parseReport([]byte(tt.line)); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %+v %v, want %+v %v", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFeed(t *testing.T) {
	var r reports
	for _, s := range []string{"1", "2", "\n", "13\n14", "\n", strings.Repeat("7", 10000), "\n15 3\nx\n", "16"} {
		r.feed([]byte(s))
	}
	want := []report{{pid: 12}, {pid: 13}, {pid: 14}, {15, true, 3}}
	if !reflect.DeepEqual(r.taken, want) || r.bad != 2 || string(r.line) != "16" {
		t.Errorf("%+v, bad %d, rest %q", r.taken, r.bad, r.line)
	}
	for range 10 * maxReports {
		r.feed([]byte("\n20\n"))
	}
	if len(r.taken) != maxReports || cap(r.line) > 4*maxLine {
		t.Errorf("%d reports kept, a line of %d bytes", len(r.taken), cap(r.line))
	}
}

// TestReportsEnd: the goroutine ends when nobody writes any more, and on close.
func TestReportsEnd(t *testing.T) {
	pipe := func() (*reports, *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		rep, err := readReports(r)
		if err != nil {
			t.Fatal(err)
		}
		return rep, w
	}
	rep, w := pipe()
	if err := Announce(int(w.Fd()), 50); err != nil {
		t.Fatal(err)
	}
	w.Close()
	<-rep.endC
	if list, bad := rep.take(); len(list) != 1 || list[0].pid != 50 || bad != 0 {
		t.Errorf("%+v, bad %d", list, bad)
	}
	rep.close()
	rep, w = pipe()
	rep.close()
	if err := Announce(int(w.Fd()), 50); err == nil {
		t.Error("announced to nobody")
	}
	w.Close()
}

func TestParseLink(t *testing.T) {
	for s, want := range map[string]link{
		"3,4":   {3, 4, true},
		"9,7":   {9, 7, true},
		"":      {-1, -1, false},
		"3":     {-1, -1, false},
		"3,3":   {-1, -1, false},
		"2,4":   {-1, -1, false},
		"3,-4":  {-1, -1, false},
		"3,4,5": {-1, -1, false},
		"3,4 ":  {-1, -1, false},
	} {
		if got := parseLink(s); got != want {
			t.Errorf("%q: %+v, want %+v", s, got, want)
		}
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isPipe(int(f.Fd())) || isPipe(1<<15) {
		t.Error("not every descriptor is a pipe")
	}
}

// TestLineage: whose status it is in the end.
func TestLineage(t *testing.T) {
	type step func(l *lineage)
	say := func(pid int) step { return func(l *lineage) { l.announce(pid) } }
	end := func(pid, status int) step { return func(l *lineage) { l.end(pid, status) } }
	leave := func(pid, status int) step { return func(l *lineage) { l.leave(pid, status) } }
	vanish := func(pid int) step { return func(l *lineage) { l.vanish(pid) } }
	for _, tt := range []struct {
		name            string
		steps           []step
		current, status int
	}{
		{"starts", nil, 10, 0},
		{"fails before it serves", []step{end(10, 5)}, 0, 5},
		{"serves and ends", []step{say(10), end(10, 3)}, 0, 3},
		{"is replaced", []step{say(10), say(20), end(10, 0)}, 20, 0},
		{"is replaced and ends", []step{say(10), say(20), end(10, 1), end(20, 4)}, 0, 4},
		{"the new one ends first", []step{say(10), say(20), end(20, 4), end(10, 0)}, 0, 4},
		{"the new one fails, the old one goes on", []step{say(10), say(20), vanish(20), say(10)}, 10, 1},
		{"and ends", []step{say(10), say(20), vanish(20), say(10), end(10, 0)}, 0, 0},
		{"the new one says its status", []step{say(10), say(20), leave(20, 0), vanish(20), end(10, 2)}, 0, 0},
		{"said too early", []step{say(10), leave(10, 7), say(10), vanish(10)}, 0, 1},
		{"replaced before it has announced itself", []step{say(20), end(10, 9)}, 20, 9},
		{"three", []step{say(10), say(20), say(30), vanish(30)}, 20, 1},
		{"strangers", []step{say(10), end(99, 8), leave(98, 8), vanish(97)}, 10, 0},
	} {
		l := new(lineage)
		l.begin(10)
		for _, s := range tt.steps {
			s(l)
		}
		if l.current() != tt.current || l.status != tt.status {
			t.Errorf("%s: current %d, status %d; want %d, %d", tt.name, l.current(), l.status, tt.current, tt.status)
		}
	}
	l := new(lineage)
	for pid := range 10 * maxMasters {
		l.announce(pid + 2)
	}
	if len(l.members) != maxMasters {
		t.Errorf("%d masters", len(l.members))
	}
}

func TestLadder(t *testing.T) {
	l := newLadder(time.Hour)
	defer l.timer.Stop()
	l.begin()
	var got []syscall.Signal
	var rungs []string
	for l.at != gaveUp {
		rungs = append(rungs, l.at.String())
		got = append(got, l.next())
	}
	if !reflect.DeepEqual(got, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, 0}) || strings.Join(rungs, ",") != "waiting,terminating,killing" {
		t.Errorf("%v at %v", got, rungs)
	}
	if l.begin(); l.at != gaveUp || l.next() != 0 {
		t.Errorf("%s after the end", l.at)
	}
	if l.reset(); l.at != keeping {
		t.Errorf("%s after a reset", l.at)
	}
}

func TestProgram(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/jkd-for-a-test", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("jkd-for-a-test", dir+"/jkd-link"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for argv0, want := range map[string]string{
		"jkd-for-a-test":   dir + "/jkd-for-a-test",
		"jkd-link":         dir + "/jkd-link",
		"./jkd-link":       dir + "/jkd-link",
		"/opt/x/../bin/jk": "/opt/bin/jk",
		"-jkd":             self,
	} {
		if got, err := Program(argv0); got != want || err != nil {
			t.Errorf("%q: %q %v, want %q", argv0, got, err, want)
		}
	}
}

// TestNotify: what systemd hears, by a path and by an abstract name.
func TestNotify(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "s"), "@jkd-keeper-test-" + filepath.Base(t.TempDir())} {
		if name[0] == '@' && runtime.GOOS != "linux" {
			continue
		}
		l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		heard := func(want string) {
			t.Helper()
			var b [1000]byte
			_ = l.SetReadDeadline(time.Now().Add(limit))
			n, err := l.Read(b[:])
			if err != nil || !strings.HasPrefix(string(b[:n]), want+"\n") {
				t.Errorf("%q %v, want %s", b[:n], err, want)
			}
			if want == "RELOADING=1" && !strings.Contains(string(b[:n]), "\nMONOTONIC_USEC=") {
				t.Errorf("%q is without the time", b[:n])
			}
		}
		p := open(t, "stays", notifyVar+"="+name)
		p.expect("1: serves")
		heard("READY=1")
		if runtime.GOOS == "linux" {
			p.signal(syscall.SIGHUP)
			p.expect("1: hangup")
			heard("RELOADING=1")
			p.expect("1: serves")
			heard("READY=1")
		}
		p.signal(syscall.SIGTERM)
		p.expect("1: terminated")
		heard("STOPPING=1")
	}
	for _, s := range []string{"", "/", "@", "relative", "vsock:2:3"} {
		if newNotifier(s) != nil {
			t.Errorf("%q is no socket", s)
		}
	}
}
