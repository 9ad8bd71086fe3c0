package balance

import "bytes"

// IDs is where the session ids of one request are to be found. The zero value
// and nil have none: what a request is that ignores sessions (sticky_session,
// sticky_ignore, JK_STICKY_IGNORE).
type IDs struct {
	// Cookie is session_cookie, the exact name of the cookie; "": none.
	Cookie string
	// Param is session_path with its ';', which may be missing; "": none.
	Param string
	// Path is the path of the request as it was received.
	Path []byte
	// Cookies are the values of all Cookie fields in their order.
	Cookies [][]byte
	// Route is JK_ROUTE. When it is not empty it is the only route, whatever
	// the request says.
	Route []byte
}

// ID is one session id. Its parts are pieces of the request.
type ID struct {
	// Text is the id, never empty, without the quotes of a cookie. That of a
	// route given by JK_ROUTE is the route.
	Text []byte
	// Route is what follows the first '.', nil if that is nothing.
	Route []byte
	// Last is what follows the last '.', nil if that is nothing or the same
	// as Route. Old containers had the domain in front.
	Last []byte
}

// Domain returns what may be a domain: the route up to its first '.', or all
// of it.
func (id ID) Domain() []byte {
	if i := bytes.IndexByte(id.Route, '.'); i >= 0 {
		return id.Route[:i]
	}
	return id.Route
}

// ParseID divides a session id.
func ParseID(text []byte) ID {
	id := ID{Text: text}
	if i := bytes.IndexByte(text, '.'); i >= 0 {
		id.setRoute(text[i+1:])
	}
	return id
}

// routeID is the id of a request whose route was set.
func routeID(route []byte) ID {
	id := ID{Text: route}
	id.setRoute(route)
	return id
}

func (id *ID) setRoute(route []byte) {
	if len(route) == 0 {
		return
	}
	id.Route = route
	if i := bytes.LastIndexByte(route, '.'); i >= 0 && i+1 < len(route) {
		id.Last = route[i+1:]
	}
}

// Cursor goes through the ids of one request: first the route that was set,
// else the path parameter, else the cookies. It holds on to its IDs, which must
// not change meanwhile.
type Cursor struct {
	ids    *IDs
	source source
	header int // cookie field to look at
	pos    int // where in it
	empty  bool
}

type source uint8

const (
	fromStart source = iota
	fromCookies
	fromNowhere
)

// Begin returns a cursor before the first id. ids may be nil.
func (ids *IDs) Begin() Cursor { return Cursor{ids: ids} }

// Empty tells whether an id without a single character was passed over.
func (c *Cursor) Empty() bool { return c.empty }

// Next returns the next id, or false when there are no more.
func (c *Cursor) Next() (ID, bool) {
	if c.ids == nil {
		return ID{}, false
	}
	if c.source == fromStart {
		c.source = fromNowhere
		if len(c.ids.Route) > 0 {
			return routeID(c.ids.Route), true
		}
		if text := c.param(); text != nil {
			return ParseID(text), true
		}
		if c.ids.Cookie != "" {
			c.source = fromCookies
		}
	}
	if c.source == fromCookies {
		for c.header < len(c.ids.Cookies) {
			for {
				text, end := cookie(c.ids.Cookies[c.header], c.pos, c.ids.Cookie)
				if end < 0 {
					break
				}
				c.pos = end
				if len(text) > 0 {
					return ParseID(text), true
				}
				c.empty = true
			}
			c.header, c.pos = c.header+1, 0
		}
		c.source = fromNowhere
	}
	return ID{}, false
}

// param returns the value of the first path parameter that has one, in
// whatever segment, or nil. It ends where the parameter, the segment or the
// path does.
func (c *Cursor) param() []byte {
	name := c.ids.Param
	if name == "" {
		return nil
	}
	if name[0] == ';' {
		name = name[1:]
	}
	path := c.ids.Path
	for {
		i := bytes.IndexByte(path, ';')
		if i < 0 {
			return nil
		}
		path = path[i+1:]
		if len(path) <= len(name) || string(path[:len(name)]) != name || path[len(name)] != '=' {
			continue
		}
		value := path[len(name)+1:]
		if end := bytes.IndexAny(value, "?;/"); end >= 0 {
			value = value[:end]
		}
		if len(value) > 0 {
			return value
		}
		c.empty = true
	}
}

// cookie finds the next cookie of that name in a Cookie field from pos on. It
// returns its value, which may be empty, and where to go on, or -1 if there is
// none.
func cookie(field []byte, pos int, name string) (value []byte, end int) {
	for pos < len(field) {
		i := bytes.IndexByte(field[pos:], name[0])
		if i < 0 {
			return nil, -1
		}
		start := pos + i
		pos = start + 1
		if start > 0 && !separator(field[start-1]) || len(field)-start < len(name) || string(field[start:start+len(name)]) != name {
			continue
		}
		after := start + len(name)
		for after < len(field) && blank(field[after]) {
			after++
		}
		if after == len(field) || field[after] != '=' {
			continue
		}
		value = field[after+1:]
		end = len(field)
		if i := bytes.IndexAny(value, ";,"); i >= 0 {
			value, end = value[:i], after+1+i
		}
		return unquote(trim(value)), end
	}
	return nil, -1
}

func blank(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' }

func separator(b byte) bool { return b == ';' || b == ',' || blank(b) }

func trim(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// unquote takes one pair of double quotes off.
func unquote(b []byte) []byte {
	if len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"' {
		return b[1 : len(b)-1]
	}
	return b
}
