package conf

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Access is what a section says of who may ask. Require is one thing, and
// Order, Allow and Deny together are another: each gives way to what a later
// section says of the same, and both have to let a client in. Nil says nothing.
type Access struct {
	Require *Addresses
	Order   *Addresses
}

// Says tells whether anything is said.
func (a Access) Says() bool { return a.Require != nil || a.Order != nil }

// Addresses are clients by address. Prefixes that begin with ::ffff:0:0/96 are
// held as IPv4.
type Addresses struct {
	// DenyFirst is Order deny,allow: who is in Deny is let in if he is in Allow
	// too, and who is in neither is let in. Otherwise, which is Order
	// allow,deny and Require, who is in Allow and not in Deny.
	DenyFirst   bool
	Allow, Deny []netip.Prefix
}

// Allows tells whether an address may ask. Nil lets everybody in. The zero
// address, of clients of a Unix socket, which may be a proxy for all the world, is
// in no prefix but those of everybody.
func (a *Addresses) Allows(addr netip.Addr) bool {
	if a == nil {
		return true
	}
	addr = addr.Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) || p.Bits() == 0 && !addr.IsValid() })
	}
	if a.DenyFirst {
		return in(a.Allow) || !in(a.Deny)
	}
	return in(a.Allow) && !in(a.Deny)
}

// addAccess adds what a section may say about who may ask; where tells where
// the section keeps it.
func addAccess(t table, where func(*scope) *Access) {
	t.add(directive{name: "Require", many: true, set: func(_ *parser, g given) error {
		a := where(g.in)
		if a.Require == nil {
			a.Require = &Addresses{}
		}
		value, into := g.Value, &a.Require.Allow
		if word, rest, _ := strings.Cut(value, " "); strings.EqualFold(word, "not") {
			value, into = rest, &a.Require.Deny
		}
		list, err := parseRequire(value)
		*into = joinPrefixes(*into, list)
		return err
	}})
	add := func(name string, many bool, set func(*Addresses, given) error) {
		t.add(directive{name: name, many: many, set: func(_ *parser, g given) error {
			a := where(g.in)
			if a.Order == nil {
				a.Order = &Addresses{DenyFirst: true} // mod_access_compat's default
			}
			return set(a.Order, g)
		}})
	}
	add("Order", false, func(a *Addresses, g given) error {
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
	add("Allow", true, func(a *Addresses, g given) error {
		list, err := parseFrom(g)
		a.Allow = joinPrefixes(a.Allow, list)
		return err
	})
	add("Deny", true, func(a *Addresses, g given) error {
		list, err := parseFrom(g)
		a.Deny = joinPrefixes(a.Deny, list)
		return err
	})
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
