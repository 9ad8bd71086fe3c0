package jk

import (
	"bytes"
	"slices"
	"time"

	"jkd/conf"
)

// reload is JkMountFileReload of one server; 0: never.
type reload time.Duration

// MapFile is a map file (JkMountFile) that may change while it is in use.
type MapFile struct {
	Path string
	// Data is the text that the maps of a Setup were made of at first.
	Data []byte
	// Every is how often to look at the file, 0: never. Of the servers that
	// use it and want it looked at the most eager one decides.
	Every time.Duration
	// Servers are those whose maps follow the file, by their place in
	// Setup.Maps.
	Servers []int
}

// MapFiles returns the map files in use, each once, in the order of the servers.
func (s *Setup) MapFiles() []MapFile {
	var out []MapFile
	at := map[string]int{}
	for i := range s.plan {
		p := s.owner(i)
		f := p.mounts.MapFile
		if f == nil {
			continue
		}
		n, known := at[f.Path]
		if !known {
			n = len(out)
			at[f.Path] = n
			out = append(out, MapFile{Path: f.Path, Data: f.Data})
		}
		m := &out[n]
		if every := time.Duration(p.every); every > 0 {
			m.Servers = append(m.Servers, i)
			if m.Every == 0 || every < m.Every {
				m.Every = every
			}
		}
	}
	return out
}

// owner is the plan that the map of a server follows.
func (s *Setup) owner(server int) *serverPlan {
	p := &s.plan[server]
	if p.shares >= 0 {
		p = &s.plan[p.shares]
	}
	return p
}

// Remapped is the outcome of [Setup.Remap].
type Remapped struct {
	// Setup has the new maps and everything else of the old one.
	Setup *Setup
	// Unknown are rules that name a worker which does not exist. They are
	// there: their paths are answered with 500, see [UnknownWorker].
	Unknown  conf.Errors
	Warnings []conf.Warning
}

// Remap makes a Setup in which the map file of that name has the text data; s
// stays as it is. Only the maps of servers that follow the file
// ([MapFile.Servers]) are new, and in them only what the file says.
//
// A rule for a worker that does not exist is kept and reported: the others must
// not suffer from it. Any other fault is an error, and so is a text without a
// rule, or one that ends in the middle of a line, where there were rules
// before: then the file is being written at this moment. The same s and data
// always have the same outcome, in every process.
func (s *Setup) Remap(file string, data []byte) (*Remapped, error) {
	r := &report{}
	out := &Remapped{Setup: &Setup{Config: s.Config, Maps: slices.Clone(s.Maps), env: s.env, plan: s.plan}}
	text := &conf.File{Path: file, Data: data}
	before, after := 0, 0
	for i := range s.plan {
		p := &s.plan[i]
		if p.mounts.MapFile == nil || p.mounts.MapFile.Path != file || p.every == 0 {
			continue
		}
		m := p.mounts
		m.MapFile = text
		b := &mapBuilder{report: r, cfg: s.Config, env: s.env, mounts: m, lenient: true}
		u := b.build()
		out.Setup.Maps[i] = u
		out.Unknown = append(out.Unknown, b.unknown...)
		before, after = before+s.Maps[i].fromFile(), after+u.fromFile()
	}
	for i := range s.plan {
		if n := s.plan[i].shares; n >= 0 {
			out.Setup.Maps[i] = out.Setup.Maps[n]
		}
	}
	conf.SortWarnings(r.Warnings)
	out.Warnings = r.Warnings
	// The same rule may be in several maps.
	_ = out.Unknown.Err() // sorts
	out.Unknown = slices.CompactFunc(out.Unknown, func(a, b *conf.Error) bool { return *a == *b })
	switch line, cut := cutOff(data, out.Unknown); {
	case len(r.Errs) > 0:
		return nil, r.Errs.Err()
	case before > 0 && after == 0:
		return nil, conf.Errors{{File: file, Msg: "holds no rule, where there were some: taken for a file that is just being written (to have none, disable one: -/* worker)"}}
	case before > 0 && cut:
		return nil, conf.Errors{{File: file, Line: line, Msg: "the last line is not complete: taken for a file that is just being written"}}
	}
	return out, nil
}

// fromFile is how many rules the map file gave.
func (u *URIMap) fromFile() (n int) {
	for _, r := range u.rules {
		if r.Source == FromFile {
			n++
		}
	}
	return n
}

// cutOff tells whether a text seems to end in the middle of a line: it lacks
// the last line's end, and that line makes no sense.
func cutOff(data []byte, unknown conf.Errors) (line int, cut bool) {
	i := bytes.LastIndexByte(data, '\n')
	last, _, _ := bytes.Cut(data[i+1:], []byte("#"))
	last = bytes.Trim(last, blanks)
	if len(last) == 0 {
		return 0, false
	}
	line = bytes.Count(data, []byte("\n")) + 1
	before, after, ok := bytes.Cut(last, []byte("="))
	if !ok || len(bytes.Trim(before, blanks)) == 0 || len(bytes.Trim(after, blanks)) == 0 {
		return line, true
	}
	return line, slices.ContainsFunc(unknown, func(e *conf.Error) bool { return e.Line == line })
}
