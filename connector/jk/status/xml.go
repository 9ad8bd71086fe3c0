package status

import "strconv"

// xmlDoc writes elements as mod_jk does, one attribute on a line.
type xmlDoc struct {
	b  []byte
	ns string // prefix of elements
}

const spaces = "            "

// start begins an element; it stays open for attributes.
func (x *xmlDoc) start(indent int, name string) {
	x.b = append(x.b, spaces[:indent]...)
	x.b = append(x.b, '<')
	x.b = append(x.b, x.ns...)
	x.b = append(x.b, name...)
}

func (x *xmlDoc) attribute(indent int, key, value string) {
	x.b = append(x.b, '\n')
	x.b = append(x.b, spaces[:indent]...)
	x.b = append(x.b, key...)
	x.b = append(x.b, `="`...)
	x.b = markup(x.b, value)
	x.b = append(x.b, '"')
}

func (x *xmlDoc) attributes(indent int, a attributes) {
	for _, at := range a {
		x.attribute(indent, at.key, at.value)
	}
}

func (x *xmlDoc) open()  { x.b = append(x.b, ">\n"...) }
func (x *xmlDoc) close() { x.b = append(x.b, "/>\n"...) }

func (x *xmlDoc) end(indent int, name string) {
	x.b = append(x.b, spaces[:indent]...)
	x.b = append(x.b, "</"...)
	x.b = append(x.b, x.ns...)
	x.b = append(x.b, name...)
	x.b = append(x.b, ">\n"...)
}

// element is one without content.
func (x *xmlDoc) element(indent int, name string, a attributes) {
	x.start(indent, name)
	x.attributes(indent+2, a)
	x.close()
}

func (s *service) xml() []byte {
	x := &xmlDoc{ns: s.config.NS}
	x.b = append(x.b, `<?xml version="1.0" encoding="UTF-8" ?>`+"\n"...)
	if d := s.config.Doctype; d != "" {
		x.b = append(append(x.b, d...), '\n')
	}
	x.start(0, "status")
	if d := s.config.XMLNS; d != "" {
		x.b = append(append(x.b, "\n  "...), d...)
	}
	x.open()
	if s.shows() {
		x.element(2, "server", s.server())
		x.element(2, "time", s.time())
		x.element(2, "software", s.software())
	}
	s.body(x)
	x.element(2, "result", s.outcome())
	x.end(0, "status")
	return x.b
}

func (x *xmlDoc) balancers(n int, list func()) { x.list("balancers", n, list) }
func (x *xmlDoc) ajps(n int, list func())      { x.list("ajp_workers", n, list) }

func (x *xmlDoc) list(name string, n int, list func()) {
	x.start(2, name)
	x.attribute(4, "count", strconv.Itoa(n))
	if n == 0 {
		x.close()
		return
	}
	x.open()
	list()
	x.end(2, name)
}

func (x *xmlDoc) balancer(a attributes, members, maps func()) {
	x.start(4, "balancer")
	x.attributes(6, a)
	x.open()
	members()
	maps()
	x.end(4, "balancer")
}

func (x *xmlDoc) member(_ string, a attributes) { x.element(6, "member", a) }

func (x *xmlDoc) ajp(a attributes) { x.element(4, "ajp", a) }

func (x *xmlDoc) mapping(_ string, id int, a attributes, inBalancer bool) {
	indent := 4
	if inBalancer {
		indent = 6
	}
	x.start(indent, "map")
	x.attribute(indent+2, "id", strconv.Itoa(id))
	x.attributes(indent+2, a)
	x.close()
}

func (x *xmlDoc) configuration(pairs []Pair) {
	x.start(2, "configuration")
	used := map[string]bool{}
	for _, p := range pairs {
		x.attribute(4, unique(xmlName(p.Key), used), p.Value)
	}
	x.close()
}

// xmlName makes a key fit for the name of an attribute: whatever else than
// letters, digits, '.', '-' and '_' is in it becomes '_'.
func xmlName(key string) string {
	b := []byte(key)
	for i, c := range b {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '.' || c == '-')) {
			b[i] = '_'
		}
	}
	if len(b) == 0 || len(b) >= 3 && (b[0]|0x20) == 'x' && (b[1]|0x20) == 'm' && (b[2]|0x20) == 'l' {
		return "_" + string(b) // names in xml... are reserved
	}
	return string(b)
}

// unique is name, with a number if it was used before.
func unique(name string, used map[string]bool) string {
	n := name
	for i := 2; used[n]; i++ {
		n = name + "." + strconv.Itoa(i)
	}
	used[n] = true
	return n
}
