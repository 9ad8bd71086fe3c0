package conf

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestListenUnix(t *testing.T) {
	// A short name: a test's own directory may be longer than a socket's path.
	dir, err := os.MkdirTemp("", "jkd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", at("link")); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", at("there"))
	if err != nil {
		t.Skip(err)
	}
	defer ln.Close()
	long := strings.Repeat("x", MaxListenUnix-len(dir)-1)
	root, err := lookupGroup("#0")
	if err != nil {
		t.Fatal(err)
	}
	is := func(path string) ListenUnix { return ListenUnix{Path: at(path), Mode: 0o660, UID: -1, GID: -1} }
	with := func(path string, mode os.FileMode, uid, gid int) ListenUnix {
		return ListenUnix{Path: at(path), Mode: mode, UID: uid, GID: gid}
	}
	for _, tt := range []struct {
		value string
		want  ListenUnix
		fault string // after file:2: Listen:
	}{
		{"unix:s", is("s"), ""},
		{"UNIX:" + at("s"), is("s"), ""},
		{`"unix:a b" mode=0600`, with("a b", 0o600, -1, -1), ""},
		{"unix:there", is("there"), ""}, // that somebody listens is of no interest to -t
		{"unix:s mode=666 owner=#12 group=#13", with("s", 0o666, 12, 13), ""},
		{"unix:s owner=root Group=#0", with("s", 0o660, 0, int(root)), ""},
		{"unix:" + long, is(long), ""},
		{"unix:" + long + "x", ListenUnix{}, "the path of a socket to listen on has at most " + strconv.Itoa(MaxListenUnix) + " bytes, this one " + strconv.Itoa(MaxListenUnix+1)},
		{"unix:", ListenUnix{}, "the path is empty"},
		{"unix:@jkd", ListenUnix{}, "abstract sockets are not supported: they have no owner and no mode"},
		{"unix:run/", ListenUnix{}, "the path names a directory"},
		{"unix:no/s", ListenUnix{}, at("no") + ": no such file or directory"},
		{"unix:file/s", ListenUnix{}, at("file") + " is not a directory"},
		{"unix:file", ListenUnix{}, at("file") + " is something else than a socket"},
		{"unix:link", ListenUnix{}, at("link") + " is something else than a socket"},
		{"unix:.", ListenUnix{}, at("") + " is something else than a socket"},
		{"unix:s mode=9", ListenUnix{}, `mode "9" is not three or four octal digits, such as 0660`},
		{"unix:s mode=01777", ListenUnix{}, `mode "01777" is not three or four octal digits, such as 0660`},
		{"unix:s mode", ListenUnix{}, `mode "" is not three or four octal digits, such as 0660`},
		{"unix:s mode=600 mode=660", ListenUnix{}, "mode is given twice"},
		{"unix:s owner=no-such-user", ListenUnix{}, `there is no user "no-such-user" on this system`},
		{"unix:s owner=#x", ListenUnix{}, `"#x" is not '#' and a number`},
		{"unix:s group=no-such-group", ListenUnix{}, `there is no group "no-such-group" on this system`},
		{"unix:s user=www", ListenUnix{}, `"user=www" is none of mode=, owner= and group=`},
		{"unix:s http", ListenUnix{}, `"http" is none of mode=, owner= and group=`},
	} {
		file := at("jkd.conf")
		cfg, _, err := Parse(file, []byte("[server]\nListen = "+tt.value+"\n[connector.jk]\n"), Options{})
		switch {
		case tt.fault == "" && err != nil, tt.fault != "" && (err == nil || err.Error() != file+":2: Listen: "+tt.fault):
			t.Errorf("%s: %v, want %q", tt.value, err, tt.fault)
		case tt.fault == "":
			if got := cfg.Server.ListenUnix; !reflect.DeepEqual(got, []ListenUnix{tt.want}) || cfg.Server.Listen != nil {
				t.Errorf("%s: %+v, want %+v", tt.value, got, tt.want)
			}
			again, _, err := Parse(file, []byte("[server]\nListen = 80\nListen = \""+strings.Replace(tt.want.String(), " mode", "\" mode", 1)+"\n[connector.jk]\n"), Options{})
			if err != nil || !reflect.DeepEqual(again.Server.ListenUnix, []ListenUnix{tt.want}) {
				t.Errorf("%s: read again: %v", tt.want, err)
			}
		}
	}
	_, _, err = Parse(at("jkd.conf"), []byte("[server]\nListen = unix:s\nListen = unix:./s mode=0600\n[connector.jk]\n"), Options{})
	if err == nil || !strings.Contains(err.Error(), ":3: Listen: the socket "+at("s")+" is given twice") {
		t.Errorf("twice: %v", err)
	}
}
