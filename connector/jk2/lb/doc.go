// Package lb decides for mod_jk2's balancer: which worker serves a request and
// what the outcome means for it. There is no I/O and no clock in it; a [Table]
// belongs to one process, as in mod_jk2, where no process knows of the others'
// troubles.
//
// Workers stand on levels, 0 to 3. A request goes to the worker whose route its
// session has, else to one on the lowest level that has any left: the one with
// the least lb_value, to which lb_factor is then added. The factor is a cost:
// twice the factor, half the requests.
//
// A worker that failed is left alone until recovery is over, unless there is no
// other: then the one that failed longest ago is tried, so that a single
// container is asked with every request and served from the moment it is back.
//
// # Differences from mod_jk2
//
//   - A disabled worker gets nothing, not even requests of its sessions; for
//     those there is graceful.
//   - Of several workers with one route the next one is tried when one fails.
//   - lb_value does not start over when it passes 255: what all have in common
//     is taken off. There the shares come out wrong for large factors, and
//     of 100 and 200 the second worker never gets a request.
//   - With hwBalanceErr also a worker that is tried for want of others is one
//     of level 0.
//   - Errors are put in order by a count and not by the second in which they
//     happened.
package lb
