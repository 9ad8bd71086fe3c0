// Package forwarduri puts the path of a request into the form in which a
// container is to get it: the ForwardURI options of mod_jk and the forwardURI
// properties of mod_jk2.
package forwarduri

import (
	"bytes"
	"errors"
	"strings"

	"jkd/conf"
	"jkd/connector"
)

// ErrForm means that a path cannot be sent in the form that is asked for: the
// container would take it for another one than was matched. The request is
// refused with 400.
var ErrForm = errors.New("the path would mean something else in the form that is asked for")

// Append appends to dst what a container gets of the path raw, which
// connector.CleanPath has accepted, in the form of a ForwardURI option.
//
// ForwardURICompatUnparsed is the path as the client sent it, and so is what
// jkd sends without any of the options: nothing rewrites paths here, and what
// is not touched cannot be spoilt. Only where it is [Open] a slash is added. The
// other forms start from what Apache makes
// of the path: escapes decoded once but for that of a slash, repeated slashes
// folded, "." and ".." resolved, path parameters kept.
//
//   - ForwardURIProxy escapes again what is not fit for a path. A ';' that was
//     escaped stays so, for it begins no parameter.
//   - ForwardURICompat sends it as it is. Whatever would be decoded a second
//     time, begin a parameter or a query, or is a control byte, is refused.
//   - ForwardURIEscaped escapes ';' too. Paths with parameters would then be
//     others than those that were matched; they are refused.
func Append(dst, raw []byte, form conf.ForwardURI) ([]byte, error) {
	if form == conf.ForwardURICompatUnparsed || len(raw) == 1 && raw[0] == '*' {
		if dst = append(dst, raw...); Open(raw) {
			dst = append(dst, '/')
		}
		return dst, nil
	}
	if len(raw) == 0 || raw[0] != '/' {
		return dst, connector.ErrNotRooted
	}
	begin := len(dst)
	dst = append(dst, '/')
	for rest := raw[1:]; ; {
		seg, after, more := bytes.Cut(rest, []byte("/"))
		rest = after
		switch dots(seg) {
		case 0:
			var err error
			if dst, err = appendSegment(dst, seg, form); err != nil {
				return dst[:begin], err
			}
			if more && len(seg) > 0 || !more && Open(raw) {
				dst = append(dst, '/')
			}
		case 2:
			if len(dst) == begin+1 {
				return dst[:begin], connector.ErrAboveRoot
			}
			dst = dst[:bytes.LastIndexByte(dst[:len(dst)-1], '/')+1]
		}
		if !more {
			break
		}
	}
	if !alike(dst[begin:], raw) {
		return dst[:begin], ErrForm
	}
	return dst, nil
}

// Open tells whether a path ends with a segment that is "." or "..", whatever
// its parameters. Containers do not agree on what that is: to some /a/b/.. is
// /a/, as in RFC 3986 and to the rules, to those of Servlet 6 it is /a. To all
// of them /a/b/../ is /a/.
func Open(path []byte) bool {
	seg := path[bytes.LastIndexByte(path, '/')+1:]
	if len(seg) == 0 || seg[0] != '.' && seg[0] != '%' {
		return false
	}
	seg, _, _ = bytes.Cut(seg, []byte(";"))
	return dots(seg) > 0
}

// dots returns 1 and 2 for segments that are "." and ".." when decoded, else 0.
func dots(seg []byte) int {
	n := 0
	for ; len(seg) > 0; n++ {
		switch {
		case n == 2:
			return 0
		case seg[0] == '.':
			seg = seg[1:]
		case len(seg) >= 3 && seg[0] == '%' && seg[1] == '2' && seg[2]|0x20 == 'e':
			seg = seg[3:]
		default:
			return 0
		}
	}
	return n
}

// appendSegment appends one segment, without slashes.
func appendSegment(dst, seg []byte, form conf.ForwardURI) ([]byte, error) {
	for i := 0; i < len(seg); i++ {
		c, escaped := seg[i], false
		if c == '%' {
			if len(seg)-i < 3 {
				return dst, connector.ErrEscape
			}
			hi, lo := hexDigit(seg[i+1]), hexDigit(seg[i+2])
			if hi < 0 || lo < 0 {
				return dst, connector.ErrEscape
			}
			if c, escaped = byte(hi<<4|lo), true; c == '/' {
				dst = append(dst, seg[i:i+3]...)
				i += 2
				continue
			}
			i += 2
		}
		switch form {
		case conf.ForwardURICompat:
			if escaped && (c == '%' || c == ';' || c == '?' || c == '#') || c < ' ' || c == 0x7f {
				return dst, ErrForm
			}
			dst = append(dst, c)
		case conf.ForwardURIEscaped:
			dst = appendByte(dst, c, plainEscaped, "0123456789abcdef")
		default:
			if escaped && c == ';' {
				dst = append(dst, "%3B"...)
			} else {
				dst = appendByte(dst, c, plainProxy, "0123456789ABCDEF")
			}
		}
	}
	return dst, nil
}

func hexDigit(c byte) int {
	if 'A' <= c && c <= 'F' {
		c |= 0x20
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// What the two escaping forms leave alone besides letters and digits: all of
// what Apache does in mod_proxy, and in the escaping of local paths.
const (
	plainProxy   = "~$-_.+!*'(),;:@&="
	plainEscaped = "~$-_.+!*'(),:@&="
)

func appendByte(dst []byte, c byte, plain, digits string) []byte {
	if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(plain, c) >= 0 {
		return append(dst, c)
	}
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// alike tells whether two paths are the same one to rules and containers.
func alike(a, b []byte) bool {
	var bufA, bufB [256]byte
	x, errA := connector.CleanPath(bufA[:0], a)
	y, errB := connector.CleanPath(bufB[:0], b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
