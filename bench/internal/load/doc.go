// Package load asks servers for pages and times the answers: with wrk, which
// costs least, and with a client of its own where wrk cannot say what is to be
// known: when each request began, what a download took, how many requests were
// lost at a fixed rate.
package load
