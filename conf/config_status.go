package conf

import "net/netip"

// Status is section [status]: where the state of the server is shown, and to
// whom. Whoever asks must come from an address of Require and, if there is an
// AuthUserFile, be one of its users. Its paths are answered before any mount is
// looked at, in every virtual host.
type Status struct {
	// Location is the path of the page, Metrics that of the metrics; "" for
	// none, but never both. They begin with '/' and are not the same.
	Location, Metrics string
	// Require are the prefixes that may ask, those that begin with
	// ::ffff:0:0/96 turned into IPv4. Default: the loopback addresses. It is
	// empty, and nobody may ask, with "all denied".
	Require []netip.Prefix
	// Users is the contents of AuthUserFile, nil when not set. Nothing is known
	// of its lines here but that it can be read.
	Users *File
	// AuthName is the realm that a browser shows, without quotes and control
	// characters. Default: DefaultAuthName.
	AuthName string
	// ExtendedStatus shows what each slot has done and for whom. Default on.
	ExtendedStatus bool
	// ShowQueryStrings shows what follows the '?' in requests. Default off: it
	// may be somebody's secret.
	ShowQueryStrings bool

	Line int // of the section's head
	// UsersLine is where AuthUserFile stands, 0 when not set.
	UsersLine int
}

// DefaultAuthName is AuthName where it is not set.
const DefaultAuthName = "jkd status"
