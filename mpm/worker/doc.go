//go:build unix

// Package worker is the multi-processing module in which a child serves
// ThreadsPerChild connections at a time. A thread is a goroutine, but all else
// is as with threads: there is a fixed number, each has its slot in the
// scoreboard, and one acceptor takes a connection from the kernel only when a
// thread is free for it.
package worker
