package logformat

import (
	"strconv"
	"time"
)

var (
	dayNames   = [...]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	monthNames = [...]string{"January", "February", "March", "April", "May", "June", "July",
		"August", "September", "October", "November", "December"}
)

// civil is a time taken apart, once for all conversions of a stamp.
type civil struct {
	year, month, day     int // month 1..12
	hour, minute, second int
	nano                 int
	weekday              int // 0 is Sunday
	yearDay              int // 0..365
	unix                 int64
	offset               int // seconds east of UTC
	zone                 string
}

const secondsPerDay = 24 * 60 * 60

func (c *civil) set(t time.Time) {
	c.zone, c.offset = t.Zone()
	c.unix = t.Unix()
	c.nano = t.Nanosecond()
	local := c.unix + int64(c.offset)
	days := local / secondsPerDay
	rest := int(local % secondsPerDay)
	if rest < 0 {
		days--
		rest += secondsPerDay
	}
	c.hour, c.minute, c.second = rest/3600, rest/60%60, rest%60
	c.weekday = int(((days+4)%7 + 7) % 7) // 1970 began on a Thursday
	c.setDay(days)
}

// setDay sets the date from the number of days since 1970-01-01. It counts
// years from March, so that the leap day is a year's last, and in eras of 400
// years, which all have the same number of days.
func (c *civil) setDay(days int64) {
	const era = 146097
	days += 719468 // since 0000-03-01
	eras := days / era
	if days < 0 {
		eras = (days - era + 1) / era
	}
	day := int(days - eras*era)
	year := (day - day/1460 + day/36524 - day/146096) / 365
	dayOfYear := day - (365*year + year/4 - year/100)
	month := (5*dayOfYear + 2) / 153 // 0 is March
	c.day = dayOfYear - (153*month+2)/5 + 1
	c.month = month + 3
	c.year = year + int(eras)*400
	if c.month > 12 {
		c.month -= 12
		c.year++
		c.yearDay = dayOfYear - 306
		return
	}
	c.yearDay = dayOfYear + 59
	if leap(c.year) {
		c.yearDay++
	}
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// isoWeek returns the week of ISO 8601 and the year it belongs to: week 1 is
// the one with the year's first Thursday.
func (c *civil) isoWeek() (year, week int) {
	thursday := c.yearDay + 3 - (c.weekday+6)%7 // of the same week
	year = c.year
	switch length := 365; {
	case thursday < 0:
		year--
		thursday += 365
		if leap(year) {
			thursday++
		}
	default:
		if leap(year) {
			length++
		}
		if thursday >= length {
			year++
			thursday -= length
		}
	}
	return year, thursday/7 + 1
}

// appendCLF adds the time of the common log format, brackets included.
func appendCLF(b []byte, t time.Time) []byte {
	var c civil
	c.set(t)
	b = append(b, '[')
	b = append2(b, c.day)
	b = append(b, '/')
	b = append(b, monthNames[c.month-1][:3]...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(c.year), 10)
	b = append(b, ':')
	b = append2(b, c.hour)
	b = append(b, ':')
	b = append2(b, c.minute)
	b = append(b, ':')
	b = append2(b, c.second)
	b = append(b, ' ')
	b = appendOffset(b, c.offset)
	return append(b, ']')
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
