package conf

import (
	"bytes"
	"fmt"
	"strings"
)

// Dump returns a configuration file as jkd.conf: [section] and key = value. One
// in Apache's language is translated, with what Include, Define and the
// conditional sections have made of it and without what jkd does not act on.
// What it returns means the same wherever it is kept. The warnings and the error
// are those of [Load].
func Dump(path string, o Options) ([]byte, []Warning, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, Errors{{File: path, Msg: err.Error()}}
	}
	return dump(path, data, o)
}

func dump(path string, data []byte, o Options) ([]byte, []Warning, error) {
	cfg, sections, warnings, err := parseSections(path, data, o)
	if err != nil {
		return nil, warnings, err
	}
	return sections.text(cfg, o), warnings, nil
}

// text writes the sections. ServerRoot and the MPM of the command line are
// written out, as nothing else in the file tells them.
func (s *Sections) text(cfg *Config, o Options) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s, as jkd reads it\n", Printable(cfg.Path))
	head := []Pair{{Key: "ServerRoot", Value: quoteIni(cfg.Server.ServerRoot)}}
	if o.MPM != "" {
		head = append(head, Pair{Key: "MPM", Value: o.MPM})
	}
	written := false
	for i := range s.Sections {
		section := &s.Sections[i]
		fmt.Fprintf(&out, "\n[%s]\n", section.Name)
		first, _, _ := splitHeader(section.Name)
		server := first == serverSection
		if server && !written {
			written = true
			writePairs(&out, first, head)
		}
		for _, pair := range section.Pairs {
			if key := strings.ToLower(pair.Key); server && (key == "serverroot" || key == "mpm" && o.MPM != "") {
				continue
			}
			writePairs(&out, first, []Pair{pair})
		}
	}
	if !written {
		out.WriteString("\n[server]\n")
		writePairs(&out, serverSection, head)
	}
	return out.Bytes()
}

// writePairs writes directives by the names that they have today.
func writePairs(out *bytes.Buffer, section string, list []Pair) {
	for _, pair := range list {
		if d, ok := directives()[section][strings.ToLower(pair.Key)]; ok {
			pair.Key = d.name
		}
		fmt.Fprintf(out, "%s = %s\n", pair.Key, pair.Value)
	}
}
