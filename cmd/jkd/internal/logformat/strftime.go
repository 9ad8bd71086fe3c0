package logformat

import (
	"strconv"
	"strings"
	"time"
)

// Stamp is a compiled time format. It is immutable and may be used
// concurrently.
type Stamp struct {
	parts []stampPart
}

type stampPart struct {
	conv byte   // conversion, 0: literal
	pad  byte   // 0: the conversion's own; ' ', '0' or '-' for none
	up   bool   // in upper case
	text string // literal
}

// conversions are those of strftime(3) in C99 and POSIX, and the common
// extensions k l P s v +.
const conversions = "aAbBcCdDeFgGhHIjklmMnprPRsStTuUvVwWxXyYzZ+"

// expansions are the conversions that stand for others in the C locale.
var expansions = map[byte]string{
	'c': "%a %b %e %H:%M:%S %Y",
	'D': "%m/%d/%y",
	'F': "%Y-%m-%d",
	'h': "%b",
	'n': "\n",
	'r': "%I:%M:%S %p",
	'R': "%H:%M",
	't': "\t",
	'T': "%H:%M:%S",
	'v': "%e-%b-%Y",
	'x': "%m/%d/%y",
	'X': "%H:%M:%S",
	'+': "%a %b %e %H:%M:%S %Z %Y",
}

// ParseStamp compiles a JkLogStampFormat: every conversion of strftime in the C
// locale, %Q for milliseconds (three digits) and %q for microseconds (six).
// Conversions take the modifiers E and O, which mean nothing in that locale,
// and the flags - _ 0 ^. All of %Q and %q are replaced, where mod_jk leaves all
// but the first as they are. The empty format is an empty stamp. The error is
// an *[Error].
func ParseStamp(format string) (*Stamp, error) {
	s := &Stamp{}
	if err := s.parse(format, true, stampPart{}); err != nil {
		return nil, err
	}
	return s, nil
}

// parse adds what format says; fractions tells whether %Q and %q are known.
func (s *Stamp) parse(format string, fractions bool, outer stampPart) *Error {
	for i := 0; i < len(format); {
		if format[i] != '%' {
			from := i
			for i < len(format) && format[i] != '%' {
				i++
			}
			s.literal(format[from:i])
			continue
		}
		from := i
		p := outer
		for i++; i < len(format) && isFlag(format[i]); i++ {
			switch c := format[i]; c {
			case '^':
				p.up = true
			case '_':
				p.pad = ' '
			default:
				p.pad = c
			}
		}
		if i+1 < len(format) && (format[i] == 'E' || format[i] == 'O') {
			i++
		}
		if i == len(format) {
			return &Error{Column: from + 1, Token: format[from:], Reason: "the time ends within a conversion"}
		}
		p.conv = format[i]
		i++
		switch {
		case p.conv == '%':
			s.literal("%")
			continue
		case p.conv == 'Q' || p.conv == 'q':
			if !fractions {
				e := &Error{Column: from + 1, Token: format[from:i], Reason: "only JkLogStampFormat has fractions here", Nearest: "%{msec_frac}t"}
				if p.conv == 'q' {
					e.Nearest = "%{usec_frac}t"
				}
				return e
			}
		case !isConversion(string(rune(p.conv))):
			e := &Error{Column: from + 1, Token: format[from:i], Reason: "this is no conversion of a time"}
			if c := otherCase(p.conv, isConversion); c != "" {
				e.Nearest = "%" + c
			}
			return e
		}
		if e, ok := expansions[p.conv]; ok {
			// The flags of the whole are not those of its parts, but for case.
			if err := s.parse(e, fractions, stampPart{up: p.up}); err != nil {
				return err
			}
			continue
		}
		s.parts = append(s.parts, p)
	}
	return nil
}

// literal adds text, joining it to a literal before it.
func (s *Stamp) literal(text string) {
	if n := len(s.parts); n > 0 && s.parts[n-1].conv == 0 {
		s.parts[n-1].text += text
		return
	}
	s.parts = append(s.parts, stampPart{text: text})
}

func isFlag(c byte) bool { return c == '-' || c == '_' || c == '0' || c == '^' }

func isConversion(c string) bool { return strings.Contains(conversions, c) }

