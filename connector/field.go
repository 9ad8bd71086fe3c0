package connector

import "bytes"

// IsTokenByte tells the characters of RFC 9110's token, of which methods and
// field names are made. It must not be written to.
var IsTokenByte = func() (t [256]bool) {
	for c := '0'; c <= '9'; c++ {
		t[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-0x20] = true, true
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

// EqualFold compares a field name or a keyword from the wire with one that is
// written in lower-case ASCII.
func EqualFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// AppendValues appends the values of all fields of that name, which is written
// in lower case, to dst.
func AppendValues(dst [][]byte, fields []Field, name string) [][]byte {
	for i := range fields {
		if f := &fields[i]; EqualFold(f.Name, name) {
			dst = append(dst, f.Value)
		}
	}
	return dst
}

// Value is the value of the field of that name, which is written in lower case,
// "" if there is none. Several are put together with commas, which makes no
// value that a check would accept of a field that may be there once only.
func Value(fields []Field, name string) string {
	return string(bytes.Join(AppendValues(nil, fields, name), []byte(", ")))
}
