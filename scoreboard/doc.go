// Package scoreboard is the table in shared memory in which every child says
// what it is doing: Apache's scoreboard, as typed records with one writer each.
//
// The master formats memory with [New]; a child that inherits it calls
// [Attach]. One [Process] record describes each child, one worker record, behind
// a [Slot], each of its threads. Anybody may take a [View] with
// [Scoreboard.Snapshot] while they write; the maintenance of idle servers only
// needs [Scoreboard.Counts].
//
// # One writer
//
// There are no locks, because a child may be killed while it holds one. Each
// word has one writer at a time:
//
//	header, global record        the master
//	process: pid, generation     the master
//	process: the rest            the child
//	worker                       the child's thread
//	process and worker           the master, before the child is started and after
//	                             it has been waited for ([Scoreboard.Reclaim])
//
// Words that belong together are guarded by a sequence word, odd while they are
// being written. A reader tries a bounded number of times for a copy that no
// update crosses and then marks its copy Torn. A writer that dies in the middle
// leaves an odd sequence, which Reclaim makes even.
//
// # Generations
//
// After a reload the next generation has a scoreboard of its own. Its master
// takes over what was counted in that of the one before ([Scoreboard.Inherit])
// and, as long as children there finish their last requests, what they add
// ([Inheritance.Catch]). The sums are words of the master's own, [Before].
//
// # No trust
//
// Children run with fewer rights than the master and may be hijacked, so what
// the memory holds decides nothing but numbers on a page and how many children
// are wanted. The layout is checked against bounds once and remembered; no
// index, length or pid is taken from the memory; any bytes at all give a View
// whose statuses are valid and whose texts are within their bounds.
package scoreboard
