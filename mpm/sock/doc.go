// Package sock is how the children of jkd do I/O on sockets.
//
// The two MPMs wait in different ways, and each is the cheapest one for its
// process model:
//
//   - A prefork child serves one connection on one thread. [Blocking] waits in
//     the kernel with plain system calls that the Go scheduler does not see as
//     long as the answer comes within a few milliseconds, and only then in a
//     poll(2) that it does see. An ordinary Go read in a process with a single
//     busy goroutine makes the runtime hand its processor over and wake its
//     monitor thread at every call, which costs more than the request itself.
//   - A worker child serves many connections on a few threads. [Polled] waits
//     in the runtime's network poller.
//
// [Acceptor] waits for connections on listeners that many processes share,
// without waking all of them for each connection where the kernel can do that.
// [Wake] is the descriptor that ends any long wait: the child's control socket
// or a pipe.
//
// [Tick] is what a process of one goroutine does from time to time: its waits
// do it.
//
// Nothing here knows what the bytes mean.
package sock
