package conf

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

func statusTable() table {
	t := table{}
	t.add(directive{name: "Location", set: func(p *parser, g given) (err error) {
		p.cfg.Status.Location, err = parseStatusPath(g.Value)
		return err
	}})
	t.add(directive{name: "Metrics", set: func(p *parser, g given) (err error) {
		p.cfg.Status.Metrics, err = parseStatusPath(g.Value)
		return err
	}})
	t.add(directive{name: "Require", many: true, set: func(p *parser, g given) error {
		list, err := parseRequire(g.Value)
		if err != nil {
			return err
		}
		s := p.cfg.Status
		if s.Require == nil {
			s.Require = []netip.Prefix{}
		}
		for _, prefix := range list {
			if !slices.Contains(s.Require, prefix) {
				s.Require = append(s.Require, prefix)
			}
		}
		return nil
	}})
	t.add(directive{name: "AuthUserFile", set: func(p *parser, g given) (err error) {
		p.cfg.Status.UsersLine = g.Line
		p.cfg.Status.Users, err = p.input(g)
		return err
	}})
	t.add(directive{name: "AuthName", set: func(p *parser, g given) error {
		name, err := unquote(g.Value)
		switch {
		case err != nil:
			return err
		case name == "":
			return errors.New("the name is empty")
		case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }):
			return errors.New("the name holds a quote, a backslash or a control character")
		}
		p.cfg.Status.AuthName = name
		return nil
	}})
	t.add(directive{name: "ExtendedStatus", set: onOff(func(c *Config) *bool { return &c.Status.ExtendedStatus })})
	t.add(directive{name: "ShowQueryStrings", set: onOff(func(c *Config) *bool { return &c.Status.ShowQueryStrings })})
	return t
}

// status judges the section as a whole.
func (p *parser) status() {
	s := p.cfg.Status
	if s == nil {
		return
	}
	location, hasLocation := p.first[statusSection+" Location"]
	metrics, hasMetrics := p.first[statusSection+" Metrics"]
	switch {
	case !hasLocation && !hasMetrics:
		p.title("["+statusSection+"]", s.Line, errors.New("needs Location, the path of the page, or Metrics, or both"))
	case s.Location != "" && s.Location == s.Metrics:
		g := metrics
		if location.Line > metrics.Line {
			g = location
		}
		p.fail(g, "Location and Metrics are the same path")
	}
	require, hasRequire := p.first[statusSection+" Require"]
	if !hasRequire {
		s.Require = slices.Clone(loopback)
	}
	if s.Users == nil && slices.Contains(s.Require, everyone[0]) {
		p.warn(require.Line, require.Key, "everybody may see the state of the server: there is no AuthUserFile")
	}
	if name, ok := p.first[statusSection+" AuthName"]; ok && s.UsersLine == 0 {
		p.warn(name.Line, name.Key, "has no effect without AuthUserFile")
	}
}

// parseStatusPath reads a path that requests are compared with as they are
// after decoding and without what follows '?' or ';'.
func parseStatusPath(s string) (string, error) {
	s, err := unquote(s)
	switch {
	case err != nil:
		return "", err
	case !strings.HasPrefix(s, "/"):
		return "", fmt.Errorf("the path %q does not begin with '/'", s)
	case s == "/":
		return "", errors.New("the path / would hide everything else")
	case strings.ContainsAny(s, "?#;%*") || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return "", fmt.Errorf("the path %q is to be written out, without blanks and the characters ? # ; %% *", s)
	case path.Clean(s) != s:
		return "", fmt.Errorf("no request has the path %q: write %s", s, path.Clean(s))
	}
	return s, nil
}

var (
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	everyone = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
)

// parseRequire reads what follows Require: addresses and prefixes, with or
// without Apache's word ip before them, or one of Apache's "all granted", "all
// denied" and "local".
func parseRequire(s string) ([]netip.Prefix, error) {
	args, err := words(s)
	if err != nil {
		return nil, err
	}
	switch word := strings.ToLower(args[0]); word {
	case "all":
		if len(args) == 2 && strings.EqualFold(args[1], "granted") {
			return everyone, nil
		}
		if len(args) == 2 && strings.EqualFold(args[1], "denied") {
			return nil, nil
		}
		return nil, errors.New("all is followed by granted or denied")
	case "local":
		if len(args) > 1 {
			return nil, errors.New("nothing follows local")
		}
		return loopback, nil
	case "valid-user", "user", "group":
		return nil, fmt.Errorf("%s is not supported: with AuthUserFile a user of that file is needed, besides the address", word)
	case "host", "forward-dns":
		return nil, fmt.Errorf("%s is not supported: write addresses", word)
	case "not", "env", "expr", "method":
		return nil, fmt.Errorf("%s is not supported, only addresses", word)
	case "ip":
		if args = args[1:]; len(args) == 0 {
			return nil, errors.New("ip is followed by addresses")
		}
	}
	var out []netip.Prefix
	for _, a := range args {
		prefix, err := parsePrefix(a)
		if err != nil {
			return nil, err
		}
		out = append(out, prefix)
	}
	return out, nil
}

// parsePrefix reads an address, an address and the length of its prefix or its
// mask, or the first numbers of an IPv4 address: Apache's forms.
func parsePrefix(s string) (netip.Prefix, error) {
	bad := fmt.Errorf("%q is no address and no prefix, such as 10.0.0.0/8 or ::1", s)
	host, length, sized := strings.Cut(s, "/")
	var bits int
	if n := strings.Count(strings.TrimSuffix(host, "."), ".") + 1; n < 4 && !strings.Contains(host, ":") {
		if sized {
			return netip.Prefix{}, fmt.Errorf("%q: an address before a '/' has four numbers", s)
		}
		host, length, sized = strings.TrimSuffix(host, ".")+strings.Repeat(".0", 4-n), strconv.Itoa(8*n), true
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return netip.Prefix{}, bad
	case addr.Zone() != "":
		return netip.Prefix{}, fmt.Errorf("%q: an address with a zone is not supported", s)
	case !sized:
		bits = addr.BitLen()
	default:
		if bits, err = prefixBits(length, addr); err != nil {
			return netip.Prefix{}, fmt.Errorf("%q: %w", s, err)
		}
	}
	if addr.Is4In6() && bits >= 96 {
		addr, bits = addr.Unmap(), bits-96
	}
	return netip.PrefixFrom(addr, bits).Masked(), nil
}

// prefixBits reads the length of a prefix or an IPv4 mask.
func prefixBits(s string, addr netip.Addr) (int, error) {
	if mask, err := netip.ParseAddr(s); err == nil && mask.Is4() && addr.Is4() {
		m := mask.As4()
		v := uint32(m[0])<<24 | uint32(m[1])<<16 | uint32(m[2])<<8 | uint32(m[3])
		n := 0
		for ; v&(1<<31) != 0; v <<= 1 {
			n++
		}
		if v != 0 {
			return 0, errors.New("the mask has ones after a zero")
		}
		return n, nil
	}
	n, err := parseInt(s)
	if err != nil {
		return 0, err
	}
	return int(n), inRange(n, 0, int64(addr.BitLen()))
}
