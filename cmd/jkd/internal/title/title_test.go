package title

import (
	"os"
	"testing"
	"unsafe"
)

// TestArgsAreCopies: what the program reads is not what Set writes to.
func TestArgsAreCopies(t *testing.T) {
	if len(given) != len(os.Args) || len(given) == 0 {
		t.Fatalf("%q, %q", given, os.Args)
	}
	for i, a := range os.Args {
		if a != given[i] || a != "" && unsafe.StringData(a) == unsafe.StringData(given[i]) {
			t.Errorf("argument %d is %q, was %q", i, a, given[i])
		}
	}
}
