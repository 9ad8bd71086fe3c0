//go:build unix

// Package prefork is the multi-processing module in which every child serves
// one connection at a time, with blocking I/O on one thread. It suits handlers
// that must be kept apart from each other; a fault ends one connection.
package prefork
