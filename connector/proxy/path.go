package proxy

import (
	"bytes"
	"strings"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/forwarduri"
)

// matches returns how much of the path the rule takes, less than 0 if it is not
// for it.
func (r *Rule) matches(path []byte) int {
	if r.Match != nil {
		if r.Match.Match(path) {
			return 0
		}
		return -1
	}
	if n := forwarduri.Under(path, r.Path); n > 0 {
		return n
	}
	return -1
}

// appendPath appends the path that the container gets for a request that the
// rule matches, behind the path of its worker.
//
// It starts from the path as the client sent it, with escapes decoded once and
// made again as mod_proxy does, "." and ".." resolved; path parameters are kept
// but for those of segments that the rule replaces. Whatever is sent, a container
// that reads it finds the rule's URL and behind it what was matched.
func (r *Rule) appendPath(dst []byte, worker string, q *connector.Request) ([]byte, error) {
	canon := q.Path
	if !r.NoCanon && !clean(canon) || forwarduri.Open(canon) {
		var err error
		if canon, err = forwarduri.Append(nil, q.Path, conf.ForwardURIProxy); err != nil {
			return dst, err
		}
	}
	begin := len(dst)
	dst = append(dst, worker...)
	if r.Match != nil {
		return r.substitute(dst, begin, canon, q.MatchPath)
	}
	n := forwarduri.Under(q.MatchPath, r.Path)
	rest, ok := forwarduri.Behind(canon, q.MatchPath, n)
	if !ok {
		if r.NoCanon {
			strict := *r
			strict.NoCanon = false
			return strict.appendPath(dst[:begin], worker, q)
		}
		return dst[:begin], forwarduri.ErrForm
	}
	dst = join(dst, begin, r.Prefix)
	return join(dst, begin, rest), nil
}

// join appends a piece of a path with no more and no less slashes than one in
// between where there must be one.
func join[S ~string | ~[]byte](dst []byte, begin int, piece S) []byte {
	n := len(dst)
	switch {
	case len(piece) == 0:
		if n == begin {
			return append(dst, '/')
		}
		return dst
	case n == begin && piece[0] != '/':
		dst = append(dst, '/')
	case n > begin && dst[n-1] == '/' && piece[0] == '/':
		dst = dst[:n-1]
	}
	return append(dst, piece...)
}

// clean tells whether a path is in the form of [forwarduri.Append] at once.
func clean(path []byte) bool {
	for i, c := range path {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '/' || c == '.':
			if i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.') {
				return false
			}
		case strings.IndexByte("~$-_+!*'(),;:@&=", c) < 0:
			return false
		}
	}
	return true
}

// substitute appends what a rule with an expression makes of a path: its URL
// with groups put in, or, if it names none, with the whole path behind it.
func (r *Rule) substitute(dst []byte, begin int, canon, match []byte) ([]byte, error) {
	m := r.Match.FindSubmatchIndex(match)
	if m == nil {
		return dst[:begin], forwarduri.ErrForm
	}
	if !strings.Contains(r.Prefix, "$") {
		return join(join(dst, begin, strings.TrimSuffix(r.Prefix, "/")), begin, canon), nil
	}
	var text []byte
	last := -1
	for s := r.Prefix; s != ""; {
		i := strings.IndexByte(s, '$')
		if i < 0 || i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9' {
			i = max(i, 0)
			if i == 0 && s[0] != '$' {
				i = len(s)
			} else {
				i++
			}
			text, last, s = append(text, s[:i]...), -1, s[i:]
			continue
		}
		text = append(text, s[:i]...)
		g := int(s[i+1] - '0')
		if s = s[i+2:]; 2*g+1 < len(m) && m[2*g] >= 0 {
			text = appendEncoded(text, match[m[2*g]:m[2*g+1]])
			last = m[2*g+1]
		}
	}
	// A group may have turned a path into one that leads elsewhere.
	var buf [256]byte
	cleaned, err := connector.CleanPath(buf[:0], join(nil, 0, text))
	if err != nil || bytes.Count(cleaned, slash) != bytes.Count(join(nil, 0, text), slash) && bytes.Contains(text, []byte("..")) {
		return dst[:begin], forwarduri.ErrForm
	}
	dst = join(dst, begin, text)
	if last == len(match) { // parameters of the last segment, a session's id most likely
		tail := canon[bytes.LastIndexByte(canon, '/')+1:]
		if i := bytes.IndexByte(tail, ';'); i >= 0 {
			dst = append(dst, tail[i:]...)
		}
	}
	return dst, nil
}

// appendEncoded escapes what was decoded for matching.
func appendEncoded(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/~$-_.+!*'(),:@&=", c) >= 0:
			dst = append(dst, c)
		case c == '%' && i+2 < len(s) && s[i+1] == '2' && s[i+2]|0x20 == 'f':
			dst = append(dst, c) // the one escape that is left alone
		default:
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
	}
	return dst
}

var slash = []byte("/")
