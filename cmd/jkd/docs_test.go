//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"jkd/conf"
)

// TestMigrationExamples reads the files that docs/migration.md shows, those of
// one heading together, as jkd -t would.
func TestMigrationExamples(t *testing.T) {
	data, err := os.ReadFile("../../docs/migration.md")
	if os.IsNotExist(err) {
		t.Skip("needs the source tree: docs/migration.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for i, part := range regexp.MustCompile(`(?m)^##+ `).Split(string(data), -1) {
		title, _, _ := strings.Cut(part, "\n")
		dir, name := t.TempDir(), ""
		for line := range strings.Lines(part) {
			text, indented := strings.CutPrefix(line, "    ")
			switch file, begins := strings.CutPrefix(text, "# "); {
			case !indented && strings.TrimSpace(line) != "":
				name = ""
			case indented && begins:
				name = strings.TrimSpace(file)
			case indented && name != "":
				appendTo(t, filepath.Join(dir, name), text)
			}
		}
		path := filepath.Join(dir, "jkd.conf")
		if apache := filepath.Join(dir, "httpd.conf"); exists(apache) {
			path = apache
		}
		if i == 0 || !exists(path) {
			continue
		}
		examples++
		if err := os.Mkdir(filepath.Join(dir, "webapps"), 0o755); err != nil {
			t.Fatal(err)
		}
		l, err := loadConfig(flags{config: path})
		if err != nil {
			t.Errorf("%s: %v", title, err)
		}
		for _, w := range l.warnings {
			if w.Severity == conf.Warn {
				t.Errorf("%s: %s", title, w)
			}
		}
	}
	if examples < 7 {
		t.Errorf("%d examples were found, there should be 7", examples)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
