package conf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrivileges: what ChrootDir and CoreDumpDirectory need, and that paths are
// looked for where the children find them, wherever ChrootDir stands.
func TestPrivileges(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"jail/cores", "jail/webapps", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	jail := "ChrootDir = " + dir + "/jail\nUser = #54321\nGroup = #54322\n"
	for _, tt := range []struct {
		name, server, jk string
		want             string // part of the errors and warnings; "": there are none
	}{
		{"nothing", "", "", ""},
		{"allowed", "AllowRootChildren = On\n", "", ""},
		{"chroot", jail, "", ""},
		{"relative", strings.Replace(jail, dir+"/jail", "jail", 1), "", ""},
		{"not there", strings.Replace(jail, "/jail", "/jal", 1), "", "f:4: ChrootDir: " + dir + "/jal: no such file or directory"},
		{"a file", strings.Replace(jail, "/jail", "/file", 1), "", "f:4: ChrootDir: " + dir + "/file is not a directory"},
		{"nobody to be", "ChrootDir = jail\n", "", "f:4: ChrootDir: needs directive User"},
		{"no path", "ChrootDir = \"\"\n", "", "f:4: ChrootDir: the path is empty"},
		{"cores", "CoreDumpDirectory = outside\n", "", ""},
		{"cores nowhere", "CoreDumpDirectory = outsid\n", "", "CoreDumpDirectory: " + dir + "/outsid: no such"},
		{"cores inside", "CoreDumpDirectory = /cores\n" + jail, "", ""},
		{"cores outside", jail + "CoreDumpDirectory = " + dir + "/outside\n", "", "f:7: CoreDumpDirectory: " + dir + "/jail" + dir + "/outside: no such"},
		{"files inside", jail, "[connector.jk]\nJkAutoAlias = /webapps\n", ""},
		{"files outside", jail, "[connector.jk]\nJkAutoAlias = " + dir + "/outside\n", "JkAutoAlias: the directory " + dir + "/jail" + dir + "/outside does not exist"},
	} {
		text := fmt.Sprintf("[server]\nListen = 1\nServerRoot = %s\n%s%s", dir, tt.server, tt.jk)
		c, warnings, err := Parse("f", []byte(text), Options{})
		var said []string
		if err != nil {
			said = append(said, err.Error())
		}
		for _, w := range warnings {
			if !strings.Contains(w.Msg, dir+"/logs") {
				said = append(said, w.String())
			}
		}
		got := strings.Join(said, "\n")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if err != nil {
			continue
		}
		if want := strings.Contains(tt.server, "Allow"); c.Server.AllowRootChildren != want {
			t.Errorf("%s: AllowRootChildren %t", tt.name, c.Server.AllowRootChildren)
		}
		if want := map[bool]string{true: dir + "/jail"}[strings.Contains(tt.server, "ChrootDir")]; c.Server.ChrootDir != want {
			t.Errorf("%s: ChrootDir %q, want %q", tt.name, c.Server.ChrootDir, want)
		}
	}
}
