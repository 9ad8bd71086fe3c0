//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// jkd -t reads the users of [status].
func TestUsersAreChecked(t *testing.T) {
	dir := t.TempDir()
	file, list := filepath.Join(dir, "jkd.conf"), filepath.Join(dir, "users")
	for name, text := range map[string]string{file: "[server]\nListen = 1\nAllowRootChildren = On\n[status]\nLocation = /s\nAuthUserFile = users\n[connector.jk]\n", list: "\nme:secret\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := loadConfig(flags{config: file})
	if want := list + ":2: me: is plain text or a form that is not supported: use htpasswd -B"; err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
