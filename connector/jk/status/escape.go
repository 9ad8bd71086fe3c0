package status

import (
	"strings"
	"unicode/utf8"
)

// hostile tells whether a character could break a line, hide or reorder what
// stands around it: controls, line and paragraph separators, bidirectional
// overrides, what is not a character, and bytes that are not UTF-8.
func hostile(r rune, size int) bool {
	switch {
	case r < ' ', 0x7f <= r && r < 0xa0:
		return true
	case r == utf8.RuneError && size == 1:
		return true
	case 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, 0x200e <= r && r <= 0x200f:
		return true
	}
	return r == 0xfffe || r == 0xffff
}

// markup appends s as text for XML and HTML, fit for an attribute between
// double quotes as well.
func markup(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case hostile(r, n):
			b = append(b, "\uFFFD"...)
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '"':
			b = append(b, "&#34;"...)
		case r == '\'':
			b = append(b, "&#39;"...)
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return b
}

// plain is s on one line: what is hostile becomes '?'.
func plain(s string) string {
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		clean = ' ' <= s[i] && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if hostile(r, n) {
			b.WriteByte('?')
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}
