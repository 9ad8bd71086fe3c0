package forwarduri

import "bytes"

// Under returns how much of path, which [connector.CleanPath] has made, a rule for
// prefix takes: a path up to a slash or the end; 0 if it is none of its.
func Under(path []byte, prefix string) int {
	n, at := 0, 0
	for at < len(prefix) {
		if n == len(path) {
			return 0
		}
		if path[n] != prefix[at] {
			return 0
		}
		if prefix[at] == '/' { // many count as one; in path there is only one
			for at < len(prefix) && prefix[at] == '/' {
				at++
			}
			n++
			continue
		}
		n, at = n+1, at+1
	}
	if n > 0 && path[n-1] != '/' && n < len(path) && path[n] != '/' {
		return 0
	}
	return n
}

// Behind is what of canon stands behind match[:n]: the two are the same path,
// canon encoded and with its parameters. It is not ok if their segments can't be
// told to be the same.
func Behind(canon, match []byte, n int) ([]byte, bool) {
	if bytes.Count(canon, slash) != bytes.Count(match, slash) {
		return nil, false
	}
	at := 0
	for range bytes.Count(match[:n], slash) {
		i := bytes.IndexByte(canon[at:], '/')
		if i < 0 {
			return nil, false
		}
		at += i + 1
	}
	if match[n-1] == '/' {
		return canon[at:], true
	}
	// The rule ends with the name of a segment: its parameters go along.
	for at < len(canon) && canon[at] != '/' && canon[at] != ';' {
		at++
	}
	return canon[at:], true
}

var slash = []byte("/")
