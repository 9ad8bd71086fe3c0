package status

import (
	"encoding/binary"
	"syscall"
)

// loadAverage is the load of the machine in the last 1, 5 and 15 minutes:
// struct loadavg of sys/resource.h, three 32-bit numbers and the unit, a long.
func loadAverage() (load [3]float64) {
	const unitOffset = 16
	text, err := syscall.Sysctl("vm.loadavg")
	if err != nil || len(text) < unitOffset+2 {
		return load
	}
	// Sysctl takes the value for a text and drops its last byte if that is
	// zero, as the long's most significant one is.
	b := make([]byte, unitOffset+8)
	copy(b, text)
	unit := binary.LittleEndian.Uint64(b[unitOffset:])
	if unit == 0 {
		return load
	}
	for i := range load {
		load[i] = float64(binary.LittleEndian.Uint32(b[4*i:])) / float64(unit)
	}
	return load
}
