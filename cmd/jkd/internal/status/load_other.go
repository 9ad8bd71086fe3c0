//go:build !linux && !freebsd

package status

// loadAverage is not known here.
func loadAverage() [3]float64 { return [3]float64{} }
