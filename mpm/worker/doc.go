//go:build unix

// Package worker is the multi-processing module in which a child serves
// ThreadsPerChild connections at a time. All is as with threads: there is a
// fixed number of slots in the scoreboard, a connection that is served has one,
// and one acceptor takes a connection from the kernel only when there is one
// for it. What runs is a goroutine for each connection.
//
// Unlike with Apache's worker a connection that waits for a request can be
// without a slot, as with Apache's event: see seats. There are then more
// connections than slots, and more goroutines than either MPM has threads.
package worker
