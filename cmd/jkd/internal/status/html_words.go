package status

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"jkd/connector/counters"
)

// kbyteWords is a number of KiB in mod_status's form.
func kbyteWords(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d kB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<20))
}

// shortNumber has three digits or more: 0.25, 12.3, 1234.
func shortNumber(x float64) string {
	switch {
	case x == math.Trunc(x) || x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// millisWords is a duration in nanoseconds, of a request.
func millisWords(ns float64) string {
	if ns >= 1e9 {
		return shortNumber(ns/1e9) + " s"
	}
	return shortNumber(ns/1e6) + " ms"
}

// ageWords is a duration in one unit.
func ageWords(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", max(d, 0)/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// historyWords is how long the history is.
func historyWords(h []counters.Second) string {
	if len(h) < 120 {
		return fmt.Sprintf("last %d s", len(h))
	}
	return fmt.Sprintf("last %d min", len(h)/60)
}

// quantile estimates, from a histogram, the duration that the share q of all
// requests did not exceed: durations are taken to be spread evenly over their
// class. more tells that it is longer than d, the greatest bound; ok that there
// were requests.
func quantile(h *[len(counters.Bounds) + 1]uint64, q float64) (d time.Duration, more, ok bool) {
	var total float64
	for _, n := range h {
		total += float64(n)
	}
	if total == 0 {
		return 0, false, false
	}
	rank := q * total
	var below float64
	lower := time.Duration(0)
	for i, n := range h[:len(counters.Bounds)] {
		upper := counters.Bounds[i]
		if n > 0 && below+float64(n) >= rank {
			return lower + time.Duration(float64(upper-lower)*(rank-below)/float64(n)), false, true
		}
		below += float64(n)
		lower = upper
	}
	return lower, true, true
}
