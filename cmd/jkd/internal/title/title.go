package title

import (
	"os"
	"strings"
	"sync"
)

// given are the arguments where the kernel has put them. Nobody else has them,
// unless he took some before this package was initialised.
var given = own()

func own() []string {
	original := os.Args
	os.Args = make([]string, len(original))
	for i, a := range original {
		os.Args[i] = strings.Clone(a)
	}
	return original
}

var mu sync.Mutex

// Set makes s the title, as far as there is room for it: on Linux that is the
// command line's, on FreeBSD some 200 bytes; elsewhere it does nothing. It may
// be called again, and from any goroutine. s should begin with "jkd:", which is
// what the scripts that look for the process accept.
func Set(s string) {
	mu.Lock()
	defer mu.Unlock()
	set(s)
}
