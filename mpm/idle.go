//go:build unix

package mpm

import "fmt"

// MaxSpawnRate is the most children started in one tick (MAX_SPAWN_RATE).
const MaxSpawnRate = 32

// busyRate is the rate from which on spawning is worth a line in the log.
const busyRate = 8

// Pace is the memory of idle maintenance from one tick to the next. The zero
// value is a fresh start.
type Pace struct {
	// Rate is how many children the next spawning tick may start; 0 means 1.
	// It doubles as long as children are missing, up to MaxSpawnRate.
	Rate int
	// Said are the kinds of notes that are given once in the life of a master.
	Said NoteSet
}

// Rest is the pace after a tick in which no child was missing.
func (p Pace) Rest() Pace {
	p.Rate = 1
	return p
}

// Grow gives the number of children to start when some are missing and room
// is left for that many, and the pace after that. It is the rate, not the
// number missing: a rush is met with more children than it shows yet.
func (p Pace) Grow(room int) (int, Pace) {
	rate := max(p.Rate, 1)
	p.Rate = min(rate*2, MaxSpawnRate)
	return min(rate, room), p
}

// Busy is the note about spawning n children, or nil if n is nothing special.
// Rate is the rate that n came from.
func (p Pace) Busy(n, idle, total int) *Note {
	if max(p.Rate, 1) < busyRate {
		return nil
	}
	return &Note{Kind: NoteBusy, Spawning: n, Idle: idle, Total: total}
}

// Once gives the note of this kind if it has not been given yet, and the pace
// that remembers it.
func (p Pace) Once(k NoteKind) (*Note, Pace) {
	if p.Said.Has(k) {
		return nil, p
	}
	p.Said |= 1 << k
	return &Note{Kind: k}, p
}

// NoteKind is what a Plan has to say.
type NoteKind uint8

// The kinds; see [Note.String] for the words.
const (
	NoteBusy      NoteKind = iota // many children are being started
	NoteReached                   // no thread idle and no more children allowed
	NoteWithin                    // few threads idle and no more children allowed
	NoteBoardFull                 // leaving children occupy the scoreboard
	noteKinds                     // how many there are
)

// NoteSet is a set of kinds.
type NoteSet uint8

// Has tells whether k is in the set.
func (s NoteSet) Has(k NoteKind) bool { return s&(1<<k) != 0 }

// Note is one line for the error log. Spawning, Idle and Total are only set in
// a NoteBusy.
type Note struct {
	Kind                  NoteKind
	Spawning, Idle, Total int
}

// String begins with the words that Apache's administrators look for.
func (n Note) String() string {
	switch n.Kind {
	case NoteBusy:
		return fmt.Sprintf("server seems busy, (you may need to increase StartServers, or the Min/MaxSpare settings), "+
			"spawning %d children, there are %d idle, and %d total children", n.Spawning, n.Idle, n.Total)
	case NoteReached:
		return "server reached MaxRequestWorkers setting, consider raising the MaxRequestWorkers setting"
	case NoteWithin:
		return "server is within MinSpareThreads of MaxRequestWorkers, consider raising the MaxRequestWorkers setting"
	case NoteBoardFull:
		return "scoreboard is full, not at MaxRequestWorkers: leaving children still serve requests; " +
			"consider raising ServerLimit and MaxRequestWorkers"
	}
	return "unknown note"
}
