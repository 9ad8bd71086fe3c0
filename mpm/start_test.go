//go:build unix

package mpm

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	base := []string{"PATH=/bin", "GOGC=200", "TABLEFLIP_HAS_PARENT_7DIU3=yes", "JKD_CHILD=9", "EMPTY="}
	got := environ(base, []string{"GOMAXPROCS=1", "GOGC=50", "EMPTY=x"})
	want := []string{"PATH=/bin", "GOGC=200", "EMPTY=", "GOMAXPROCS=1", "JKD_CHILD=1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTitle(t *testing.T) {
	if got := title("worker", 3, 1); got != "jkd: worker 3 generation 1" {
		t.Error(got)
	}
}

func TestBuildID(t *testing.T) {
	if BuildID() == 0 || BuildID() != BuildID() {
		t.Errorf("build id %#x", BuildID())
	}
}

// elf makes the beginning of an ELF file with one note segment.
func elf(notes []byte) []byte {
	b := make([]byte, 64+56)
	copy(b, "\x7fELF\x02\x01")
	b[32] = 64           // program headers follow
	b[54], b[56] = 56, 1 // one
	b[64] = 4            // a note
	b[64+8] = 64 + 56    // behind
	b[64+32] = byte(len(notes))
	return append(b, notes...)
}

func TestGoBuildID(t *testing.T) {
	note := "\x04\x00\x00\x00\x05\x00\x00\x00\x04\x00\x00\x00Go\x00\x00hello\x00\x00\x00"
	other := "\x04\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00GNU\x00xx\x00\x00"
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"alone", elf([]byte(note)), "hello"},
		{"second", elf([]byte(other + note)), "hello"},
		{"other", elf([]byte(other)), ""},
		{"none", elf(nil), ""},
		{"cut", elf([]byte(note[:18])), ""},
		{"not ELF", bytes.Repeat([]byte("x"), 200), ""},
		{"empty", nil, ""},
	} {
		id, err := goBuildID(bytes.NewReader(c.file))
		if string(id) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.name, id, err)
		}
	}
}

func FuzzGoBuildID(f *testing.F) {
	f.Add(elf([]byte("\x04\x00\x00\x00\x05\x00\x00\x00\x04\x00\x00\x00Go\x00\x00hello\x00\x00\x00")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if id, err := goBuildID(bytes.NewReader(b)); err == nil && len(id) == 0 {
			t.Error("an empty build id")
		}
	})
}

func TestLookupCredential(t *testing.T) {
	for _, c := range []struct{ user, group, err string }{
		{"no-such-user-here", "", "unknown user"},
		{"#4711", "", "Group: must be given"},
		{"#4711", "no-such-group-here", "unknown group"},
		{"#x", "#5", "not a user or group number"},
		{"#4711", "#x", "not a user or group number"},
		{"#-1", "#5", "not a user or group number"},
		{"#4294967295", "#5", "not a user or group number"},
		{"#0", "#5", "superuser"},
		{"root", "", "superuser"},
	} {
		if _, err := LookupCredential(c.user, c.group); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s, %s: %v", c.user, c.group, err)
		}
	}
	cred, err := LookupCredential("#4294967", "#815")
	if err != nil || cred.UID != 4294967 || cred.GID != 815 || len(cred.Groups) != 0 {
		t.Errorf("%+v, %v", cred, err)
	}
	if attr := cred.attr(); attr.NoSetGroups || !slices.Equal(attr.Groups, []uint32{815}) {
		t.Errorf("%+v", attr)
	}
}

func TestVerifyCredential(t *testing.T) {
	me := Credential{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		me.Groups = append(me.Groups, uint32(g))
	}
	if err := me.verify(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]Credential{
		"user":  {UID: me.UID + 1, GID: me.GID, Groups: me.Groups},
		"group": {UID: me.UID, GID: me.GID + 1, Groups: me.Groups},
	} {
		if c.verify() == nil {
			t.Errorf("wrong %s is not noticed", name)
		}
	}
}
