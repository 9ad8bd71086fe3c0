package scoreboard

// Seat is where a connection sits: the slot that shows it and that its
// goroutine writes. A module may take the seat from a connection that waits for
// a request, give it to another one, and find a new one when the request comes.
type Seat struct {
	// Slot is nil while the connection has none. It changes only in calls that
	// the connection's own goroutine makes, and whoever finds another slot than
	// before begins with StartConnection.
	Slot *Slot
}
