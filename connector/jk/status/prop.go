package status

import (
	"strconv"
	"strings"
)

// propDoc writes lines key=value. Where mod_jk's keys are of no use it differs:
// all of a member's keys bear the member's name (there the last six have the
// balancer's, so that those of all members collide), and no key has a blank in
// it (there error_time_unix_seconds and error_time_ago do).
type propDoc struct {
	b      []byte
	prefix string
}

// put writes a line; the parts of the key are joined by dots.
func (x *propDoc) put(value string, key ...string) {
	x.b = append(x.b, propKey(x.prefix)...)
	for _, k := range key {
		x.b = append(x.b, '.')
		x.b = append(x.b, propKey(k)...)
	}
	x.b = append(x.b, '=')
	// A backslash at the end would join the next line.
	x.b = append(x.b, strings.ReplaceAll(plain(value), `\`, `\\`)...)
	x.b = append(x.b, '\n')
}

// all writes attributes of a worker, but not its name.
func (x *propDoc) all(name string, a attributes) {
	for _, at := range a {
		if at.key != "name" {
			x.put(at.value, name, at.key)
		}
	}
}

// propKey is a part of a key without what ends a key or makes a comment.
func propKey(key string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(` =:\#!`, r) {
			return '_'
		}
		return r
	}, plain(key))
}

func (s *service) prop() []byte {
	x := &propDoc{prefix: s.config.Prefix}
	if s.shows() {
		for _, at := range s.server() {
			x.put(at.value, "server_"+at.key)
		}
		for _, at := range s.time() {
			x.put(at.value, "time_"+at.key)
		}
		for _, at := range s.software() {
			x.put(at.value, at.key)
		}
	}
	s.body(x)
	for _, at := range s.outcome() {
		x.put(at.value, "result", at.key)
	}
	return x.b
}

func (x *propDoc) balancers(n int, list func()) {
	x.put(strconv.Itoa(n), "lb_count")
	list()
}

func (x *propDoc) ajps(n int, list func()) {
	x.put(strconv.Itoa(n), "ajp_count")
	list()
}

func (x *propDoc) balancer(a attributes, members, maps func()) {
	x.put(a.name(), "list")
	x.all(a.name(), a)
	members()
	maps()
}

func (x *propDoc) member(balancer string, a attributes) {
	x.put(a.name(), balancer, "balance_workers")
	x.all(a.name(), a)
}

func (x *propDoc) ajp(a attributes) {
	x.put(a.name(), a.name(), "list")
	x.all(a.name(), a)
}

func (x *propDoc) mapping(worker string, id int, a attributes, _ bool) {
	for _, at := range a {
		x.put(at.value, worker, "map", strconv.Itoa(id), at.key)
	}
}

func (x *propDoc) configuration(pairs []Pair) {
	for _, p := range pairs {
		x.put(p.Value, p.Key)
	}
}

// name is the value of the attribute name, which is the first.
func (a attributes) name() string { return a[0].value }
