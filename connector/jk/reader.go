package jk

import (
	"os"

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

// place is where something was written: a conf.Place whose fields need no names
// where one is made.
type place struct {
	file string
	line int
}

func (p place) conf() conf.Place { return conf.Place{File: p.file, Line: p.line} }

func (p place) String() string { return p.conf().String() }

// report is a conf.Report with shorter names, for it is written to everywhere.
type report struct{ conf.Report }

func (r *report) fail(at place, key, format string, args ...any) {
	r.Fail(at.conf(), key, format, args...)
}

func (r *report) note(s conf.Severity, at place, key, format string, args ...any) int {
	return r.Note(s, at.conf(), key, format, args...)
}

func (r *report) warn(at place, key, format string, args ...any) int {
	return r.Warn(at.conf(), key, format, args...)
}

func (r *report) info(at place, key, format string, args ...any) {
	r.Info(at.conf(), key, format, args...)
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
	r.Lines(s.File, s.Data, func(l conf.TextLine) {
		if key, value, ok := l.Pair(&r.Report); ok {
			yield(entry{place: place{l.File, l.Line}, key: key, value: value, cut: l.Cut})
		}
	})
}

// macros replaces each $(name) of value that lookup knows; what is put in is
// not looked at again. The result of note is the index of a warning about a
// name that is unknown, or -1.
func (r *report) macros(at place, key, value string, lookup func(string) (string, bool)) (out string, note int) {
	return conf.Macros{Open: "$(", Close: ")"}.Expand(&r.Report, at.conf(), key, value, lookup)
}
