// Package httpback is the HTTP back end of the fronts that do not speak AJP:
// what jkd's demonstration container is for the others, with the same paths and
// sizes of pages. It does next to nothing, so that the front is what differs:
// each connection has one goroutine, a small page is one read and one write.
package httpback
