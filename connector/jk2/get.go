package jk2

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"jkd/conf"
)

// get reads the properties of one component and reports what is wrong with
// them. Each method returns the default when the property is not set or its
// value is unusable.
type get struct {
	r     *conf.Report
	props map[string]*property
}

func (g get) set(name string) bool { return g.props[name] != nil }

// at is where a property stands; it must be set.
func (g get) at(name string) conf.Place { return g.props[name].last().Place }

func (g get) text(name, usual string) string {
	if p := g.props[name]; p != nil {
		return p.last().value
	}
	return usual
}

// list is the values of a property of which every line counts, none twice.
func (g get) list(name string) []part {
	p := g.props[name]
	if p == nil {
		return nil
	}
	var out []part
	seen := map[string]bool{}
	for _, x := range p.parts {
		if !seen[x.value] {
			out = append(out, x)
		}
		seen[x.value] = true
	}
	return out
}

// number reads a whole number in [least, most]. What follows the digits is
// passed over as in mod_jk2, but not without a word; a word, which is 0 there,
// is a fault.
func (g get) number(name string, least, most, usual int) int {
	p := g.props[name]
	if p == nil {
		return usual
	}
	x := p.last()
	digits := conf.LeadingInt(x.value)
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case digits == "" && x.unresolved >= 0:
		w := &g.r.Warnings[x.unresolved]
		w.Msg += fmt.Sprintf("; the default %d is used", usual)
		return usual
	case digits == "":
		g.r.Fail(x.Place, name, "%q is not a whole number; mod_jk2 reads it as 0", x.value)
		return usual
	case err != nil:
		g.r.Fail(x.Place, name, "%s is too large", digits)
		return usual
	case n < int64(least) && least == 0:
		g.r.Fail(x.Place, name, "%d is negative", n)
		return usual
	case n < int64(least):
		g.r.Fail(x.Place, name, "%d is too small, at least %d is needed", n, least)
		return usual
	case n > int64(most):
		g.r.Fail(x.Place, name, "%d is too large, at most %d is allowed", n, most)
		return usual
	}
	if digits != x.value {
		g.r.Warn(x.Place, name, "of %q only %d is read", x.value, n)
	}
	return int(n)
}

// flag reads 0 or 1; every other number is 1 too. The words that people write
// instead are 0 in mod_jk2, whatever they say, and nobody can mean that.
func (g get) flag(name string, usual bool) bool {
	p := g.props[name]
	if p == nil {
		return usual
	}
	if x := p.last(); conf.LeadingInt(x.value) == "" && x.unresolved < 0 {
		g.r.Fail(x.Place, name, "%q is neither 1 (on) nor 0 (off); mod_jk2 reads it as 0", x.value)
		return usual
	}
	n := 0
	if usual {
		n = 1
	}
	return g.number(name, math.MinInt32, math.MaxInt32, n) != 0
}

// present tells whether a switch is on that mod_jk2 turns on whatever the
// value is.
func (g get) present(name string) bool {
	p := g.props[name]
	if p == nil {
		return false
	}
	if x := p.last(); off(x.value) {
		g.r.Warn(x.Place, name, "is on whatever its value is: leave the line out to have it off")
	}
	return true
}

func off(value string) bool {
	switch strings.ToLower(value) {
	case "0", "off", "no", "false":
		return true
	}
	return false
}

const mostSeconds = math.MaxInt32

func (g get) seconds(name string, usual int) time.Duration {
	return time.Duration(g.number(name, 0, mostSeconds, usual)) * time.Second
}

func (g get) millis(name string) time.Duration {
	n := g.number(name, 0, math.MaxInt32, 0)
	if n > 0 && n < 100 {
		g.r.Warn(g.at(name), name, "is in milliseconds, and %d are hardly any time: for %d seconds write %d", n, n, n*1000)
	}
	return time.Duration(n) * time.Millisecond
}
