package conf

import "strings"

// Nearest returns the member of known that word is most likely a misspelling
// of, or "" when none is close. Case does not count; of two equally close the
// first is taken. When nothing is close by letters, a name that begins with
// the word, or the word with it, will do.
func Nearest(word string, known []string) string {
	const longest = 64
	if word == "" || len(word) > longest {
		return ""
	}
	limit := max(2, len(word)/3)
	if len(word) <= 2 {
		limit = 1
	}
	best := ""
	w := strings.ToLower(word)
	for _, k := range known {
		if len(k) > longest || len(k)-len(w) > limit || len(w)-len(k) > limit {
			continue
		}
		// A name that shares nothing with the word is no help: two letters
		// of three exchanged is a different word.
		if d := distance(w, strings.ToLower(k)); d <= limit && d < max(len(w), len(k)) {
			best, limit = k, d-1
		}
		if limit < 0 {
			break
		}
	}
	if best != "" {
		return best
	}
	const shortest = 4
	for _, k := range known {
		l := strings.ToLower(k)
		if len(l) >= shortest && len(w) >= shortest && (strings.HasPrefix(w, l) || strings.HasPrefix(l, w)) && len(k) > len(best) {
			best = k
		}
	}
	return best
}

// DidYouMean returns the clause that ends a message about the unknown word:
// ", did you mean X?" or "".
func DidYouMean(word string, known []string) string {
	if n := Nearest(word, known); n != "" {
		return ", did you mean " + n + "?"
	}
	return ""
}

// distance counts the insertions, deletions, substitutions and exchanges of
// neighbours that turn a into b, in bytes.
func distance(a, b string) int {
	var rows [3][]int
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
	}
	before, above, row := rows[0], rows[1], rows[2]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
