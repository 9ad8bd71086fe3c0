package connector

import "errors"

// Errors of [CleanPath]; all of them mean that the request is refused with 400.
var (
	ErrEscape    = errors.New("connector: bad percent escape in path")
	ErrNUL       = errors.New("connector: NUL in path")
	ErrAboveRoot = errors.New("connector: the path tries to escape above the root")
	ErrNotRooted = errors.New("connector: path does not begin with a slash")
)

// CleanPath appends to dst the form of an encoded request path that rules are
// matched against, so that two spellings of one resource cannot be told apart
// by a rule that the container would not tell apart (mod_jk since 1.2.44):
// percent escapes are decoded once, except that an escaped slash stays as the
// client wrote it, for it is no separator; path parameters (from ';' to the
// end of their segment) are dropped from every segment; repeated slashes count
// as one; "." and ".." segments are resolved. The path "*" is returned as it
// is. What is forwarded to the container is never this form.
func CleanPath(dst, path []byte) ([]byte, error) {
	if len(path) == 1 && path[0] == '*' {
		return append(dst, '*'), nil
	}
	if len(path) == 0 || path[0] != '/' {
		return dst, ErrNotRooted
	}
	root := len(dst)
	dst = append(dst, '/')
	seg := len(dst) // where the current segment begins
	for i := 1; ; i++ {
		if i >= len(path) || path[i] == '/' {
			var err error
			if dst, err = endSegment(dst, root, seg, i < len(path)); err != nil {
				return dst, err
			}
			if i >= len(path) {
				return dst, nil
			}
			seg = len(dst)
			continue
		}
		c := path[i]
		switch c {
		case ';':
			for i+1 < len(path) && path[i+1] != '/' {
				// Dropped, but still held to the rules.
				i++
				c := path[i]
				if c == '%' {
					var ok bool
					if c, ok = unescape(path[i:]); !ok {
						return dst, ErrEscape
					}
				}
				if c == 0 {
					return dst, ErrNUL
				}
			}
			continue
		case '%':
			c, ok := unescape(path[i:])
			if !ok {
				return dst, ErrEscape
			}
			switch c {
			case 0:
				return dst, ErrNUL
			case '/':
				dst = append(dst, path[i:i+3]...)
			default:
				dst = append(dst, c)
			}
			i += 2
			continue
		case 0:
			return dst, ErrNUL
		}
		dst = append(dst, c)
	}
}

// endSegment finishes the segment dst[seg:]; more tells whether a slash
// follows it.
func endSegment(dst []byte, root, seg int, more bool) ([]byte, error) {
	switch s := dst[seg:]; {
	case len(s) == 0: // repeated slash, or the trailing one, already there
		return dst, nil
	case len(s) == 1 && s[0] == '.':
		return dst[:seg], nil
	case len(s) == 2 && s[0] == '.' && s[1] == '.':
		if seg == root+1 {
			return dst, ErrAboveRoot
		}
		// Drop the slash before "..", then the segment before that.
		end := seg - 1
		for dst[end-1] != '/' {
			end--
		}
		return dst[:end], nil
	}
	if more {
		dst = append(dst, '/')
	}
	return dst, nil
}

// unescape decodes the percent escape that b begins with.
func unescape(b []byte) (byte, bool) {
	if len(b) < 3 {
		return 0, false
	}
	hi, ok1 := unhex(b[1])
	lo, ok2 := unhex(b[2])
	return hi<<4 | lo, ok1 && ok2
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
