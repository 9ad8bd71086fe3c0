package logformat

import "strconv"

// Error tells what is wrong with a format, and where.
type Error struct {
	Column  int    // of Token, in bytes, from 1
	Token   string // as written, up to where it went wrong: "%y", "%{remot}p"
	Reason  string
	Nearest string // what was probably meant; "" for no idea
}

func (e *Error) Error() string {
	s := "column " + strconv.Itoa(e.Column) + ": " + e.Token + ": " + e.Reason
	if e.Nearest != "" {
		s += ", did you mean " + e.Nearest + "?"
	}
	return s
}

// otherCase is c in the other case if known has it, else "".
func otherCase(c byte, known func(string) bool) string {
	if lower := c | 0x20; lower < 'a' || lower > 'z' || !known(string(rune(c^0x20))) {
		return ""
	}
	return string(rune(c ^ 0x20))
}

// nearest returns the word that takes the fewest changes of a letter to become
// s, or "" if none is like it.
func nearest(s string, words []string) string {
	best, at := "", len(s)/2+1
	for _, w := range words {
		if d := distance(s, w); d < at {
			best, at = w, d
		}
	}
	return best
}

// distance is how many letters must be added, dropped or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
