package status

import (
	"strconv"
	"strings"
)

// textDoc writes one object on a line.
type textDoc struct{ b []byte }

func (x *textDoc) line(title string, a attributes) {
	x.b = append(x.b, title...)
	x.b = append(x.b, ':')
	for _, at := range a {
		x.b = append(x.b, ' ')
		x.b = append(x.b, textKey(at.key)...)
		x.b = append(x.b, '=')
		x.value(at.value, at.quoted)
	}
	x.b = append(x.b, '\n')
}

// value writes a value, between quotes if it would else not be one word. Within
// quotes '"' and '\' have a '\' before them.
func (x *textDoc) value(v string, quoted bool) {
	v = plain(v)
	if !quoted && !strings.ContainsAny(v, ` "`) {
		x.b = append(x.b, v...)
		return
	}
	x.b = append(x.b, '"')
	for i := range len(v) {
		if v[i] == '"' || v[i] == '\\' {
			x.b = append(x.b, '\\')
		}
		x.b = append(x.b, v[i])
	}
	x.b = append(x.b, '"')
}

// textKey is a key, one word without '='.
func textKey(key string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '=' || r == '"' {
			return '_'
		}
		return r
	}, plain(key))
}

func (s *service) text() []byte {
	x := &textDoc{}
	if s.shows() {
		x.line("Server", s.server())
		x.line("Time", s.time())
		x.line("Software", s.software())
	}
	s.body(x)
	x.line("Result", s.outcome())
	return x.b
}

func (x *textDoc) balancers(n int, list func()) { x.list("Balancer Workers", n, list) }
func (x *textDoc) ajps(n int, list func())      { x.list("AJP Workers", n, list) }

func (x *textDoc) list(title string, n int, list func()) {
	x.line(title, attributes{{"count", strconv.Itoa(n), false}})
	list()
}

func (x *textDoc) balancer(a attributes, members, maps func()) {
	x.line("Balancer Worker", a)
	members()
	maps()
}

func (x *textDoc) member(_ string, a attributes) { x.line("Member", a) }

func (x *textDoc) ajp(a attributes) { x.line("AJP Worker", a) }

func (x *textDoc) mapping(_ string, id int, a attributes, _ bool) {
	x.line("Map", append(attributes{{"id", strconv.Itoa(id), false}}, a...))
}

func (x *textDoc) configuration(pairs []Pair) {
	var a attributes
	for _, p := range pairs {
		a.quote(p.Key, p.Value)
	}
	x.line("Configuration", a)
}
