package status

import (
	"fmt"
	"math"
	"strings"

	"jkd/connector/counters"
)

// pageChart is a line over the last minutes.
type pageChart struct {
	Name, Now, Top string // Top is the value at the upper edge
	Text           string // the same in words
	Area, Line     string // paths in a box of chartWidth by chartHeight; "" without values
}

const (
	chartWidth  = counters.HistorySeconds
	chartHeight = 60
)

// charts are drawn from a history whose seconds may have gaps.
func charts(h []counters.Second) []pageChart {
	return []pageChart{
		chart("Requests/s", h, shortNumber, func(s counters.Second) (float64, bool) { return float64(s.Requests), true }),
		chart("Mean latency", h, func(x float64) string { return millisWords(x) }, func(s counters.Second) (float64, bool) {
			return float64(s.Duration) / float64(max(s.Requests, 1)), s.Requests > 0
		}),
		chart("Busy slots", h, shortNumber, func(s counters.Second) (float64, bool) { return float64(s.Busy), true }),
	}
}

func chart(name string, h []counters.Second, words func(float64) string, value func(counters.Second) (float64, bool)) pageChart {
	c := pageChart{Name: name, Now: "-", Text: name + ": nothing yet"}
	if len(h) == 0 {
		return c
	}
	var most, sum float64
	n := 0
	for _, s := range h {
		if v, ok := value(s); ok && v >= 0 {
			most = max(most, v)
			sum += v
			n++
		}
	}
	if n == 0 {
		return c
	}
	if v, ok := value(h[len(h)-1]); ok {
		c.Now = words(v)
	}
	top := niceTop(most)
	c.Top = words(top)
	c.Text = fmt.Sprintf("%s, %s: now %s, mean %s, most %s", name, historyWords(h), c.Now, words(sum/float64(n)), words(most))
	end := h[len(h)-1].Unix
	var line, area strings.Builder
	open, from, last, x := false, int64(0), int64(0), int64(0)
	closeArea := func() {
		if open {
			fmt.Fprintf(&area, "V%dH%dZ", chartHeight, from)
		}
		open = false
	}
	for _, s := range h {
		age := end - s.Unix
		v, ok := value(s)
		if age < 0 || age >= chartWidth || !ok || v < 0 {
			continue
		}
		if at := chartWidth - 1 - age; open && at <= last {
			continue // time went back
		} else {
			x = at
		}
		y := chartHeight - v/top*(chartHeight-2)
		if open && x-last > 2 { // a second may be missed
			closeArea()
		}
		if !open {
			fmt.Fprintf(&line, "M%d %.1fh.5", x, y)
			fmt.Fprintf(&area, "M%d %dV%.1f", x, chartHeight, y)
			open, from = true, x
		} else {
			fmt.Fprintf(&line, "L%d %.1f", x, y)
			fmt.Fprintf(&area, "L%d %.1f", x, y)
		}
		last = x
	}
	closeArea()
	c.Line, c.Area = line.String(), area.String()
	return c
}

// niceTop is a round number that is not below x; 1 for 0.
func niceTop(x float64) float64 {
	if x <= 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8} {
		if x <= f*p {
			return f * p
		}
	}
	return 10 * p
}