// Append adds t, in the zone it carries, to b.
func (s *Stamp) Append(b []byte, t time.Time) []byte {
	var c civil
	c.set(t)
	for i := range s.parts {
		p := &s.parts[i]
		if p.conv == 0 {
			b = append(b, p.text...)
			continue
		}
		from := len(b)
		b = p.append(b, &c)
		if p.up {
			for j, ch := range b[from:] {
				if 'a' <= ch && ch <= 'z' {
					b[from+j] = ch - 0x20
				}
			}
		}
	}
	return b
}

func (p *stampPart) append(b []byte, c *civil) []byte {
	switch p.conv {
	case 'a':
		return append(b, dayNames[c.weekday][:3]...)
	case 'A':
		return append(b, dayNames[c.weekday]...)
	case 'b':
		return append(b, monthNames[c.month-1][:3]...)
	case 'B':
		return append(b, monthNames[c.month-1]...)
	case 'C':
		return p.number(b, floorDiv(c.year, 100), 2, '0')
	case 'd':
		return p.number(b, c.day, 2, '0')
	case 'e':
		return p.number(b, c.day, 2, ' ')
	case 'g':
		year, _ := c.isoWeek()
		return p.number(b, year-floorDiv(year, 100)*100, 2, '0')
	case 'G':
		year, _ := c.isoWeek()
		return p.number(b, year, 4, '0')
	case 'H':
		return p.number(b, c.hour, 2, '0')
	case 'I':
		return p.number(b, hour12(c.hour), 2, '0')
	case 'j':
		return p.number(b, c.yearDay+1, 3, '0')
	case 'k':
		return p.number(b, c.hour, 2, ' ')
	case 'l':
		return p.number(b, hour12(c.hour), 2, ' ')
	case 'm':
		return p.number(b, c.month, 2, '0')
	case 'M':
		return p.number(b, c.minute, 2, '0')
	case 'p':
		return append(b, [2]string{"AM", "PM"}[c.hour/12]...)
	case 'P':
		return append(b, [2]string{"am", "pm"}[c.hour/12]...)
	case 'q':
		return p.number(b, c.nano/1e3, 6, '0')
	case 'Q':
		return p.number(b, c.nano/1e6, 3, '0')
	case 's':
		return strconv.AppendInt(b, c.unix, 10)
	case 'S':
		return p.number(b, c.second, 2, '0')
	case 'u':
		return p.number(b, (c.weekday+6)%7+1, 1, '0')
	case 'U':
		return p.number(b, (c.yearDay+7-c.weekday)/7, 2, '0')
	case 'V':
		_, week := c.isoWeek()
		return p.number(b, week, 2, '0')
	case 'w':
		return p.number(b, c.weekday, 1, '0')
	case 'W':
		return p.number(b, (c.yearDay+7-(c.weekday+6)%7)/7, 2, '0')
	case 'y':
		return p.number(b, c.year-floorDiv(c.year, 100)*100, 2, '0')
	case 'Y':
		return p.number(b, c.year, 4, '0')
	case 'z':
		return appendOffset(b, c.offset)
	case 'Z':
		return append(b, c.zone...)
	}
	return b
}

// number appends n, at least width digits wide unless a flag says otherwise.
func (p *stampPart) number(b []byte, n, width int, pad byte) []byte {
	if p.pad != 0 {
		pad = p.pad
	}
	if pad == '-' {
		width = 0
	}
	if pad != ' ' {
		return appendPadded(b, n, width, '0')
	}
	return appendPadded(b, n, width, ' ')
}

func appendPadded(b []byte, n, width int, pad byte) []byte {
	if n < 0 {
		return strconv.AppendInt(b, int64(n), 10)
	}
	for limit := pow10(width - 1); limit > 1 && n < limit; limit /= 10 {
		b = append(b, pad)
	}
	return strconv.AppendInt(b, int64(n), 10)
}

func pow10(n int) int {
	p := 1
	for ; n > 0; n-- {
		p *= 10
	}
	return p
}

func hour12(h int) int {
	if h %= 12; h == 0 {
		return 12
	}
	return h
}

func appendOffset(b []byte, seconds int) []byte {
	sign := byte('+')
	if seconds < 0 {
		sign, seconds = '-', -seconds
	}
	b = append(b, sign)
	b = append2(b, seconds/3600)
	return append2(b, seconds/60%60)
}

// append2 appends the two digits of 0 <= n <= 99.
func append2(b []byte, n int) []byte {
	return append(b, byte('0'+n/10%10), byte('0'+n%10))
}
