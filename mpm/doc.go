//go:build unix

// Package mpm is what all multi-processing modules share: how children are
// started, watched and stopped, and how a process is a child.
//
// The master runs one [Supervisor]. It is one goroutine that owns the process
// table; every second it hands what it sees to the module's Plan, a pure
// function, and carries out the answer. Children are the same binary executed
// again with a fixed set of descriptors (the constants beginning with FD).
//
// Master and child share one socket pair each. From the master come the facts
// of the start, the configuration snapshot and later the orders graceful and
// stop; end of file means that the master is gone, and the child finishes what
// it is serving and leaves. Nothing comes back on it. What the master learns
// from a child is its exit code, which is to be trusted, and its scoreboard
// records, which are only used to judge how busy it is: process ids and
// indexes come from the master's own memory and nowhere else.
package mpm
