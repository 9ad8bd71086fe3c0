package httpd

import (
	"bytes"
	"cmp"
	"net"
	"net/netip"
	"strconv"

	"github.com/valyala/fasthttp"

	"jkd/connector"
)

// refusal is why a request is answered by the front itself.
type refusal struct {
	status int
	reason string
}

// exchange is one request in the making. Its slices point into raw.
type exchange struct {
	raw []byte // the request head, kept while the input buffer moves on
	connector.Request
	env       connector.Env
	notes     connector.Notes
	client    netip.Addr             // who asks, IPv4 as such; not valid without an address
	denied    bool                   // and may not, says the configuration
	mapped    bool                   // a worker was asked
	redirects int                    // how often the request became one for another path
	failed    failure                // what the request, now one for an ErrorDocument, was about
	second    fasthttp.RequestHeader // the second reading of the head
	match     []byte                 // backing of MatchPath
	num       []byte                 // backing of small texts
	hop       [][]byte               // fields that Connection names
	keep      bool                   // the client wants the connection kept
	keepTok   bool                   // and said so
	expect    bool                   // Expect: 100-continue
	http10    bool
}

var (
	methodOPTIONS = []byte("OPTIONS")
	hostName      = []byte("Host")
	protocol10    = []byte("HTTP/1.0")
	protocol11    = []byte("HTTP/1.1")
)

// maxHopNames bounds how many fields Connection may name: every field of the
// request is compared with each of them.
const maxHopNames = 32

// build makes the request from a scanned head; raw holds it. The connection's
// addresses have been set.
func (x *exchange) build(h *head, o *Options, localPort int) (refused refusal) {
	r := &x.Request
	r.Method, r.Protocol = h.method.of(x.raw), protocol11 // what later minors are to us
	x.http10 = h.minor == 0
	if x.http10 {
		r.Protocol = protocol10
	}
	x.keep, x.keepTok, x.expect, x.hop = !x.http10, false, false, x.hop[:0]
	r.Fields = r.Fields[:0]
	r.ContentLength = 0
	r.Body, r.Upgrade = nil, nil

	target, authority, refused := splitTarget(h.target.of(x.raw))
	if refused.status != 0 {
		return refused
	}
	if i := bytes.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	r.Path, r.Query, r.HasQuery = bytes.Cut(target, []byte{'?'})
	if len(r.Path) == 1 && r.Path[0] == '*' && !bytes.Equal(r.Method, methodOPTIONS) {
		return refusal{400, "request target * without OPTIONS"}
	}
	var err error
	if x.match, err = connector.CleanPath(x.match[:0], r.Path); err != nil {
		return refusal{400, err.Error()}
	}
	r.MatchPath = x.match

	host, refused := x.fields(h)
	if refused.status != 0 {
		return refused
	}
	if host < 0 && !x.http10 && authority == nil {
		return refusal{400, "no Host header"}
	}
	if host >= 0 && len(r.Fields[host].Value) == 0 && !x.http10 {
		return refusal{400, "empty Host header"} // as fasthttp has it
	}
	var hostValue []byte
	if host >= 0 {
		hostValue = r.Fields[host].Value
	}
	if authority != nil {
		hostValue = authority
		if host >= 0 {
			r.Fields[host].Value = authority
		} else {
			r.Fields = append(r.Fields, connector.Field{})
			copy(r.Fields[1:], r.Fields)
			r.Fields[0] = connector.Field{Name: hostName, Value: authority}
		}
	}
	return x.serverName(hostValue, o, localPort)
}

// splitTarget separates the authority of an absolute target from the rest. A
// missing authority is nil.
func splitTarget(t []byte) (target, authority []byte, _ refusal) {
	if t[0] == '/' || (len(t) == 1 && t[0] == '*') {
		return t, nil, refusal{}
	}
	rest, ok := cutPrefixFold(t, "http://")
	if !ok {
		if rest, ok = cutPrefixFold(t, "https://"); !ok {
			return nil, nil, refusal{400, "request target is neither a path nor an http URL"}
		}
	}
	i := bytes.IndexAny(rest, "/?#")
	if i < 0 {
		i = len(rest)
	}
	authority, target = rest[:i:i], rest[i:]
	if i == 0 || bytes.IndexByte(authority, '@') >= 0 {
		return nil, nil, refusal{400, "bad authority in request target"}
	}
	if len(target) == 0 || target[0] != '/' {
		target = append([]byte{'/'}, target...) // rare: http://host?query
	}
	return target, authority, refusal{}
}

