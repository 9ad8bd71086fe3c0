// Package status shows what the server does: the scoreboard, the counters of
// workers, the connection caches of each child and the balancers' members, as
// mod_status's pages, as JSON and as metrics.
//
// Everything begins with a [Status], a copy that [Source.Snapshot] makes. The
// writers (WriteAuto, WriteText, WriteHTML, WriteJSON, WriteMetrics) are
// functions of it alone. Whatever a child has written into shared memory is
// bounded before it gets here, and escaped by the writers: it is for display,
// and nobody acts on it.
package status
