package counters

import (
	"os"
	"testing"
	"unsafe"
)

// childVar makes the test binary a child of a test, see TestProcesses.
const childVar = "JKD_COUNTERS_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

var names = []WorkerName{{"a", "jk"}, {"b", "jk"}, {"a", "jk2"}}

// memory is n bytes, aligned.
func memory(n int) []byte {
	w := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*8)[:n]
}

// mustFormat is a table in Go's memory, which the race detector watches.
func mustFormat(t testing.TB, servers int, names ...WorkerName) *Table {
	t.Helper()
	l := NewLayout(servers, names)
	n, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	tab, err := Format(memory(n), l)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