func cutPrefixFold(b []byte, lower string) ([]byte, bool) {
	if len(b) < len(lower) || !connector.EqualFold(b[:len(lower)], lower) {
		return b, false
	}
	return b[len(lower):], true
}

// fields keeps the end-to-end fields and reads the others. It returns the
// index of Host, or -1.
func (x *exchange) fields(h *head) (host int, _ refusal) {
	host = -1
	var te, cl []byte
	var closing bool
	for i := range h.names {
		name, value := h.names[i].of(x.raw), h.values[i].of(x.raw)
		switch fieldKind(name) {
		case kindHost:
			if host >= 0 {
				return host, refusal{400, "more than one Host header"}
			}
			host = len(x.Fields)
		case kindContentLength:
			if cl != nil {
				return host, refusal{400, "more than one Content-Length header"}
			}
			cl = value
			continue
		case kindTransferEncoding:
			if te != nil {
				return host, refusal{400, "more than one Transfer-Encoding header"}
			}
			te = value
			continue
		case kindExpect:
			if x.http10 {
				continue
			}
			if !connector.EqualFold(value, "100-continue") {
				return host, refusal{417, "unknown expectation"}
			}
			x.expect = true
			continue
		case kindConnection:
			if !x.connection(value, &closing) {
				return host, refusal{400, "too many names in Connection"}
			}
			continue
		case kindHop:
			if len(name) == len("upgrade") && connector.EqualFold(name, "upgrade") {
				x.upgrades(value)
			}
			continue
		}
		x.Fields = append(x.Fields, connector.Field{Name: name, Value: value})
	}
	if closing {
		x.keep = false // whatever else was said
	}
	if len(x.hop) > 0 {
		host = x.dropNamed()
	}
	switch {
	case te != nil && cl != nil:
		return host, refusal{400, "both Content-Length and Transfer-Encoding"}
	case te != nil && x.http10:
		return host, refusal{400, "Transfer-Encoding in HTTP/1.0"}
	case te != nil && !connector.EqualFold(te, "chunked"):
		return host, refusal{501, "unknown transfer coding"}
	case te != nil:
		x.ContentLength = -1
	case cl != nil:
		n, ok := parseLength(cl)
		if !ok {
			return host, refusal{400, "malformed Content-Length"}
		}
		x.ContentLength = n
	}
	if x.Upgrade != nil && (len(x.Upgrade) == 0 || x.http10 || x.ContentLength != 0 || string(x.Method) != "GET" || !x.isHop(upgradeName)) {
		x.Upgrade = nil
	}
	return host, refusal{}
}

var upgradeName = []byte("upgrade")

// upgrades takes a field Upgrade. Of more than one none counts: whoever is behind
// us could go by another one.
func (x *exchange) upgrades(value []byte) {
	if x.Upgrade == nil {
		x.Upgrade = value[:len(value):len(value)]
	} else {
		x.Upgrade = x.Upgrade[:0]
	}
}

// connection reads a Connection value and collects the fields that it names;
// false if there are too many.
func (x *exchange) connection(value []byte, closing *bool) bool {
	for len(value) > 0 {
		var tok []byte
		tok, value = nextToken(value)
		switch {
		case len(tok) == 0:
		case connector.EqualFold(tok, "close"):
			*closing = true
		case connector.EqualFold(tok, "keep-alive"):
			x.keep, x.keepTok = true, true
		case len(x.hop) == maxHopNames:
			return false
		default:
			x.hop = append(x.hop, tok)
		}
	}
	return true
}

// dropNamed removes the fields that Connection names; Host is no one's to
// drop. It returns the new index of Host.
func (x *exchange) dropNamed() int {
	kept := x.Fields[:0]
	host := -1
	for _, f := range x.Fields {
		isHost := fieldKind(f.Name) == kindHost
		if !isHost && x.isHop(f.Name) {
			continue
		}
		if isHost {
			host = len(kept)
		}
		kept = append(kept, f)
	}
	x.Fields = kept
	return host
}

func (x *exchange) isHop(name []byte) bool {
	for _, tok := range x.hop {
		if bytes.EqualFold(tok, name) {
			return true
		}
	}
	return false
}

// nextToken takes the first element of a comma-separated list.
func nextToken(list []byte) (tok, rest []byte) {
	tok, rest, _ = bytes.Cut(list, []byte{','})
	return bytes.Trim(tok, " \t"), rest
}

