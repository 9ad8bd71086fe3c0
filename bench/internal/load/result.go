package load

import (
	"math"
	"slices"
	"time"
)

// Result is what a load has seen.
type Result struct {
	Requests int64 // answered with a status below 400
	Failed   int64 // any other status, refused, broken or too slow
	Elapsed  time.Duration
	// Times of requests, from the start to the last byte.
	Min, Mean, SD, P50, P99, Max time.Duration
}

// Rate is requests per second.
func (r Result) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Elapsed.Seconds()
}

// Record is one request of the package's own client.
type Record struct {
	Start, Took time.Duration // since the begin of the load; of the request
	OK          bool
}

// Summarize makes a result of records; failed ones count, but have no time.
func Summarize(records []Record, elapsed time.Duration) Result {
	r := Result{Elapsed: elapsed}
	took := make([]time.Duration, 0, len(records))
	sum := 0.0
	for _, q := range records {
		if !q.OK {
			r.Failed++
			continue
		}
		took = append(took, q.Took)
		sum += float64(q.Took)
	}
	r.Requests = int64(len(took))
	if len(took) == 0 {
		return r
	}
	slices.Sort(took)
	mean := sum / float64(len(took))
	squares := 0.0
	for _, t := range took {
		squares += (float64(t) - mean) * (float64(t) - mean)
	}
	r.Min, r.Max = took[0], took[len(took)-1]
	r.Mean, r.SD = time.Duration(mean), time.Duration(math.Sqrt(squares/float64(len(took))))
	r.P50, r.P99 = rank(took, 0.50), rank(took, 0.99)
	return r
}

// rank is the smallest value that a share q of the sorted values does not
// exceed.
func rank(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
