package result

import "slices"

// Spread is the middle and the ends of some values.
type Spread struct{ Median, Low, High float64 }

// SpreadOf returns the zero value for no values.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	return Spread{Median(values), slices.Min(values), slices.Max(values)}
}

// Median is the middle value, or the mean of the two in the middle; 0 for none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
