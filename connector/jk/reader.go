package jk

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"jkd/conf"
)

// Env is what $(name) may refer to besides the text itself.
type Env struct {
	// ServerRoot is the value of $(ServerRoot) unless the text defines one;
	// "" for none.
	ServerRoot string
	// Lookup returns an environment variable; nil means os.LookupEnv.
	Lookup func(name string) (string, bool)
}

func (e Env) lookup(name string) (string, bool) {
	if name == "ServerRoot" && e.ServerRoot != "" {
		return e.ServerRoot, true
	}
	if e.Lookup != nil {
		return e.Lookup(name)
	}
	return os.LookupEnv(name)
}

// Source is one text: the lines of a file, or pairs that were found elsewhere
// (JkWorkerProperty), or both, the pairs first.
type Source struct {
	File  string // for messages
	Pairs []conf.Pair
	Data  []byte
}

// place is where something was written.
type place struct {
	file string
	line int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// report collects what is wrong and what is odd, each only once: inherited
// directives are looked at again for each worker that has them.
type report struct {
	errs     conf.Errors
	warnings []conf.Warning
	seen     map[string]bool
}

func (r *report) once(text string) bool {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	before := r.seen[text]
	r.seen[text] = true
	return !before
}

func (r *report) fail(at place, key, format string, args ...any) {
	e := &conf.Error{File: at.file, Line: at.line, Key: key, Msg: fmt.Sprintf(format, args...)}
	if r.once("e" + e.Error()) {
		r.errs = append(r.errs, e)
	}
}

func (r *report) note(s conf.Severity, at place, key, format string, args ...any) int {
	w := conf.Warning{Severity: s, File: at.file, Line: at.line, Key: key, Msg: fmt.Sprintf(format, args...)}
	if !r.once(s.String() + w.String()) {
		return -1
	}
	r.warnings = append(r.warnings, w)
	return len(r.warnings) - 1
}

func (r *report) warn(at place, key, format string, args ...any) int {
	return r.note(conf.Warn, at, key, format, args...)
}

func (r *report) info(at place, key, format string, args ...any) {
	r.note(conf.Info, at, key, format, args...)
}

// blanks are removed from both ends of names and values.
const blanks = " \t\r\v\f"

// entry is one name=value line.
type entry struct {
	place
	key, value string
	// cut tells that a comment was taken off the value without a blank before
	// it: the '#' may have been meant.
	cut bool
}

// entries calls yield for each name=value line of s. Lines that are none are
// remarked upon and skipped, as mod_jk does without a word.
func (r *report) entries(s Source, yield func(entry)) {
	for _, p := range s.Pairs {
		if at := (place{s.File, p.Line}); p.Key == "" || p.Value == "" {
			r.info(at, p.Key, "has no value: ignored")
		} else {
			yield(entry{place: at, key: p.Key, value: p.Value})
		}
	}
	data, at := s.Data, place{s.File, 0}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		r.fail(place{s.File, 1}, "", "the file is UTF-16; save it as UTF-8")
		return
	}
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		r.info(place{s.File, 1}, "", "the byte order mark is skipped")
		data = rest
	}
	for raw := range bytes.Lines(data) {
		at.line++
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		if len(raw) > conf.MaxLine {
			r.fail(at, "", "the line is %d bytes long, at most %d are allowed", len(raw), conf.MaxLine)
			continue
		}
		if bytes.IndexByte(raw, 0) >= 0 {
			r.fail(at, "", "the line contains a NUL byte")
			continue
		}
		text, _, commented := strings.Cut(string(raw), "#")
		cut := commented && text != "" && !strings.ContainsRune(blanks, rune(text[len(text)-1]))
		text = strings.Trim(text, blanks)
		if text == "" {
			continue
		}
		key, value, found := strings.Cut(text, "=")
		key, value = strings.Trim(key, blanks), strings.Trim(value, blanks)
		switch {
		case !found:
			r.info(at, "", "the line has no '=': ignored")
		case key == "":
			r.info(at, "", "the line has no name before '=': ignored")
		case value == "":
			r.info(at, key, "has no value: ignored")
		default:
			yield(entry{place: at, key: key, value: value, cut: cut})
		}
	}
}

// mostMacros is how many $(name) of one value are replaced.
const mostMacros = 20

// macros replaces each $(name) of value that lookup knows; what is put in is
// not looked at again. The result of note is the index of a warning about a
// name that is unknown, or -1.
func (r *report) macros(at place, key, value string, lookup func(string) (string, bool)) (out string, note int) {
	note = -1
	if !strings.Contains(value, "$(") {
		return value, note
	}
	var b strings.Builder
	rest := value
	for n := 0; ; {
		i := strings.Index(rest, "$(")
		if i < 0 {
			break
		}
		end := strings.IndexByte(rest[i:], ')')
		if end < 0 {
			r.warn(at, key, "$( is never closed: the text is left as it is")
			break
		}
		name := rest[i+2 : i+end]
		b.WriteString(rest[:i])
		if n == mostMacros {
			r.warn(at, key, "has more than %d $(name): those after them are left as they are", mostMacros)
			rest = rest[i:]
			break
		}
		if text, ok := lookup(name); ok {
			b.WriteString(text)
			n++
		} else {
			b.WriteString(rest[i : i+end+1])
			if w := r.warn(at, key, "$(%s) is defined neither above nor in the environment: left as it is", conf.Printable(name)); w >= 0 {
				note = w
			}
		}
		rest = rest[i+end+1:]
	}
	b.WriteString(rest)
	return b.String(), note
}