// parseLength reads a Content-Length: digits only, below 2^63.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n < 1<<63
}

// serverName finds the name and port the client meant.
func (x *exchange) serverName(host []byte, o *Options, localPort int) refusal {
	r := &x.Request
	r.ServerPort = localPort
	if len(host) == 0 {
		r.ServerName = connector.Numeric(r.LocalAddr)
		if o.ServerName != "" {
			r.ServerName = append(x.num[:0], o.ServerName...)
			x.num = r.ServerName
		}
		if o.ServerPort != 0 {
			r.ServerPort = o.ServerPort
		}
		return refusal{}
	}
	name, port := host, []byte(nil)
	if host[0] == '[' {
		end := bytes.IndexByte(host, ']')
		if end < 0 {
			return refusal{400, "malformed Host"}
		}
		name = host[1:end]
		// No zone: it means nothing here, and may hold any byte.
		if a, err := netip.ParseAddr(string(name)); err != nil || !a.Is6() || a.Zone() != "" {
			return refusal{400, "malformed Host"}
		}
		if rest := host[end+1:]; len(rest) > 0 {
			if rest[0] != ':' {
				return refusal{400, "malformed Host"}
			}
			port = rest[1:]
		}
	} else {
		if i := bytes.IndexByte(host, ':'); i >= 0 {
			name, port = host[:i], host[i+1:]
		}
		for _, c := range name {
			if !isHostByte[c] {
				return refusal{400, "malformed Host"}
			}
		}
	}
	if len(name) == 0 {
		return refusal{400, "malformed Host"}
	}
	if len(port) > 0 {
		n, ok := parseLength(port)
		if !ok || n > 65535 {
			return refusal{400, "malformed port in Host"}
		}
		r.ServerPort = int(n)
	}
	r.ServerName = name
	return refusal{}
}

// isHostByte has RFC 3986's reg-name without escapes.
var isHostByte = func() (t [256]bool) {
	for c := range t {
		t[c] = connector.IsTokenByte[c] && c != '#' && c != '%' && c != '^' && c != '`' && c != '|'
	}
	for _, c := range "()=;," {
		t[c] = true
	}
	return t
}()

// kind sorts request fields by what the front does with them.
type kind uint8

const (
	kindEndToEnd kind = iota
	kindHost
	kindContentLength
	kindTransferEncoding
	kindConnection
	kindExpect
	kindHop // any other hop-by-hop field
)

// fieldKind tells what a field is; the length decides most cases at once.
func fieldKind(name []byte) kind {
	switch len(name) {
	case 4:
		if connector.EqualFold(name, "host") {
			return kindHost
		}
	case 6:
		if connector.EqualFold(name, "expect") {
			return kindExpect
		}
	case 10:
		if connector.EqualFold(name, "connection") {
			return kindConnection
		}
	case 14:
		if connector.EqualFold(name, "content-length") {
			return kindContentLength
		}
	case 17:
		if connector.EqualFold(name, "transfer-encoding") {
			return kindTransferEncoding
		}
	case 18, 19:
		if connector.EqualFold(name, "proxy-authenticate") || connector.EqualFold(name, "proxy-authorization") {
			return kindHop
		}
	}
	if connector.HopByHop(name) {
		return kindHop
	}
	return kindEndToEnd
}

// setAddrs puts the connection's addresses into r as text and returns the port
// that the client connected to: for a Unix socket the one of ServerName, or 80.
func (x *exchange) setAddrs(remote, local net.Addr, serverPort int) (localPort int) {
	if _, ok := local.(*net.UnixAddr); ok {
		x.RemoteAddr, x.LocalAddr = []byte(connector.UnixAddr), []byte(connector.UnixAddr)
		x.RemotePort, x.client = []byte("0"), netip.Addr{}
		return cmp.Or(serverPort, 80)
	}
	text := func(a netip.Addr) []byte {
		if !a.IsValid() {
			a = netip.IPv4Unspecified() // the client has left before it was looked at
		}
		return []byte(a.Unmap().WithZone("").String())
	}
	from, to := addrPort(remote), addrPort(local)
	x.client = from.Addr().Unmap().WithZone("")
	x.RemoteAddr, x.LocalAddr = text(from.Addr()), text(to.Addr())
	x.RemotePort = strconv.AppendUint(nil, uint64(from.Port()), 10)
	return int(to.Port())
}

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(interface{ AddrPort() netip.AddrPort }); ok {
		return t.AddrPort()
	}
	return netip.AddrPort{}
}
