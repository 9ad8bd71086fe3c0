package top

import "time"

// Table is which table is shown.
type Table uint8

// The tables.
const (
	Slots Table = iota
	Children
	Workers
	Balancers
	numTables
)

func (t Table) String() string {
	switch t {
	case Slots:
		return "slots"
	case Children:
		return "children"
	case Workers:
		return "workers"
	case Balancers:
		return "balancers"
	}
	return "none"
}

// View is what of the server is shown, and how. The zero value is usable.
type View struct {
	Width, Height int // of the terminal; 0: as much as it takes
	Table         Table
	Help          bool
	Paused        bool
	All           bool // slots that do nothing too
	Scroll        int  // rows that are left out above
	Interval      time.Duration
	// Sorts is how each table is sorted.
	Sorts [numTables]Sort
	// ASCII does without blocks in the sparkline.
	ASCII bool
	// Note is the last line: what is wrong.
	Note string
}

// Sort is the order of a table.
type Sort struct {
	Column  int
	Reverse bool
}

// Action is what a key asks the program for.
type Action uint8

// The actions.
const (
	Redraw  Action = iota // the View may have changed
	Refresh               // ask the server now
	Quit
	Suspend
)

// Keys of the terminal that are no characters.
const (
	keyUp rune = 0x110000 + iota
	keyDown
	keyLeft
	keyRight
	keyPageUp
	keyPageDown
	keyHome
	keyNone // one that means nothing here
)

const (
	minInterval = 250 * time.Millisecond
	maxInterval = time.Minute
)

// Key is what a key does to the view.
func (v *View) Key(k rune) Action {
	if v.Help && k != 'q' && k != 3 && k != 26 {
		v.Help = false
		return Redraw
	}
	page := max(v.Height-10, 1)
	switch k {
	case 'q', 'Q', 3: // ^C
		return Quit
	case 26: // ^Z
		return Suspend
	case 'h', '?':
		v.Help = true
	case ' ', '\r':
		return Refresh
	case 'p':
		v.Paused = !v.Paused
	case 'a':
		v.All, v.Scroll = !v.All, 0
	case 's', '1':
		v.show(Slots)
	case 'c', '2':
		v.show(Children)
	case 'w', '3':
		v.show(Workers)
	case 'b', '4':
		v.show(Balancers)
	case '\t':
		v.show((v.Table + 1) % numTables)
	case '>', '.', keyRight:
		v.column(1)
	case '<', ',', keyLeft:
		v.column(-1)
	case 'r':
		v.sort().Reverse = !v.sort().Reverse
	case '+':
		v.Interval = min(v.Interval*2, maxInterval)
	case '-':
		v.Interval = max(v.Interval/2, minInterval)
	case 'j', keyDown:
		v.Scroll++
	case 'k', keyUp:
		v.Scroll--
	case keyPageDown:
		v.Scroll += page
	case keyPageUp:
		v.Scroll -= page
	case keyHome:
		v.Scroll = 0
	}
	v.Scroll = max(v.Scroll, 0)
	return Redraw
}

func (v *View) show(t Table) { v.Table, v.Scroll = t, 0 }

func (v *View) sort() *Sort { return &v.Sorts[v.Table] }

func (v *View) column(by int) {
	n := len(columns[v.Table])
	v.sort().Column = (v.sort().Column + by + n) % n
}

// nextKey takes one key off b, which is not empty. n is how many bytes it had.
func nextKey(b []byte) (k rune, n int) {
	if b[0] != 27 || len(b) == 1 {
		return rune(b[0]), 1
	}
	if b[1] != '[' && b[1] != 'O' {
		return keyNone, 2
	}
	for n = 2; n < len(b) && (b[n] < '@' || b[n] > '~'); n++ {
	}
	if n == len(b) {
		return keyNone, n
	}
	n++
	switch string(b[2:n]) {
	case "A":
		return keyUp, n
	case "B":
		return keyDown, n
	case "C":
		return keyRight, n
	case "D":
		return keyLeft, n
	case "5~":
		return keyPageUp, n
	case "6~":
		return keyPageDown, n
	case "H", "1~":
		return keyHome, n
	}
	return keyNone, n
}
