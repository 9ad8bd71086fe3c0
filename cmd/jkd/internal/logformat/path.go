package logformat

import "bytes"

// writePath writes what Apache's %U is: the path decoded, without repeated
// slashes and dot segments, but with its parameters, which the path for
// mapping lacks. One that was refused is written as it came.
func writePath(b []byte, _ *item, e *Entry) []byte {
	r := e.Request
	switch {
	case len(r.MatchPath) == 0:
		return text(b, r.Path)
	case bytes.IndexByte(r.Path, ';') < 0:
		return text(b, r.MatchPath)
	}
	path := make([]byte, 0, 512) // enough for most not to need the heap
	return escape(b, resolve(decode(path, r.Path)))
}

// decode appends path with its escapes decoded once; an escaped slash stays
// escaped, as it does in the path for mapping.
func decode(b, path []byte) []byte {
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			hi, lo := unhex(path[i+1]), unhex(path[i+2])
			if d := hi<<4 | lo; hi < 16 && lo < 16 && d != '/' {
				c = d
				i += 2
			}
		}
		b = append(b, c)
	}
	return b
}

// unhex is the value of a hexadecimal digit, 16 for what is none.
func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}

// resolve takes empty and dot segments out of p, in its own memory.
func resolve(p []byte) []byte {
	out := p[:0]
	for len(p) > 0 {
		end := bytes.IndexByte(p, '/') + 1
		if end == 0 {
			end = len(p)
		}
		segment := p[:end]
		p = p[end:]
		switch string(segment) {
		case "/":
			if len(out) == 0 {
				out = append(out, '/')
			}
		case "./", ".":
		case "../", "..":
			if len(out) > 1 {
				out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
			}
		default:
			out = append(out, segment...)
		}
	}
	return out
}
