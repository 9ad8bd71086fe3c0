package status

import (
	"fmt"
	"strconv"
	"strings"

	"jkd/connector/jk2/jk2shm"
)

// all are the attributes of a component, those that all have first.
func (c *Component) all() []Attribute {
	return append([]Attribute{
		{"ver", strconv.Itoa(c.Ver)}, {"debug", strconv.Itoa(c.Debug)}, {"disabled", digit(c.Disabled)},
	}, c.Attributes...)
}

// row are the attributes in the order of the page's tables.
func (c *Component) row() []Attribute {
	return append(c.Attributes[:len(c.Attributes):len(c.Attributes)], c.all()[:3]...)
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// text writes the answers to lst, dmp and qry, which programs read.
func text(m *Model, a action, pattern string) []byte {
	var b strings.Builder
	for i, c := range append(m.Components[:len(m.Components):len(m.Components)], records(m.Board)...) {
		// Without a local name a component is not listed, as in mod_jk2: its
		// clients make object names of what they read here.
		if c.Name == c.Type+":" || !matches(pattern, c.Name) {
			continue
		}
		switch a {
		case list:
			fmt.Fprintf(&b, "[%s]\nT=%s\n", c.Name, c.Type)
			for _, x := range c.Attributes {
				fmt.Fprintf(&b, "G=%s\n", x.Name)
			}
			for _, name := range c.Settable {
				fmt.Fprintf(&b, "S=%s\n", name)
			}
			for _, name := range c.Invocable {
				fmt.Fprintf(&b, "M=%s\n", name)
			}
		case dump:
			fmt.Fprintf(&b, "[%s]\nId=%d\n", c.Name, i)
			values(&b, c.all(), "=")
		case query:
			local := strings.TrimPrefix(c.Name, c.Type+":")
			fmt.Fprintf(&b, "Name: modjk:type=%s,name=%s\nId: %d\n", c.Type, local, i)
			values(&b, c.all(), ": ")
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func values(b *strings.Builder, list []Attribute, between string) {
	for _, x := range list {
		fmt.Fprintf(b, "%s%s%s\n", x.Name, between, printable(x.Value))
	}
}

// records are the records of all slots as components.
func records(v *jk2shm.View) []Component {
	if v == nil {
		return nil
	}
	var out []Component
	for _, s := range v.Slots {
		for i := range s.Records {
			r := &s.Records[i]
			out = append(out, Component{
				Name: fmt.Sprintf("endpoint:%s%d", s.Name, i), Type: "endpoint",
				Attributes: []Attribute{
					{"workerId", strconv.FormatUint(uint64(r.Worker), 10)},
					{"requests", strconv.FormatUint(uint64(r.Requests), 10)},
					{"errors", strconv.FormatUint(uint64(r.Errors), 10)},
					{"lastRequest", r.Active},
					{"totalTime", strconv.FormatUint(r.Total, 10)},
					{"maxTime", strconv.FormatUint(r.Max, 10)},
				},
			})
		}
	}
	return out
}
