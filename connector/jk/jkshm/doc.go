// Package jkshm lays typed records over the memory that all processes of the
// connector share, what mod_jk keeps in its JkShmFile: which back ends and
// balancers there are, how they do, what they have counted, and the values an
// administrator has changed while they run.
//
// The master formats memory with [Format] and fills in the configuration
// (Configure of each record); a child that inherits the memory calls [Attach],
// a program that does not know the configuration [AttachAny]. The package
// decides nothing, logs nothing and reads no clock: times are arguments.
//
// # What may be killed when
//
// A child may be killed between any two instructions, so nothing waits for
// another process without a bound and every change is complete with one store:
//
//	gauges     each child counts in a cell of its own; a sum is taken over the
//	           cells, and [Segment.Reclaim] empties those of a child that is gone
//	states     state, owner and time of a probe are one word
//	settings   two copies and a sequence word that selects the valid one; a writer
//	           fills the other and then moves the sequence
//	edits      one at a time in the segment, under a word that names its holder;
//	           Reclaim takes it from a child that is gone
//
// # No trust
//
// Children may be hijacked and write anything anywhere. Where a record lies is
// computed from the layout that was checked once, never read again. Everything
// that is read is brought into its legal range: counts, times, enumerations,
// ports, lengths of texts.
package jkshm
