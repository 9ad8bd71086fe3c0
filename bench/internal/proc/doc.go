// Package proc starts the programs of a measurement and stops them again,
// each by its process id, however the measurement ends.
package proc
