package scoreboard

// Status is what a slot is doing. The order is Apache's and has a meaning: see
// [Status.Idle] and [Status.Active]. The zero value is Dead.
//
// A child's thread goes Dead → Starting → Ready ⇄ BusyRead → BusyWrite →
// Logging → KeepAlive or Closing → Ready; Graceful and Dead may follow any.
type Status uint8

const (
	Dead      Status = iota // '.' the slot is free
	Starting                // 'S' the child (prefork) or thread (worker) is being made
	Ready                   // '_' waits for a connection
	BusyRead                // 'R' a connection is accepted, a request is being read
	BusyWrite               // 'W' the request is served and the answer sent
	KeepAlive               // 'K' waits for the next request of the connection
	Logging                 // 'L' the answer is sent, the log is written
	DNS                     // 'D' looks a name up; nothing here sets it
	Closing                 // 'C' the connection is being closed
	Graceful                // 'G' finishes what it has and leaves
	IdleKill                // 'I' leaves because too many are idle; nothing here sets it

	// NumStatus is the number of statuses.
	NumStatus = int(IdleKill) + 1
)

// letters and names are indexed by status; names are Apache's, in lower case.
var (
	letters = [NumStatus]byte{'.', 'S', '_', 'R', 'W', 'K', 'L', 'D', 'C', 'G', 'I'}
	names   = [NumStatus]string{"dead", "starting", "ready", "busy-read", "busy-write", "keep-alive",
		"logging", "dns", "closing", "graceful", "idle-kill"}
)

// String is the status in words, such as "busy-read"; "invalid" if it is none.
func (s Status) String() string {
	if !s.Valid() {
		return "invalid"
	}
	return names[s]
}

// Letter is the character of the status page; '?' if s is no status.
func (s Status) Letter() byte {
	if !s.Valid() {
		return '?'
	}
	return letters[s]
}

// Valid tells whether s is one of the statuses.
func (s Status) Valid() bool { return int(s) < NumStatus }

// Idle tells whether the maintenance counts the slot as idle: everything up to
// Ready, a slot that is starting too (it will be idle soon).
func (s Status) Idle() bool { return s == Starting || s == Ready }

// Active tells whether a living thread fills the slot and may take or has a
// connection: Ready and everything busy.
func (s Status) Active() bool { return s >= Ready && s < Graceful }

// StatusCounts is the number of slots by status.
type StatusCounts [NumStatus]int

// Add adds the counts of o.
func (c *StatusCounts) Add(o StatusCounts) {
	for i, n := range o {
		c[i] += n
	}
}

// Idle is the number of slots whose status is [Status.Idle].
func (c StatusCounts) Idle() int { return c[Starting] + c[Ready] }

// Active is the number of slots whose status is [Status.Active].
func (c StatusCounts) Active() (n int) {
	for s := Ready; s < Graceful; s++ {
		n += c[s]
	}
	return n
}
