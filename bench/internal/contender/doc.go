// Package contender starts the fronts that are compared, and their back ends,
// with configurations of this package's own in directories of theirs.
//
// The conditions are the same for all: an access log is off, keep-alive has no
// limit of requests, and as many connections as [Shape.Workers] are served at
// once from the start, so that growing is not measured. What is not named in a
// configuration is the program's default.
package contender
