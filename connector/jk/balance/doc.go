// Package balance decides for mod_jk's load balancer: which member serves a
// request, what the outcome does to that member, when a member in error is
// tried again. It touches nothing: numbers and times go in, a decision comes
// out, and nothing is allocated on the way to a member.
//
//   - [State], [Event]: what the balancer thinks of a member and how that
//     changes; [Activation]: what the administrator said; [Method], [Lock].
//   - [IDs]: the session ids of a request, [ID] with its routes.
//   - [Member]: what an election knows about a member. [Choose] is called for
//     every pick; it joins [Resolve], which looks up a session's route, and
//     [Elect], which finds the least loaded.
//   - [Multipliers], [Method.Assigned], [Method.Ended], [Add]: load values.
//   - [Judge]: from the result of an attempt to what is to be recorded.
//   - [Attempts]: how often a request is tried.
//   - [Run]: maintenance.
//   - [Override]: a rule's own activations.
//
// Instants are seconds since 1970, 0 is "never"; lengths of time are
// [time.Duration], a part of a second counts as a whole one.
//
// # Use by many processes
//
// Members live in memory that many processes change at any time. For each pick
// a caller reads them into a slice that it keeps for that purpose, asks
// [Choose], and then applies the consequences by compare and swap: first the
// state, [State.On] with [Elected], then the value, [Method.Assigned]. If one
// of the two finds that another process was faster, the caller reads the
// members again and chooses again. Whatever changes a datum is therefore either
// a function from the old value to the new one or an amount to add or take away.
package balance
