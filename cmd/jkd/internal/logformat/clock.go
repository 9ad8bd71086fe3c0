package logformat

import (
	"strconv"
	"strings"
	"time"
)

// clock is the argument of %t.
type clock struct {
	end    bool // the time of the end, not of the beginning
	append func(b []byte, t time.Time) []byte
}

// prepareTime reads the argument: a token or strftime, and before it, or alone,
// which time is meant.
func prepareTime(it *item) *Error {
	c := &clock{}
	it.clock = c
	arg := timeOf(it.arg)
	c.end = it.arg == "end" || strings.HasPrefix(it.arg, "end:")
	fraction := func(digits int, unit int) func([]byte, time.Time) []byte {
		return func(b []byte, t time.Time) []byte { return appendPadded(b, t.Nanosecond()/unit, digits, '0') }
	}
	switch arg {
	case "":
		c.append = appendCLF
	case "sec":
		c.append = func(b []byte, t time.Time) []byte { return strconv.AppendInt(b, t.Unix(), 10) }
	case "msec":
		c.append = func(b []byte, t time.Time) []byte { return strconv.AppendInt(b, t.UnixMilli(), 10) }
	case "usec":
		c.append = func(b []byte, t time.Time) []byte { return strconv.AppendInt(b, t.UnixMicro(), 10) }
	case "msec_frac":
		c.append = fraction(3, 1e6)
	case "usec_frac":
		c.append = fraction(6, 1e3)
	default:
		s := &Stamp{}
		if err := s.parse(arg, false, stampPart{}); err != nil {
			return err
		}
		c.append = s.Append
	}
	return nil
}

// timeOf is the argument without "begin" or "end".
func timeOf(arg string) string {
	for _, which := range [...]string{"begin", "end"} {
		if arg == which {
			return ""
		}
		if rest, ok := strings.CutPrefix(arg, which+":"); ok {
			return rest
		}
	}
	return arg
}

func writeTime(b []byte, it *item, e *Entry) []byte {
	t := e.Start
	if it.clock.end {
		t = e.End
	}
	return it.clock.append(b, t)
}
