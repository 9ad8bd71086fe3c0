package logformat

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func stamp(t testing.TB, format string) *Stamp {
	t.Helper()
	s, err := ParseStamp(format)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return s
}

func TestStamp(t *testing.T) {
	when := time.Date(2024, time.February, 5, 7, 8, 9, 12345678, time.FixedZone("CET", 3600))
	for format, want := range map[string]string{
		"":                                "",
		"[%a %b %d %H:%M:%S.%Q %Y] ":      "[Mon Feb 05 07:08:09.012 2024] ",
		"%q %Q %q":                        "012345 012 012345",
		"%%Q%%":                           "%Q%",
		"%v|%+":                           " 5-Feb-2024|Mon Feb  5 07:08:09 CET 2024",
		"%-d %_d %0e %-H %^a %^c %Ey %Om": "5  5 05 7 MON MON FEB  5 07:08:09 2024 24 02",
		"a%nb%tc":                         "a\nb\tc",
	} {
		if got := string(stamp(t, format).Append([]byte(">"), when)); got != ">"+want {
			t.Errorf("%q: got %q, want %q", format, got, want)
		}
	}
	for format, want := range map[string]string{
		"[%H:%":  "column 5: %: the time ends within a conversion",
		"%E":     "column 1: %E: this is no conversion of a time, did you mean %e?",
		"a %J":   "column 3: %J: this is no conversion of a time, did you mean %j?",
		"%f":     "column 1: %f: this is no conversion of a time, did you mean %F?",
		"%-\xff": "column 1: %-\xff: this is no conversion of a time",
	} {
		if _, err := ParseStamp(format); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", format, err, want)
		}
	}
	s, b := stamp(t, "%c %Q %q %Z %z %V %G %j %+ %^B"), make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { b = s.Append(b[:0], when) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCivil compares the calendar with the library's over 800 years, days and
// weeks and all.
func TestCivil(t *testing.T) {
	for d := time.Date(1600, time.January, 1, 23, 59, 58, 0, time.UTC); d.Year() < 2400; d = d.AddDate(0, 0, 1) {
		var c civil
		c.set(d)
		year, week := c.isoWeek()
		wantYear, wantWeek := d.ISOWeek()
		if c.year != d.Year() || c.month != int(d.Month()) || c.day != d.Day() || c.yearDay+1 != d.YearDay() || c.weekday != int(d.Weekday()) ||
			c.hour != 23 || c.minute != 59 || c.second != 58 || year != wantYear || week != wantWeek {
			t.Fatalf("%v: %+v, week %d of %d", d, c, week, year)
		}
	}
}

// TestDate compares with the date command, which uses the C library's tables.
func TestDate(t *testing.T) {
	// Not v and +, which GNU's does not have, nor what it has of its own.
	const all = "a A b B c C d D e F g G h H I j k l m M p P r R s S T u U V w W x X y Y z Z"
	var format strings.Builder
	for _, c := range strings.Fields(all) {
		fmt.Fprintf(&format, "%s=%%%s|", c, c)
	}
	format.WriteString("%%|%-d|%_H|%^a|%Ey|%Od")
	s := stamp(t, format.String())
	for _, zone := range []string{"UTC", "Europe/Prague", "America/St_Johns", "Asia/Kathmandu"} {
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip(err)
		}
		for _, unix := range []int64{
			0, 86399, 951782400 /* leap day of 2000 */, 1009843199, 1104537600 /* week 53 of 2004 */, 1230768000, 1262304000,
			1325375999, 1396141200 /* summer begins */, 1414285199, 1414288800, 1483228799, 1709164800, 1735603200, 1767225599, 4102444799,
		} {
			cmd := exec.Command("date", "-d", fmt.Sprintf("@%d", unix), "+"+format.String())
			cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ="+zone)
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("no date command that takes -d: %v", err)
			}
			want := strings.Split(strings.TrimSuffix(string(out), "\n"), "|")
			got := strings.Split(string(s.Append(nil, time.Unix(unix, 0).In(location))), "|")
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Errorf("%s @%d: got %q, want %q", zone, unix, got[i], want[i])
				}
			}
		}
	}
}

func FuzzStamp(f *testing.F) {
	f.Add("[%a %b %d %H:%M:%S.%Q %Y] ", int64(0))
	f.Add("%-j%^+%EY%Ou", int64(-1)<<40)
	f.Fuzz(func(t *testing.T, format string, unix int64) {
		s, err := ParseStamp(format)
		if err != nil {
			return
		}
		if unix > 1<<40 || unix < -1<<40 {
			return
		}
		if got := s.Append(nil, time.Unix(unix, 0).UTC()); len(got) > 64*len(format)+64 {
			t.Errorf("%q makes %d bytes", format, len(got))
		}
	})
}
