package logformat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// clock is the argument of %t.
type clock struct {
	end    bool                               // the time of the end, not of the beginning
	append func(b []byte, t time.Time) []byte // of the tokens that are no strftime
	format string                             // strftime
}

// common is the time of the common log format.
const common = "[02/Jan/2006:15:04:05 -0700]"

// prepareTime reads what may follow "begin:" or "end:".
func prepareTime(it *item) error {
	c := &clock{}
	it.clock = c
	arg, ok := strings.CutPrefix(it.arg, "begin:")
	if !ok {
		arg, c.end = strings.CutPrefix(it.arg, "end:")
	}
	fraction := func(digits int, unit int) func([]byte, time.Time) []byte {
		return func(b []byte, t time.Time) []byte { return appendPadded(b, t.Nanosecond()/unit, digits, '0') }
	}
	switch arg {
	case "":
		c.append = func(b []byte, t time.Time) []byte { return t.AppendFormat(b, common) }
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
		c.format = arg
		return checkTime(arg)
	}
	return nil
}

func writeTime(b []byte, it *item, e *Entry) []byte {
	t := e.Start
	if it.clock.end {
		t = e.End
	}
	if it.clock.append != nil {
		return it.clock.append(b, t)
	}
	return appendTime(b, it.clock.format, t)
}

// conversions are those of strftime that are known.
const conversions = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%"

func checkTime(format string) error {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		if i++; i == len(format) {
			return errors.New("the time ends within a conversion")
		}
		if strings.IndexByte(conversions, format[i]) < 0 {
			return fmt.Errorf("%%%c is no conversion of a time", format[i])
		}
	}
	return nil
}

func appendPadded(b []byte, n, width int, pad byte) []byte {
	for ; width > 1 && n < pow10(width-1); width-- {
		b = append(b, pad)
	}
	return strconv.AppendInt(b, int64(n), 10)
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}

// appendTime appends t as strftime does in the C locale.
func appendTime(b []byte, format string, t time.Time) []byte {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b = append(b, format[i])
			continue
		}
		i++
		b = appendConversion(b, format[i], t)
	}
	return b
}

// layouts are the conversions for which the library has a layout.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02", 'D': "01/02/06",
	'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM", 'P': "pm", 'r': "03:04:05 PM", 'R': "15:04",
	'S': "05", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05", 'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

func appendConversion(b []byte, c byte, t time.Time) []byte {
	if l, ok := layouts[c]; ok {
		return t.AppendFormat(b, l)
	}
	week := func(first time.Weekday) int {
		return (t.YearDay() + 6 - (int(t.Weekday())-int(first)+7)%7) / 7
	}
	switch c {
	case 'C':
		return appendPadded(b, t.Year()/100, 2, '0')
	case 'g', 'G', 'V':
		year, w := t.ISOWeek()
		switch c {
		case 'g':
			return appendPadded(b, year%100, 2, '0')
		case 'G':
			return appendPadded(b, year, 4, '0')
		}
		return appendPadded(b, w, 2, '0')
	case 'j':
		return appendPadded(b, t.YearDay(), 3, '0')
	case 'k':
		return appendPadded(b, t.Hour(), 2, ' ')
	case 'l':
		return appendPadded(b, (t.Hour()+11)%12+1, 2, ' ')
	case 'n':
		return append(b, '\n')
	case 't':
		return append(b, '\t')
	case 's':
		return strconv.AppendInt(b, t.Unix(), 10)
	case 'u':
		return strconv.AppendInt(b, int64(t.Weekday()+6)%7+1, 10)
	case 'w':
		return strconv.AppendInt(b, int64(t.Weekday()), 10)
	case 'U':
		return appendPadded(b, week(time.Sunday), 2, '0')
	case 'W':
		return appendPadded(b, week(time.Monday), 2, '0')
	}
	return append(b, c)
}
