package conf

import (
	"fmt"
	"slices"
	"strings"
)

// jkOption is an option that is on or off, by its place in jkOptionNames.
type jkOption uint8

var (
	jkOptionNames = []string{
		"RejectUnsafeURI", "ForwardDirectories", "ForwardLocalAddress", "ForwardPhysicalAddress",
		"FlushPackets", "FlushHeader", "DisableReuse", "ForwardKeySize", "ForwardSSLCertChain",
	}
	// collapseNames have had no effect since mod_jk 1.2.44.
	collapseNames = []string{"CollapseSlashesAll", "CollapseSlashesNone", "CollapseSlashesUnmount"}
)

// field is where an option is kept.
func (o *JkOptions) field(i jkOption) *bool {
	return [...]*bool{
		&o.RejectUnsafeURI, &o.ForwardDirectories, &o.ForwardLocalAddress, &o.ForwardPhysicalAddress,
		&o.FlushPackets, &o.FlushHeader, &o.DisableReuse, &o.ForwardKeySize, &o.ForwardSSLCertChain,
	}[i]
}

// jkOptionChanges are the JkOptions of one server. Within it a minus beats a
// plus wherever the two stand, and of the ForwardURI forms the last counts.
type jkOptionChanges struct {
	plus, minus   []jkOption
	forwardURI    ForwardURI
	forwardURISet bool
}

// over applies the changes to what a server inherits.
func (c *jkOptionChanges) over(o JkOptions) JkOptions {
	for _, i := range c.plus {
		*o.field(i) = true
	}
	for _, i := range c.minus {
		*o.field(i) = false
	}
	if c.forwardURISet {
		o.ForwardURI, o.ForwardURISet = c.forwardURI, true
	}
	return o
}

func setJkOptions(p *parser, g given) (func(*JkServer), error) {
	args, err := words(g.Value)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		if err := p.jkOption(g, arg); err != nil {
			return nil, err
		}
	}
	return func(*JkServer) {}, nil // applied after all lines of the server
}

func (p *parser) jkOption(g given, arg string) error {
	c := &g.in.server.jk.options
	name := strings.TrimPrefix(arg, "+")
	minus := strings.HasPrefix(arg, "-")
	if minus {
		name = arg[1:]
	}
	find := func(list []string) int {
		return slices.IndexFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
	}
	if i := find(forwardURINames); i >= 0 {
		if minus {
			return fmt.Errorf("%s cannot be taken away; give another form of ForwardURI instead", forwardURINames[i])
		}
		c.forwardURI, c.forwardURISet = ForwardURI(i), true
		return nil
	}
	if i := find(collapseNames); i >= 0 {
		p.warn(g.Line, g.Key, "%s has no effect: slashes are always collapsed", collapseNames[i])
		return nil
	}
	i := find(jkOptionNames)
	if i < 0 {
		return fmt.Errorf("unknown option %q%s", arg, DidYouMean(name, slices.Concat(forwardURINames, jkOptionNames)))
	}
	if minus {
		c.minus = append(c.minus, jkOption(i))
	} else {
		c.plus = append(c.plus, jkOption(i))
	}
	return nil
}
