package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"jkd/connector"
)

// Upgrade is the parameter upgrade of a rule or a worker: which protocols a
// connection may go on with if the client asks for it and the back end agrees.
type Upgrade struct {
	// Protocol is one, in lower case; "" for none. Any is upgrade=ANY: whatever
	// the client asks for.
	Protocol string
	Any      bool
}

// webSocket is what ws:// stands for.
const webSocket = "websocket"

var errUpgrade = errors.New("upgrade: is for HTTP")

// parseUpgrade reads a protocol, ANY or NONE.
func parseUpgrade(s string) (Upgrade, error) {
	switch {
	case strings.EqualFold(s, "ANY"):
		return Upgrade{Any: true}, nil
	case strings.EqualFold(s, "NONE"):
		return Upgrade{}, nil
	case len(s) > 96 || strings.ContainsFunc(s, func(c rune) bool { return c > 0x7e || c != '/' && !connector.IsTokenByte[c] }):
		return Upgrade{}, fmt.Errorf("%q is no protocol", s)
	}
	return Upgrade{Protocol: strings.ToLower(s)}, nil
}

// offer appends those protocols of a client's list that the back end is told of.
// HTTP/2 is never among them: its requests would go by no rule.
func (u Upgrade) offer(b, list []byte) []byte {
	if !u.Any && u.Protocol == "" {
		return b
	}
	for len(list) > 0 {
		var p []byte
		p, list, _ = bytes.Cut(list, []byte{','})
		p = bytes.Trim(p, " \t")
		switch {
		case len(p) == 0 || connector.EqualFold(p, "h2c") || connector.EqualFold(p, "h2"):
			continue
		case !u.Any && !connector.EqualFold(p, u.Protocol):
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, p...)
	}
	return b
}
