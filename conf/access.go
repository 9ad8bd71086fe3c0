package conf

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Access is who may ask, by address: Require, or Order, Allow and Deny.
// Prefixes that begin with ::ffff:0:0/96 are held as IPv4.
type Access struct {
	// DenyFirst is Order deny,allow: who is in Deny is let in if he is in Allow
	// too, and who is in neither is let in. Otherwise, which is Order
	// allow,deny and Require, who is in Allow and not in Deny.
	DenyFirst   bool
	Allow, Deny []netip.Prefix
}

// Allows tells whether an address may ask. A nil Access lets everybody in.
func (a *Access) Allows(addr netip.Addr) bool {
	if a == nil {
		return true
	}
	addr = addr.Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	if a.DenyFirst {
		return in(a.Allow) || !in(a.Deny)
	}
	return in(a.Allow) && !in(a.Deny)
}

// accessSettings are the directives of one section as they were read.
type accessSettings struct {
	access  Access
	require given // the first Require
	order   given // the first of the others
	ordered bool  // one of these was Order
}

// addAccess adds what a section may say about who may ask; where tells where
// the section keeps it.
func addAccess(t table, where func(*scope) *accessSettings) {
	add := func(name string, many bool, old bool, set func(*Access, given) error) {
		t.add(directive{name: name, many: many, set: func(_ *parser, g given) error {
			s := where(g.in)
			mine, other := &s.require, s.order
			if old {
				mine, other = &s.order, s.require
			}
			if other.Line > 0 {
				return fmt.Errorf("is not for a section with %s: either Require, or Order, Allow and Deny", other.Key)
			}
			if mine.Line == 0 {
				*mine = g
			}
			s.ordered = s.ordered || name == "Order"
			return set(&s.access, g)
		}})
	}
	add("Require", true, false, func(a *Access, g given) error {
		list, err := parseRequire(g.Value)
		a.Allow = joinPrefixes(a.Allow, list)
		return err
	})
	add("Order", false, true, func(a *Access, g given) error {
		switch strings.ToLower(strings.ReplaceAll(g.Value, " ", "")) {
		case "deny,allow":
			a.DenyFirst = true
		case "allow,deny", "mutual-failure":
			a.DenyFirst = false
		default:
			return fmt.Errorf("%q is neither Deny,Allow nor Allow,Deny", g.Value)
		}
		return nil
	})
	add("Allow", true, true, func(a *Access, g given) error {
		list, err := parseFrom(g)
		a.Allow = joinPrefixes(a.Allow, list)
		return err
	})
	add("Deny", true, true, func(a *Access, g given) error {
		list, err := parseFrom(g)
		a.Deny = joinPrefixes(a.Deny, list)
		return err
	})
}

// result is what the section says, nil for nothing.
func (s *accessSettings) result() *Access {
	switch {
	case s.require.Line > 0:
		return &s.access
	case s.order.Line > 0:
		// mod_access_compat's default order.
		if !s.ordered {
			s.access.DenyFirst = true
		}
		return &s.access
	}
	return nil
}

func joinPrefixes(list, more []netip.Prefix) []netip.Prefix {
	for _, p := range more {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// parseFrom reads "from all" or "from" and addresses.
func parseFrom(g given) ([]netip.Prefix, error) {
	args, err := words(g.Value)
	switch {
	case err != nil:
		return nil, err
	case len(args) < 2 || !strings.EqualFold(args[0], "from"):
		return nil, errors.New("needs from and addresses, or from all")
	}
	var out []netip.Prefix
	for _, a := range args[1:] {
		switch {
		case strings.EqualFold(a, "all"):
			out = append(out, everyone...)
		case strings.EqualFold(a, "localhost"):
			out = append(out, loopback...)
		case strings.HasPrefix(strings.ToLower(a), "env="):
			return nil, errors.New("env= is not supported, only addresses")
		default:
			p, err := parsePrefix(a)
			if err != nil {
				return nil, fmt.Errorf("%w; names are not looked up", err)
			}
			out = append(out, p)
		}
	}
	return out, nil
}
