//go:build unix

package httpd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/files"
	"jkd/scoreboard"
)

// BenchmarkFile serves files of a DocumentRoot to a client that is always ready:
// what is left is the work of the front and of the file system.
func BenchmarkFile(b *testing.B) {
	dir := b.TempDir()
	for name, size := range map[string]int{"small.html": 1000, "large.bin": 10 << 20} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), written, written); err != nil {
			b.Fatal(err)
		}
	}
	rules := conf.FileRules{Index: []string{"small.html"}}
	for _, tc := range []struct {
		name, path, fields string
		sections           []conf.Directory
	}{
		{"small", "/small.html", "", nil},
		{"sections", "/small.html", "", []conf.Directory{{Path: dir + "/x"}, {Path: "*.bak", Files: true}, {Path: dir + "/*"}}},
		{"index", "/", "", nil},
		{"not modified", "/small.html", "If-None-Match: \"3e8-" + writtenTag + "\"\r\n", nil},
		{"range", "/large.bin", "Range: bytes=1000-1999\r\n", nil},
		{"large", "/large.bin", "", nil},
		{"none", "/none", "", nil},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s, slot := newQuickServer(b, nil)
			s.o.Connectors = []connector.Connector{files.New(&conf.Config{Files: &conf.FilesConfig{
				Servers: []conf.FilesServer{{DocumentRoot: dir, Rules: rules}}, Directories: tc.sections,
			}}, files.Options{})}
			raw := strings.Replace(browserGet, "\r\n\r\n", "\r\n"+tc.fields+"\r\n", 1)
			raw = "GET " + tc.path + raw[strings.Index(raw, " HTTP/"):]
			b.ReportAllocs()
			s.ServeConn(&loop{request: []byte(raw), n: b.N}, &scoreboard.Seat{Slot: slot})
		})
	}
}
