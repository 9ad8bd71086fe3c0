// Package counters is shared memory in which all children count what they have
// done for each worker, and what their connection caches did: requests by class
// of status, how long they took, connections opened, reused and closed. Whoever
// maps it sees the sums of all children.
//
// A record belongs to one server (the index of a child) and one worker. Only
// the child of that index writes it; when the child has died, the master turns
// what it had open to zero ([Table.Reclaim]) and its successor goes on counting,
// so sums never go back. Counting costs atomic additions, no locks and no
// allocations.
//
// What the generation before a reload has counted, and what its children still
// count while they finish, the master adds in records of its own
// ([Table.Inherit]).
//
// A second part belongs to the master alone: how many children were started,
// how they ended, and a ring of the last minutes.
//
// All that is read is bounded: it is for display, a child can write what it
// likes.
package counters
