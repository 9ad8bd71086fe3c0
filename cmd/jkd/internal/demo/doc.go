// Package demo is a small AJP13 servlet container without servlets: the back
// end that jkd -demo starts as a process of its own, so that a machine with
// nothing but jkd can show the real protocol at work, and the back end that
// benchmarks are run against.
//
// It keeps to Tomcat's ways on the wire: the packet size on both sides, the
// asking for request bodies, the status number as the message, flush packets,
// END_RESPONSE with or without reuse, CPONG for CPING. Each connection has one
// goroutine; a small page is one read and one write.
//
// Pages: see [Paths].
package demo
