package main_test

import (
	"os"
	"syscall"
	"testing"
)

// writeProgram writes a file that is executed next. No other goroutine forks
// meanwhile: its child would have the open file until it has executed its own
// program, and for that long the kernel refuses to execute this one (ETXTBSY).
func writeProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}

// install copies a program.
func install(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = writeProgram(to, content)
	}
	if err != nil {
		t.Fatal(err)
	}
}
