package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jkd/bench/internal/plot"
	"jkd/bench/internal/result"
)

// Figures draws what tables do not show at a glance, for sections that have the
// numbers: the CPU time of each contender as bars, and what changes with the
// number of connections as lines. It adds the names to the sections.
func Figures(r *result.Results, dir string) error {
	for i := range r.Sections {
		s := &r.Sections[i]
		for name, figure := range figures(s) {
			if err := figure.Save(filepath.Join(dir, name)); err != nil {
				return fmt.Errorf("report: %w", err)
			}
			if !slices.Contains(s.Plots, name) {
				s.Plots = append(s.Plots, name)
			}
		}
		slices.Sort(s.Plots)
	}
	return nil
}

type figure interface{ Save(name string) error }

// figures are those of a section by name.
func figures(s *result.Section) map[string]figure {
	switch s.Scenario {
	case "hello", "page", "connect":
		for _, name := range s.Cases() {
			return map[string]figure{"cpu-" + s.Scenario: bars(s, name)}
		}
	case "concurrency":
		return map[string]figure{
			"concurrency-rate": lines(s, result.Rate, "requests/s"),
			"concurrency-p99":  lines(s, result.P99, "p99, ms"),
			"concurrency-cpu":  lines(s, result.CPU, "CPU µs/request"),
		}
	}
	return nil
}

func bars(s *result.Section, name string) plot.Bars {
	b := plot.Bars{Title: s.Scenario + ": " + s.About, Unit: "CPU µs/request: median, least and greatest of the rounds"}
	for _, c := range s.Contenders(name) {
		values := s.Values(name, c, result.CPU)
		if len(values) == 0 {
			continue
		}
		v := result.SpreadOf(values)
		b.Names = append(b.Names, c)
		b.Values, b.Low, b.High = append(b.Values, v.Median), append(b.Low, v.Low), append(b.High, v.High)
	}
	return b
}

// lines have a point for each case "c=N".
func lines(s *result.Section, metric, label string) plot.Lines {
	l := plot.Lines{Title: s.About, XLabel: "connections", YLabel: label}
	at := map[string]int{}
	for _, name := range s.Cases() {
		n, err := strconv.ParseFloat(strings.TrimPrefix(name, "c="), 64)
		if err != nil {
			continue
		}
		for _, c := range s.Contenders(name) {
			v, ok := s.Median(name, c, metric)
			if !ok {
				continue
			}
			if _, seen := at[c]; !seen {
				at[c] = len(l.Series)
				l.Series = append(l.Series, plot.Series{Name: c})
			}
			q := &l.Series[at[c]]
			q.X, q.Y = append(q.X, n), append(q.Y, v)
		}
	}
	return l
}
