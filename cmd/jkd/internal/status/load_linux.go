package status

import "syscall"

// loadAverage is the load of the machine in the last 1, 5 and 15 minutes.
func loadAverage() (load [3]float64) {
	const unit = 1 << 16
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return load
	}
	for i, n := range info.Loads {
		load[i] = float64(n) / unit
	}
	return load
}
