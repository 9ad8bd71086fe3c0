package result

import (
	"slices"
	"time"
)

// Sample is what one round of one contender gave.
type Sample struct {
	Case      string             `json:"case"` // what the section varies, such as "c=20"
	Contender string             `json:"contender"`
	Round     int                `json:"round"`
	Values    map[string]float64 `json:"values"` // by [Metric.Key]
}

// Section is what one scenario gave.
type Section struct {
	Scenario string        `json:"scenario"`
	About    string        `json:"about"`
	When     time.Time     `json:"when"`
	Version  string        `json:"version"` // what jkd says of itself
	Rounds   int           `json:"rounds"`
	Load     time.Duration `json:"load_ns"`         // of each round
	Busy     string        `json:"busy,omitempty"`  // the machine's load average before
	Notes    []string      `json:"notes,omitempty"` // what went wrong, what is remarkable
	Plots    []string      `json:"plots,omitempty"` // files, without ending
	Samples  []Sample      `json:"samples"`
}

// Add appends a sample.
func (s *Section) Add(name, contender string, round int, values map[string]float64) {
	s.Samples = append(s.Samples, Sample{name, contender, round, values})
}

// Cases are the cases in the order they came.
func (s *Section) Cases() []string {
	return s.distinct(func(q Sample) (string, bool) { return q.Case, true })
}

// Contenders are those of a case in the order they came.
func (s *Section) Contenders(name string) []string {
	return s.distinct(func(q Sample) (string, bool) { return q.Contender, q.Case == name })
}

func (s *Section) distinct(of func(Sample) (string, bool)) (all []string) {
	for _, q := range s.Samples {
		if v, ok := of(q); ok && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// Values are those of a metric, by round; rounds without it are left out.
func (s *Section) Values(name, contender, metric string) (values []float64) {
	for _, q := range s.Samples {
		if q.Case == name && q.Contender == contender {
			if v, ok := q.Values[metric]; ok {
				values = append(values, v)
			}
		}
	}
	return values
}

// Median is that of a metric over the rounds; ok is false if there is none.
func (s *Section) Median(name, contender, metric string) (v float64, ok bool) {
	values := s.Values(name, contender, metric)
	return Median(values), len(values) > 0
}

// Ratio compares a metric of two contenders round by round, so that what the
// machine did to a round does not count: the median, the least and the greatest
// of a's value divided by b's. ok is false if no round has both.
func (s *Section) Ratio(name, a, b, metric string) (r Spread, ok bool) {
	by := map[int]float64{}
	for _, q := range s.Samples {
		if v, has := q.Values[metric]; has && q.Case == name && q.Contender == b && v != 0 {
			by[q.Round] = v
		}
	}
	var ratios []float64
	for _, q := range s.Samples {
		if v, has := q.Values[metric]; has && q.Case == name && q.Contender == a && by[q.Round] != 0 {
			ratios = append(ratios, v/by[q.Round])
		}
	}
	return SpreadOf(ratios), len(ratios) > 0
}
