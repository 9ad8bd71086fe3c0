package connector

// Leaver is a [ResponseWriter] that can tell, without waiting and without
// reading, whether its client has left: closed its side of the connection or
// reset it. A client that only ended its side and still listens is taken to
// have left, too; the two look the same. Left may be called from another
// goroutine than the one that uses the ResponseWriter, while that one does not
// use it.
//
// It is optional: without it a client that leaves is noticed when an answer is
// sent to it.
type Leaver interface {
	Left() bool
}
