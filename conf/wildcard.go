package conf

// Wildcard matches s against a pattern in which '*' is any run of bytes and
// '?' is one byte: what ServerAlias, JkMount and the status worker's member
// names mean by them. It goes back to the latest '*' only: what an earlier one
// could have taken, the latest can take as well, so the time is bounded by the
// product of the lengths. It allocates nothing.
func Wildcard[P, S ~string | ~[]byte](pattern P, s S) bool {
	p, i := 0, 0
	star, from := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
