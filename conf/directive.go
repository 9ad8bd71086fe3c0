package conf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// directive is one name of a section.
type directive struct {
	name string // current spelling; old names share the entry
	// many: every occurrence counts. once: a second one is an error. Neither:
	// the last one counts and a warning says so.
	many, once bool
	set        func(p *parser, g given) error
}

// table holds the directives of a section by lower-case name.
type table map[string]*directive

// add enters d under its name and under old names.
func (t table) add(d directive, old ...string) {
	for _, name := range append(old, d.name) {
		t[strings.ToLower(name)] = &d
	}
}

// directives are those of all sections. They are put together when a file is
// read: a child, which is sent what the file says, does without.
var directives = sync.OnceValue(func() map[string]table {
	return map[string]table{
		serverSection: serverTable(), "mpm.prefork": preforkTable(), "mpm.worker": workerTable(), jkSection: jkTable(),
		jk2Section:    jk2Table(),
		statusSection: statusTable(),
		vhostSection:  vhostTable(), locationSection: locationTable(),
		proxySection:     proxyTable(),
		directorySection: directoryTable(), filesSection: directoryTable(),
	}
})

// sectionNames are the first words of section headers, in the order
// messages list them.
var sectionNames = []string{serverSection, "mpm.prefork", "mpm.worker", jkSection, jk2Section, vhostSection, locationSection, statusSection, proxySection, directorySection, filesSection}

// namesOf lists the current names of a section, sorted.
func namesOf(section string) []string {
	var out []string
	for _, d := range directives()[section] {
		out = append(out, d.name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The functions below make setters: where says which field of a Config a
// directive is for.

// number sets a whole number of a given range.
func number(where func(*Config) *int, least, most int64) func(*parser, given) error {
	return func(p *parser, g given) error {
		n, err := parseInt(g.Value)
		if err != nil {
			return err
		}
		if err := inRange(n, least, most); err != nil {
			return err
		}
		*where(p.cfg) = int(n)
		return nil
	}
}

// anyNumber is for values that are corrected, not refused, when out of range.
func anyNumber(where func(*Config) *int) func(*parser, given) error {
	return number(where, math.MinInt32, math.MaxInt32)
}

func size(where func(*Config) *int64, least, most int64) func(*parser, given) error {
	return func(p *parser, g given) error {
		n, err := parseSize(g.Value)
		if err != nil {
			return err
		}
		if err := inRange(n, least, most); err != nil {
			return err
		}
		*where(p.cfg) = n
		return nil
	}
}

// smallSize is size for an int.
func smallSize(where func(*Config) *int, least, most int64) func(*parser, given) error {
	return func(p *parser, g given) error {
		var n int64
		err := size(func(*Config) *int64 { return &n }, least, most)(p, g)
		if err == nil {
			*where(p.cfg) = int(n)
		}
		return err
	}
}

func inRange(n, least, most int64) error {
	switch {
	case n < least && least == 0:
		return fmt.Errorf("%d is negative", n)
	case n < least:
		return fmt.Errorf("%d is too small, at least %d is needed", n, least)
	case n > most:
		return fmt.Errorf("%d is too large, at most %d is allowed", n, most)
	}
	return nil
}

// seconds sets a time whose bare number counts seconds.
func seconds(where func(*Config) *time.Duration, least time.Duration) func(*parser, given) error {
	return func(p *parser, g given) error {
		t, err := parseTime(g.Value, time.Second)
		if err != nil {
			return err
		}
		if t < least {
			if t < 0 {
				return fmt.Errorf("%s is negative", g.Value)
			}
			return fmt.Errorf("%s is too short, at least %s is needed", g.Value, least)
		}
		*where(p.cfg) = t
		return nil
	}
}

func onOff(where func(*Config) *bool) func(*parser, given) error {
	return func(p *parser, g given) (err error) {
		*where(p.cfg), err = parseFlag(g.Value)
		return err
	}
}

// outputPath sets the absolute path of a file that jkd writes.
func outputPath(where func(*Config) *string) func(*parser, given) error {
	return func(p *parser, g given) error {
		path, err := p.output(g, g.Value)
		if err == nil {
			*where(p.cfg) = path
		}
		return err
	}
}

// unsupported names directives of Apache and mod_jk that people bring along,
// by lower-case name.
var unsupported = map[string]string{
	"acceptmutex":             "children wait for connections without a lock",
	"mutex":                   "children wait for connections without a lock",
	"lockfile":                "children wait for connections without a lock",
	"include":                 "this file is one; files in Apache's language, which have no [section], may include others",
	"listencoresbucketsratio": "all children share every listener",
	"loadmodule":              "connectors are sections of this file",
	"maxmemfree":              "memory is managed by the runtime",
	"receivebuffersize":       "listeners use the kernel's defaults",
	"sendbuffersize":          "listeners use the kernel's defaults",
	"passenv":                 "use SetEnv",
	"transferlog":             "use CustomLog",
	"sslengine":               "jkd listens without TLS in this version",
}
