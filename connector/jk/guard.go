package jk

import (
	"errors"

	"github.com/rs/zerolog"

	"jkd/connector"
)

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

// unmapped serves requests that a rule matches but that are refused. They are
// answered as if they were not mounted. They must not be left to whatever comes
// after the mounts: files beside the servlets (JkAutoAlias) would then be had by
// writing a path in a way that is refused, past the container that guards them.
type unmapped struct {
	log *zerolog.Logger
	why refusal
}

// Name implements connector.Worker.
func (u *unmapped) Name() string { return "" }

// Service implements connector.Worker.
func (u *unmapped) Service(r *connector.Request, _ connector.ResponseWriter) error {
	e, path := u.log.Info(), r.Path
	if u.why == refusalLong {
		e = u.log.Warn()
		path = path[:min(len(path), 100)]
	}
	e.Bytes("path", path).Msgf("%s: the request is not mapped", u.why)
	return &connector.Error{Op: "map request", Status: 404, Own: true, Err: errors.New(u.why.String())}
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
