package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/bench/internal/result"
)

func sample() result.Results {
	s := result.Section{Scenario: "hello", About: "small pages", When: time.Unix(0, 0), Version: "jkd 1 (go)", Rounds: 2, Load: time.Second, Notes: []string{"a note"}, Plots: []string{"p"}}
	for round := range 2 {
		k := float64(round + 1) // the second round takes twice as long for all
		s.Add("c=20", worker, round, map[string]float64{result.CPU: 10 * k, result.P99: 2, result.Failed: float64(round)})
		s.Add("c=20", "apache-worker-jk", round, map[string]float64{result.CPU: 20 * k, result.P99: 4, result.Failed: 0, result.Rate: 1000})
		s.Add("c=20", "apache-event-jk", round, map[string]float64{result.P99: 1})
	}
	return result.Results{Machine: []string{"2 CPUs"}, Sections: []result.Section{s}}
}

func TestMarkdown(t *testing.T) {
	text := Markdown(sample(), "plots")
	for _, want := range []string{
		"- 2 CPUs\n",
		"| worker, 387 B, c=20 | CPU / apache-worker-jk | ≤ 0.4 | 0.50 | 0.50–0.50 | **missed** |\n",
		"| worker, 387 B, c=20 | CPU / nginx | ≤ 1 | | | not measured |\n",
		"| p99, 387 B, c=20 | worker / the best Apache | ≤ 1 | 2.00 | 2.00–2.00 | **missed** |\n",
		"## hello\n\nSmall pages. 2 rounds of 1s; jkd 1 (go), 1970-01-01 00:00 UTC.\n",
		"| | requests/s | CPU µs/request | p99 ms | failed | CPU, jkd = 1 | requests/s, jkd = 1 |\n|---|---:|---:|---:|---:|---:|---:|\n",
		"| jkd-worker-jk |  | 15.0 (10.0–20.0) | 2.00 | 1 | 1.00 |  |\n",
		"| apache-worker-jk | 1000 | 30.0 (20.0–40.0) | 4.00 | 0 | 2.00 |  |\n",
		"| apache-event-jk |  |  | 1.00 |  |  |  |\n",
		"![p](plots/p.png)", "- a note\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestGoals(t *testing.T) {
	r := sample()
	idle := result.Section{Scenario: "idle"}
	for round, v := range []float64{900, 500} {
		idle.Add("no idle connections", worker, round, map[string]float64{result.Rate: 1000})
		idle.Add("1000 idle connections", worker, round, map[string]float64{result.Rate: v})
	}
	r.Sections = append(r.Sections, idle)
	for _, tt := range []struct {
		what string
		want result.Spread
		met  bool
	}{
		{"CPU / apache-worker-jk", result.Spread{Median: 0.5, Low: 0.5, High: 0.5}, false},
		{"requests/s / without them", result.Spread{Median: 0.7, Low: 0.5, High: 0.9}, false},
	} {
		for _, g := range goals() {
			if g.what != tt.what {
				continue
			}
			if v, ok := g.value(&r); !ok || v != tt.want || g.met(v) != tt.met {
				t.Errorf("%s: %v, %v; want %v", tt.what, v, ok, tt.want)
			}
			break
		}
	}
	for _, g := range goals() {
		if _, ok := g.value(&result.Results{}); ok {
			t.Errorf("%s %s: a value without results", g.group, g.what)
		}
		if !g.met(result.Spread{Median: g.limit}) {
			t.Errorf("%s %s: the limit itself is not met", g.group, g.what)
		}
	}
}

func TestFigures(t *testing.T) {
	r := sample()
	c := result.Section{Scenario: "concurrency"}
	for _, n := range []string{"c=1", "c=20", "other"} {
		c.Add(n, worker, 0, map[string]float64{result.Rate: 10, result.P99: 1, result.CPU: 5})
	}
	r.Sections = append(r.Sections, c)
	dir := t.TempDir()
	for range 2 { // the second time adds no names
		if err := Figures(&r, dir); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range [][]string{{"cpu-hello", "p"}, {"concurrency-cpu", "concurrency-p99", "concurrency-rate"}} {
		if got := r.Sections[i].Plots; !slices.Equal(got, want) {
			t.Errorf("figures %q, want %q", got, want)
		}
		for _, name := range want {
			if _, err := os.Stat(filepath.Join(dir, name+".svg")); name != "p" && err != nil {
				t.Error(err)
			}
		}
	}
	if got := lines(&c, result.Rate, "").Series; len(got) != 1 || !slices.Equal(got[0].X, []float64{1, 20}) {
		t.Errorf("lines %+v", got)
	}
	if got := bars(&r.Sections[0], "c=20"); !slices.Equal(got.Names, []string{worker, "apache-worker-jk"}) || got.High[1] != 40 {
		t.Errorf("bars %+v", got)
	}
}

func TestAfter(t *testing.T) {
	const text = "processor\t: 0\nmodel name\t: A  CPU\nPRETTY_NAME=\"An OS\"\n"
	for _, tt := range [][2]string{{"model name", "A CPU"}, {"PRETTY_NAME", `"An OS"`}, {"none", "unknown"}} {
		if got := after(text, tt[0]); got != tt[1] {
			t.Errorf("after %q: %q", tt[0], got)
		}
	}
}
