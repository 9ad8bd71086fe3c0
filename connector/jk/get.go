package jk

import (
	"fmt"
	"math"
	"strings"
	"time"

	"jkd/conf"
)

// get reads the values of one worker's directives and reports what is wrong
// with them. Each method returns the default when the directive is not set or
// its value is unusable.
type get struct {
	b   *builder
	own map[string]*Property
}

func (g get) set(name string) bool { return g.own[name] != nil }

func (g get) parts(name string) []Part {
	if p := g.own[name]; p != nil {
		return p.Parts
	}
	return nil
}

// bad reports a value. One with an unknown $(name) in it is not a fault but
// means the default, as in mod_jk; the warning about the name then says so.
func (g get) bad(p *Property, err error, usual string) {
	for _, part := range p.Parts {
		if g.excused(part, "the default "+usual+" is used") {
			return
		}
	}
	g.b.fail(p.at(), p.Name, "%s", err)
}

// excused tells whether a value makes no sense because of a $(name) that is not
// defined, and adds to the warning about that what is done instead.
func (g get) excused(part Part, instead string) bool {
	if part.unresolved < 0 {
		return false
	}
	w := &g.b.Warnings[part.unresolved]
	if more := "; " + instead; !strings.HasSuffix(w.Msg, more) {
		w.Msg += more
	}
	return true
}

// below says what a number less than the least means.
type below uint8

const (
	negativeIsError below = iota
	negativeIsZero        // without a word: mod_jk's way to say "none"
)

// number reads a whole number in [least, most].
func (g get) number(name string, least, most, usual int64) int64 {
	p := g.own[name]
	if p == nil {
		return usual
	}
	n, err := g.int(p)
	switch {
	case err != nil:
	case n < least && least == 0:
		err = fmt.Errorf("%d is negative", n)
	case n < least:
		err = fmt.Errorf("%d is too small, at least %d is needed", n, least)
	case n > most:
		err = fmt.Errorf("%d is too large, at most %d is allowed", n, most)
	}
	if err != nil {
		g.bad(p, err, fmt.Sprint(usual))
		return usual
	}
	return n
}

// raised reads a number that is raised to least with a warning.
func (g get) raised(name string, least, usual int) int {
	n := int(g.number(name, math.MinInt32, math.MaxInt32, int64(usual)))
	if n < least {
		p := g.own[name]
		g.b.warn(p.at(), p.Name, "%d is less than %d; %d is used", n, least, least)
		return least
	}
	return n
}

// longest is the longest time: far enough, and a few of them can be added.
const longest = math.MaxInt32 * time.Second

// time reads a whole number of units.
func (g get) time(name string, unit, usual time.Duration, b below) time.Duration {
	p := g.own[name]
	if p == nil {
		return usual
	}
	n, err := g.int(p)
	switch {
	case err != nil:
	case n < 0 && b == negativeIsZero:
		return 0
	case n < 0:
		err = fmt.Errorf("%d is negative", n)
	case n > int64(longest/unit):
		err = fmt.Errorf("%d is too large", n)
	}
	if err != nil {
		g.bad(p, err, fmt.Sprint(int64(usual/unit)))
		return usual
	}
	g.unit(name, unit, n)
	return time.Duration(n) * unit
}

// unit warns of a number that was probably meant in the other unit of time:
// which directive has which is hard to remember. Whole minutes are no
// suspicious number of seconds.
func (g get) unit(name string, unit time.Duration, n int64) {
	p := g.own[name]
	if p == nil {
		return
	}
	least := int64(100)
	if name == "retry_interval" {
		least = 20 // it may be short
	}
	switch {
	case unit == time.Millisecond && n > 0 && n < least:
		g.b.warn(p.at(), p.Name, "is in milliseconds, and %d are hardly any time: for %d seconds write %d", n, n, n*1000)
	case unit == time.Second && n >= 1000 && n%3600 != 0 && (n%60 != 0 || n%1000 == 0):
		g.b.warn(p.at(), p.Name, "is in seconds, and %d are %s: for %d milliseconds write %d", n, time.Duration(n)*time.Second, n, max(n/1000, 1))
	}
}

// int reads a number the way C does: what follows the digits is passed over,
// but not without a word.
func (g get) int(p *Property) (int64, error) {
	n, err := parseInt(p.Value())
	if err == nil {
		return n, nil
	}
	digits := conf.LeadingInt(p.Value())
	if digits == "" {
		return 0, err
	}
	if n, bad := parseInt(digits); bad == nil {
		g.b.warn(p.at(), p.Name, "of %q only %d is read", p.Value(), n)
		return n, nil
	}
	return 0, err
}

func (g get) bool(name string, usual bool) bool {
	p := g.own[name]
	if p == nil {
		return usual
	}
	v, err := parseBool(p.Value())
	if err != nil {
		g.bad(p, err, fmt.Sprint(usual))
		return usual
	}
	return v
}

// text reads a text of any length.
func (g get) text(name, usual string) string {
	if p := g.own[name]; p != nil {
		return p.Value()
	}
	return usual
}

// short reads a text that mod_jk keeps in a slot of fixed size.
func (g get) short(name, usual string) string { return g.upTo(longestName, name, usual) }

// upTo reads a text of so many bytes at most.
func (g get) upTo(most int, name, usual string) string {
	p := g.own[name]
	if p == nil {
		return usual
	}
	if len(p.Value()) > most {
		g.b.fail(p.at(), p.Name, "the value is longer than %d bytes", most)
		return usual
	}
	return p.Value()
}

func (g get) words(name string, usual ...string) []string {
	var out []string
	for _, part := range g.parts(name) {
		out = append(out, split(part.Value)...)
	}
	if len(out) == 0 {
		return usual
	}
	return out
}

// letter reads a word of which the first letter, or a digit, says which of
// names is meant. Others mean the first, with a warning.
func (g get) letter(name string, names []string, letters string) uint8 {
	p := g.own[name]
	if p == nil {
		return 0
	}
	c := p.Value()[0]
	if i := strings.IndexByte(letters, c|0x20); i >= 0 && c > '9' {
		return uint8(i)
	}
	if i := int(c) - '0'; i >= 0 && i < len(names) && len(p.Value()) == 1 {
		return uint8(i)
	}
	g.b.warn(p.at(), p.Name, "unknown value %s; %s is used (%s)", p.Value(), names[0], strings.Join(names, ", "))
	return 0
}
