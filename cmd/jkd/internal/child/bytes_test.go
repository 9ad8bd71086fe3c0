//go:build unix

package child

import "unsafe"

// bytesOf is aligned memory for a scoreboard.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
}
