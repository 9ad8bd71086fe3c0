//go:build unix

package sock

// Filter is how much of a request the kernel waits for before it lets accept
// have a connection: directive AcceptFilter.
type Filter uint8

const (
	// FilterDefault is what Apache has: FilterHTTP on FreeBSD if the kernel has
	// it, FilterData on Linux.
	FilterDefault Filter = iota
	// FilterNone: nothing.
	FilterNone
	// FilterData: its first byte. On Linux TCP_DEFER_ACCEPT.
	FilterData
	// FilterHTTP: the head of a GET or HEAD, the first bytes of others. The
	// same as FilterData on Linux.
	FilterHTTP
)

// String is the word of the directive.
func (f Filter) String() string {
	switch f {
	case FilterNone:
		return "none"
	case FilterData:
		return "dataready"
	case FilterHTTP:
		return "httpready"
	}
	return "default"
}

// SetFilter sets the filter of a TCP socket that listens, whatever it has had
// before: one that was inherited keeps its filter, and a kernel may refuse to
// set a second one. A socket without its filter works all the same.
func SetFilter(fd int, f Filter) error { return setFilter(fd, f) }
