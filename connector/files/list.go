package files

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jkd/connector"
)

// mostListed bounds the list of a directory.
const mostListed = 10000

// list answers r with what is in a directory, as far as the client may see it.
func (p *place) list(f *found, r *connector.Request, w connector.ResponseWriter) error {
	dir, err := f.at.OpenFile(f.name, os.O_RDONLY, 0)
	if err != nil {
		return failure(err)
	}
	defer dir.Close()
	all, err := dir.ReadDir(mostListed)
	if err != nil && err != io.EOF {
		return failure(err)
	}
	var entries []fs.FileInfo
	for _, e := range all {
		if info := p.shown(f, e.Name(), r); info != nil {
			entries = append(entries, info)
		}
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int {
		if a.IsDir() != b.IsDir() {
			if a.IsDir() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())), cmp.Compare(a.Name(), b.Name()))
	})
	var page bytes.Buffer
	writeList(&page, string(r.MatchPath), entries, len(all) == mostListed)
	if err = w.Start(http.StatusOK, listFields); err == nil {
		if err = w.Append(page.Bytes()); err == nil {
			err = w.Finish()
		}
	}
	return sending(err)
}

var listFields = []connector.Field{
	{Name: []byte("Content-Type"), Value: []byte("text/html; charset=utf-8")},
	{Name: []byte("Content-Security-Policy"), Value: []byte("default-src 'none'; style-src 'unsafe-inline'")},
}

// shown is what is known of a directory's entry, nil when it is not for the
// list: what would be refused if it were asked for, and what begins with a dot.
func (p *place) shown(f *found, name string, r *connector.Request) fs.FileInfo {
	at := path.Join(f.name, name)
	if name[0] == '.' || private(name) || isSource(name) || p.dir.checkLinks(f.at, at) != nil {
		return nil
	}
	info, err := f.at.Stat(at)
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	if len(p.dir.below) > 0 && !allows(r, p.rules(r, at, info.IsDir()).access) {
		return nil
	}
	return named{info, name}
}

// named is a file by the name that a link gives it.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// writeList writes the page of the directory at a path.
func writeList(b *bytes.Buffer, at string, entries []fs.FileInfo, cut bool) {
	title := html.EscapeString("Index of " + readable(at))
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n", title)
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\n")
	b.WriteString(listStyle)
	fmt.Fprintf(b, "</head>\n<body><main><h1>%s</h1>\n", title)
	if at != "/" {
		b.WriteString("<p><a href=\"../\">Parent directory</a></p>\n")
	}
	if len(entries) == 0 {
		b.WriteString("<p>There is nothing to be seen in this directory.</p>\n</main></body></html>\n")
		return
	}
	b.WriteString("<table>\n<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Last modified (UTC)</th><th scope=\"col\" class=\"size\">Size</th></tr></thead>\n<tbody>\n")
	for _, e := range entries {
		slash, size := "", ""
		if e.IsDir() {
			slash = "/"
		} else {
			size = sizeText(e.Size())
		}
		when := e.ModTime().UTC()
		fmt.Fprintf(b, "<tr><th scope=\"row\"><a href=\"./%s%s\">%s%s</a></th><td><time datetime=\"%s\">%s</time></td><td class=\"size\">%s</td></tr>\n",
			html.EscapeString(escape(e.Name())), slash, html.EscapeString(readable(e.Name())), slash,
			when.Format("2006-01-02T15:04:05Z"), when.Format("2006-01-02 15:04"), size)
	}
	b.WriteString("</tbody></table>\n")
	if cut {
		fmt.Fprintf(b, "<p>There are more files than the %d that are looked at.</p>\n", mostListed)
	}
	b.WriteString("</main></body></html>\n")
}

const listStyle = `<style>
:root{color-scheme:light dark}
body{margin:2rem auto;padding:0 1rem;max-width:60rem;font:1rem/1.5 system-ui,sans-serif;color:#1b1b1f;background:#fff}
h1{font-size:1.4rem;overflow-wrap:anywhere}
a{color:#0b57a4}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;font-weight:400;padding:.3rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
thead th{font-weight:600;border-bottom-color:#888}
tbody th{overflow-wrap:anywhere}
td,.size{white-space:nowrap;font-variant-numeric:tabular-nums}
.size{text-align:right}
tbody tr:hover{background:#f2f4f8}
@media(max-width:34rem){th:nth-child(2),td:nth-child(2){display:none}}
@media(prefers-color-scheme:dark){body{color:#e4e4e8;background:#17181b}a{color:#8ab8f0}th,td{border-bottom-color:#3a3c42}thead th{border-bottom-color:#888}tbody tr:hover{background:#22242a}}
</style>
`

// readable is a name as a person may see it: what is no text, is not seen or
// turns around what follows it is replaced.
func readable(s string) string {
	return strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return utf8.RuneError
		}
		return c
	}, s)
}

// sizeText is a number of bytes in a form for people.
func sizeText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n), 0
	for ; f >= 999.5 && unit < 6; unit++ {
		f /= 1024
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %ciB", f, " KMGTPE"[unit])
	}
	return fmt.Sprintf("%.0f %ciB", f, " KMGTPE"[unit])
}
