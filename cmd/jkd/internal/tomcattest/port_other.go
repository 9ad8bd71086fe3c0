//go:build !linux

package tomcattest

// hold does nothing: that two sockets may be bound to a port of which one
// listens is Linux's own.
func hold(int) (release func(), err error) { return func() {}, nil }
