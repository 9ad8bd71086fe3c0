// Package control lets programs on the same machine ask the master and tell it
// to stop or to reload: jkd -k and jkd -top speak to a running jkd through it.
//
// The master listens at a Unix socket (directive ControlSocket) that its own
// user and the superuser alone may use: mode 0600 from the beginning, and the
// user at the other end is looked at once more. A client sends one command, a
// line of at most 256 bytes, and gets
//
//	ok BUILD PID\n     and what the command answers, or
//	error REASON\n
//
// BUILD is the master's mpm.BuildID in hexadecimal, so that a client that is
// another program than the master can say so; PID is the master. The commands:
//
//	pid            nothing more
//	status         a status.Status as encoding/json writes it
//	stop           nothing more, but the connection ends when the master does
//	graceful-stop  likewise
//	graceful       nothing more; ok when the next generation serves, else why
//	               this one goes on
//	restart        likewise, and this generation cuts what it has in hand
//
// Whoever leaves a socket behind, by a crash, does not keep the next master
// from listening there; a living one does.
package control
