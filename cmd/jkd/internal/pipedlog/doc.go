//go:build unix

// Package pipedlog is logging into a program ("|program arguments").
//
// The master makes the pipe and keeps both of its ends, so that a program that
// ends takes nothing with it and nobody who writes gets SIGPIPE: what is in the
// pipe is read by the next one. Children inherit the end for writing, which is
// all that they have.
//
// The pipe does not block. Who finds it full waits [Patience] for the program, as
// everybody does in Apache without an end, and then gives the line up; while the
// program still does not read, the next lines are given up at once. A program
// that hangs thus costs lines and one wait in each process, and no requests.
package pipedlog
