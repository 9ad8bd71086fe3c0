package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// clean makes text of a child harmless, and as wide as it is long.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// count shortens numbers from 100000 on: 123k, 4.5M.
func count(n uint64) string {
	if n < 100000 {
		return strconv.FormatUint(n, 10)
	}
	return scaled(float64(n), 1000, "kMGTPE")
}

// size is a number of bytes: 17B, 4.5k, 120M.
func size(n uint64) string {
	if n < 1024 {
		return strconv.FormatUint(n, 10) + "B"
	}
	return scaled(float64(n), 1024, "kMGTPE")
}

func scaled(f, base float64, units string) string {
	i := -1
	for f >= base && i < len(units)-1 {
		f /= base
		i++
	}
	if f < 10 {
		return fmt.Sprintf("%.1f%c", f, units[i])
	}
	return fmt.Sprintf("%.0f%c", f, units[i])
}

// rate is a number a second.
func rate(f float64) string {
	switch {
	case f < 100:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case f < 100000:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return scaled(f, 1000, "kMGTPE")
}

// span is a duration in at most seven characters: 5ms, 1.2s, 3m04s, 2h05m,
// 11d03h.
func span(d time.Duration) string {
	switch s := int64(d / time.Second); {
	case d < 0:
		return "0ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case s < 60:
		return strconv.FormatFloat(float64(d/(100*time.Millisecond))/10, 'f', 1, 64) + "s"
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd%02dh", s/(24*3600), s/3600%24)
	}
}

// percent is a share of a whole; "-" of nothing.
func percent(part, whole uint64) string {
	if whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// since is how long ago t was; "-" if never.
func since(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return span(now.Sub(t))
}
