package conf

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Listen is one address to serve.
type Listen struct {
	// Host is a numeric address without brackets, a host name, or "" for
	// every address of the machine.
	Host string
	Port int // 1..65535
}

// String returns the address as the directive writes it.
func (l Listen) String() string {
	switch {
	case l.Host == "":
		return strconv.Itoa(l.Port)
	case strings.Contains(l.Host, ":"):
		return "[" + l.Host + "]:" + strconv.Itoa(l.Port)
	}
	return l.Host + ":" + strconv.Itoa(l.Port)
}

// parseListen reads the arguments of Listen: [address:]port [protocol].
func parseListen(value string) (Listen, error) {
	args, err := words(value)
	if err != nil {
		return Listen{}, err
	}
	if len(args) > 1 && strings.Contains(args[1], "=") {
		return Listen{}, fmt.Errorf("%s is for Unix sockets only", args[1])
	}
	if len(args) > 2 || len(args) == 2 && !strings.EqualFold(args[1], "http") {
		if len(args) == 2 && strings.EqualFold(args[1], "https") {
			return Listen{}, errors.New("protocol https is not supported")
		}
		return Listen{}, fmt.Errorf("%q is neither [address:]port nor unix:path; only the protocol http may follow it", value)
	}
	if len(args) == 0 {
		return Listen{}, errors.New("the address is empty")
	}
	addr := args[0]
	host, port := "", addr
	if i := strings.LastIndexByte(addr, ':'); i >= 0 && addr[len(addr)-1] != ']' {
		host, port = addr[:i], addr[i+1:]
		if host == "" {
			return Listen{}, fmt.Errorf("%q has no address before ':'; write the port alone for all addresses", addr)
		}
		if host == "*" {
			host = ""
		} else if host, err = parseHost(host); err != nil {
			return Listen{}, err
		}
	} else if strings.Trim(addr, "0123456789") != "" {
		return Listen{}, fmt.Errorf("%q has no port", addr)
	}
	n, err := parsePort(port)
	if err != nil {
		return Listen{}, err
	}
	return Listen{Host: host, Port: n}, nil
}

func parsePort(s string) (int, error) {
	n, err := parseInt(s)
	if err != nil || n < 1 || n > 65535 {
		return 0, fmt.Errorf("%q is not a port (1 to 65535)", s)
	}
	return int(n), nil
}

// parseHost accepts a host name or a numeric address, IPv6 in brackets.
func parseHost(s string) (string, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		if err != nil || !closed || !a.Is6() {
			return "", fmt.Errorf("%q is not an IPv6 address in brackets", s)
		}
		return a.String(), nil
	}
	if strings.Contains(s, ":") {
		return "", fmt.Errorf("an IPv6 address needs brackets: [%s]", s)
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String(), nil
	}
	if !hostName(s) {
		return "", fmt.Errorf("%q is neither a host name nor an address", s)
	}
	return strings.ToLower(s), nil
}

// hostName tells a usable host name. One that consists of digits and dots is a
// mistyped address.
func hostName(s string) bool {
	if s == "" || len(s) > 253 || strings.Trim(s, "0123456789.") == "" {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
				return false
			}
		}
	}
	return true
}

// parseServerName reads the argument of ServerName: name[:port].
func parseServerName(s string) (name string, port int, err error) {
	if strings.Contains(s, "://") {
		return "", 0, errors.New("a scheme before the name is not supported; write name[:port]")
	}
	host := s
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host = s[:i]
		if port, err = parsePort(s[i+1:]); err != nil {
			return "", 0, err
		}
	}
	name, err = parseHost(host)
	return name, port, err
}
