// Package top is jkd -top: a view of a running server that renews itself, with
// its children, slots, workers and balancers as tables that can be sorted.
//
// A frame is a pure function of two snapshots and a View (see [Frame]), and a
// key is one of a View (see [View.Key]); the terminal is only told what to
// show. Terminals are driven by golang.org/x/term and the few sequences that
// all of them share. A library with more in it costs each child of a prefork
// server too, as all of jkd is one program: tcell's tables were 130 kB a child,
// 7 % of its memory.
//
// What children have written is for display: everything but printable ASCII
// is replaced before it gets to a terminal.
package top
