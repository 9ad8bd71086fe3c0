package logformat

// printable tells the bytes that stand for themselves in a line.
var printable = func() (t [256]bool) {
	for c := ' '; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// escape appends s so that it ends neither a line nor a quoted text. What
// would make the line too long anyhow is left out.
func escape[T []byte | string](b []byte, s T) []byte {
	if len(s) > MaxLine {
		s = s[:MaxLine+1]
	}
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; !printable[c] {
			b = escapeByte(append(b, s[from:i]...), c)
			from = i + 1
		}
	}
	return append(b, s[from:]...)
}

func escapeByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\v':
		return append(b, '\\', 'v')
	}
	return append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
}
