package report

import (
	"fmt"
	"strings"

	"jkd/bench/internal/result"
)

// Markdown is the whole report. plots is the directory of the figures, relative
// to the report.
func Markdown(r result.Results, plots string) string {
	var b strings.Builder
	b.WriteString("# Results\n\nWritten by `make bench`: see [README.md](README.md) for what is measured and how. Trust ratios, which are taken\n" +
		"round by round, not the numbers.\n\n## Machine\n\n")
	for _, fact := range r.Machine {
		fmt.Fprintf(&b, "- %s\n", fact)
	}
	b.WriteString("\n## Goals\n\n")
	b.WriteString(goalsTable(&r))
	for i := range r.Sections {
		b.WriteString(sectionText(&r.Sections[i], plots))
	}
	return b.String()
}

func sectionText(s *result.Section, plots string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s. %d rounds of %v; %s, %s UTC", s.Scenario, capital(s.About), s.Rounds, s.Load, s.Version, s.When.UTC().Format("2006-01-02 15:04"))
	if s.Busy != "" {
		fmt.Fprintf(&b, "; load average before: %s", s.Busy)
	}
	b.WriteString(".\n")
	for _, name := range s.Cases() {
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s", s.Scenario, name, caseTable(s, name))
	}
	for _, p := range s.Plots {
		fmt.Fprintf(&b, "\n![%s](%s/%s.png) ([SVG](%s/%s.svg))\n", p, plots, p, plots, p)
	}
	if len(s.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	return b.String()
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// reference is the contender of jkd that another one is compared with: that of
// the same process model.
func reference(contender string) string {
	if strings.Contains(contender, "prefork") {
		return "jkd-prefork-jk"
	}
	return "jkd-worker-jk"
}

// compared are the metrics that are shown as a ratio too.
var compared = []result.Metric{
	{Key: result.CPU, Title: "CPU, jkd = 1"}, {Key: result.CPUPerMB, Title: "CPU, jkd = 1"}, {Key: result.Syscalls, Title: "calls, jkd = 1"},
	{Key: result.Rate, Title: "requests/s, jkd = 1"}, {Key: result.Speed, Title: "MB/s, jkd = 1"},
}

// caseTable has a row for each contender and a column for each metric that one
// of them has.
func caseTable(s *result.Section, name string) string {
	contenders := s.Contenders(name)
	has := func(key string) bool {
		for _, c := range contenders {
			if _, ok := s.Median(name, c, key); ok {
				return true
			}
		}
		return false
	}
	head, rule := "| |", "|---|"
	column := func(title string) {
		head += " " + title + " |"
		rule += "---:|"
	}
	var metrics, ratios []result.Metric
	for _, m := range result.Metrics {
		if has(m.Key) {
			metrics = append(metrics, m)
			column(m.Title)
		}
	}
	for _, m := range compared {
		if has(m.Key) {
			ratios = append(ratios, m)
			column(m.Title)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", head, rule)
	for _, c := range contenders {
		fmt.Fprintf(&b, "| %s |", c)
		for _, m := range metrics {
			fmt.Fprintf(&b, " %s |", cell(s.Values(name, c, m.Key), m))
		}
		for _, m := range ratios {
			text := ""
			if r, ok := s.Ratio(name, c, reference(c), m.Key); ok {
				text = fmt.Sprintf("%.2f", r.Median)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// cell is one number for all rounds, with the range for some metrics.
func cell(values []float64, m result.Metric) string {
	if len(values) == 0 {
		return ""
	}
	text := fmt.Sprintf("%.*f", m.Digits, m.Over.Of(values))
	if m.Spread && len(values) > 1 {
		v := result.SpreadOf(values)
		text += fmt.Sprintf(" (%.*f–%.*f)", m.Digits, v.Low, m.Digits, v.High)
	}
	return text
}
