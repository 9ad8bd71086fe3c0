package files

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"

	"jkd/connector"
)

// packings are the codings of PrecompressedFiles and the extensions of the files
// that are in them.
var packings = map[string]string{"br": ".br", "gzip": ".gz", "zstd": ".zst"}

// packed opens the file that has the content of another one, in a coding that
// r's client accepts. It may not be older than that: then nobody has made it
// anew. coding is "" if there is none for any client.
func (f *found) packed(of fs.FileInfo, r *connector.Request) (file *os.File, info fs.FileInfo, coding string) {
	any := ""
	accept := connector.AppendValues(nil, r.Fields, "accept-encoding")
	for _, coding := range f.rules.precompress {
		name := f.name + packings[coding]
		info, err := f.at.Lstat(name) // no links: the rules for those are not looked at
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(of.ModTime()) {
			continue
		}
		if any = coding; !accepts(accept, coding) {
			continue
		}
		if file, info, err := openFile(f.at, name); err == nil {
			return file, info, coding
		}
	}
	return nil, nil, any
}

// accepts tells whether the values of Accept-Encoding have a coding, by its name
// or by "*", and not with a weight of 0.
func accepts(values [][]byte, coding string) bool {
	star := false
	for _, v := range values {
		for element := range bytes.SplitSeq(v, []byte(",")) {
			name, params, _ := bytes.Cut(element, []byte(";"))
			name = bytes.TrimSpace(name)
			weight := 1.0
			for param := range bytes.SplitSeq(params, []byte(";")) {
				if q, ok := bytes.CutPrefix(bytes.ToLower(bytes.TrimSpace(param)), []byte("q=")); ok {
					var err error
					if weight, err = strconv.ParseFloat(string(q), 64); err != nil {
						weight = 0
					}
				}
			}
			switch {
			case connector.EqualFold(name, coding):
				return weight > 0
			case string(name) == "*":
				star = weight > 0
			}
		}
	}
	return star
}
