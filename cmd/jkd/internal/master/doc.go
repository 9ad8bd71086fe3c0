//go:build unix

// Package master is one generation of jkd: it opens the listeners, makes the
// shared memory, starts and watches the children through an mpm.Supervisor,
// keeps the pid file and obeys signals. It never accepts a connection and
// never reads HTTP.
package master
