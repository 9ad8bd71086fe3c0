package jk

import "jkd/connector"

// refusal is why a request is not mapped whatever the rules say.
type refusal uint8

const (
	refusalNone refusal = iota
	// refusalUnsafe: JkOptions RejectUnsafeURI.
	refusalUnsafe
	// refusalLong: the path is longer than mod_jk looks at.
	refusalLong
)

// String returns the reason for a log line.
func (r refusal) String() string {
	switch r {
	case refusalNone:
		return "none"
	case refusalUnsafe:
		return "Potentially unsafe request url (RejectUnsafeURI)"
	case refusalLong:
		return "URI must be smaller than 4096 bytes"
	}
	return "?"
}

// refused says in the log that a request for a path that is mounted is not
// mapped. For the front it is as if it were not mounted.
func (c *Connector) refused(r *connector.Request, why refusal) {
	log := c.sites[r.VHost].log
	e := log.Info()
	path := r.Path
	if why == refusalLong {
		e = log.Warn()
		path = path[:min(len(path), 100)]
	}
	e.Bytes("path", path).Msgf("%s: the request is not mapped", why)
}

const longestURI = 4095

// refuse tells whether a request may be mapped at all.
func refuse(r *connector.Request, rejectUnsafe bool) refusal {
	if len(r.MatchPath) > longestURI {
		return refusalLong
	}
	if rejectUnsafe && unsafeURI(r.Path) {
		return refusalUnsafe
	}
	return refusalNone
}

// unsafeURI tells whether a '%' or '\' is left when an encoded path is decoded.
// Path parameters do not count: containers drop them before they decode. But a
// segment that a later ".." takes away does: one that takes an escaped slash
// for a slash would take away something else.
func unsafeURI(path []byte) bool {
	inParameter := false
	for i, c := range path {
		switch c {
		case '/':
			inParameter = false
		case ';':
			inParameter = true
		case '\\':
			if !inParameter {
				return true
			}
		case '%':
			if inParameter || len(path)-i < 3 {
				continue
			}
			switch lo := path[i+2] | 0x20; {
			case path[i+1] == '2' && (lo == 'f' || path[i+2] == '5'), path[i+1] == '5' && lo == 'c':
				return true
			}
		}
	}
	return false
}
