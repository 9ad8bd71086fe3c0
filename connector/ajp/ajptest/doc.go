// Package ajptest plays the servlet container's side of AJP13 in tests: a
// strict decoder for what a front end sends, builders for every packet a
// container may answer with, well formed or broken on purpose, a scripted
// [Container] on real TCP and Unix sockets, and recorded exchanges between
// two other front ends and a real container ([Captures]).
//
// The package has a codec of its own and shares no code with the one under
// test, so that an error in one can't hide in the other.
//
// Words: a front end's packets ("f>b") begin with 12 34, a container's
// ("b>f") with 41 42 ("AB"); then two bytes of payload length, then the
// payload. "Packet" is always header and payload, "payload" what follows the
// four bytes of header.
package ajptest
