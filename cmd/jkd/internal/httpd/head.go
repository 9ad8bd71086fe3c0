package httpd

import (
	"bytes"

	"jkd/connector"
)

// span is a piece of a request head by its offsets.
type span struct{ from, to int }

func (s span) of(b []byte) []byte { return b[s.from:s.to:s.to] }

// head is the scan of one request head. Offsets count from its first byte.
type head struct {
	line   int // where the next line begins
	blank  int // empty lines before the request line
	seen   bool
	method span
	target span
	proto  span
	names  []span
	values []span
	minor  int // HTTP/1.minor
}

// limits are the Limit directives that concern a head.
type limits struct {
	line, fields, field int
}

// maxBlankLines is how many empty lines may precede a request line, for
// clients that end a body with one too many.
const maxBlankLines = 4

func (h *head) reset() {
	*h = head{names: h.names[:0], values: h.values[:0]}
}

// scan looks at what has been received of a head, taking up where it left off.
// It returns the length of the head when it is complete, 0 when more is
// needed, and the status of the refusal (400, 414, 505) with its reason.
func (h *head) scan(b []byte, l limits) (n, status int, reason string) {
	for {
		eol := bytes.IndexByte(b[h.line:], '\n')
		if eol < 0 {
			rest := len(b) - h.line
			size := rest
			if rest > 0 && b[len(b)-1] == '\r' {
				size-- // half of the line end
			}
			switch {
			case !h.seen && size > l.line:
				return 0, 414, "request line too long"
			case h.seen && size > l.field:
				return 0, 400, "header field too long"
			case !h.seen && rest > 0 && b[h.line] != '\r' && !connector.IsTokenByte[b[h.line]]:
				return 0, 400, "not an HTTP request" // TLS, most likely
			}
			// A carriage return with anything but a line feed behind it will
			// not become right by waiting.
			if i := bytes.IndexByte(b[h.line:], '\r'); i >= 0 && i < rest-1 {
				return 0, 400, "bare CR"
			}
			return 0, 0, ""
		}
		from, to := h.line, h.line+eol
		if eol == 0 || b[to-1] != '\r' {
			return 0, 400, "line not ended by CR LF"
		}
		to--
		h.line += eol + 1
		switch {
		case !h.seen && from == to:
			if h.blank++; h.blank > maxBlankLines {
				return 0, 400, "too many empty lines"
			}
			continue
		case !h.seen:
			if to-from > l.line {
				return 0, 414, "request line too long"
			}
			if status, reason := h.requestLine(b, from, to); status != 0 {
				return 0, status, reason
			}
			h.seen = true
		case from == to:
			return h.line, 0, ""
		default:
			if to-from > l.field {
				return 0, 400, "header field too long"
			}
			if l.fields > 0 && len(h.names) >= l.fields {
				return 0, 400, "too many header fields"
			}
			if reason := h.fieldLine(b, from, to); reason != "" {
				return 0, 400, reason
			}
		}
	}
}

func (h *head) requestLine(b []byte, from, to int) (int, string) {
	line := b[from:to]
	m := bytes.IndexByte(line, ' ')
	if m <= 0 {
		return 400, "malformed request line"
	}
	for _, c := range line[:m] {
		if !connector.IsTokenByte[c] {
			return 400, "malformed method"
		}
	}
	t := bytes.IndexByte(line[m+1:], ' ')
	if t <= 0 {
		return 400, "malformed request line"
	}
	t += m + 1
	for _, c := range line[m+1 : t] {
		if c <= ' ' || c == 0x7f {
			return 400, "control byte in request target"
		}
	}
	proto := line[t+1:]
	if len(proto) != 8 || string(proto[:5]) != "HTTP/" || !isDigit(proto[5]) || proto[6] != '.' || !isDigit(proto[7]) {
		return 400, "malformed protocol version"
	}
	if proto[5] != '1' {
		return 505, "unsupported protocol version"
	}
	h.method = span{from, from + m}
	h.target = span{from + m + 1, from + t}
	h.proto = span{from + t + 1, to}
	h.minor = int(proto[7] - '0')
	return 0, ""
}

func (h *head) fieldLine(b []byte, from, to int) string {
	colon, v, e, reason := splitField(b[from:to])
	if reason == "" {
		h.names = append(h.names, span{from, from + colon})
		h.values = append(h.values, span{from + v, from + e})
	}
	return reason
}

// splitField finds the parts of a field line that is not empty: the name is
// line[:colon], the value line[v:e].
func splitField(line []byte) (colon, v, e int, reason string) {
	if line[0] == ' ' || line[0] == '\t' {
		return 0, 0, 0, "folded header line"
	}
	colon = bytes.IndexByte(line, ':')
	if colon <= 0 {
		return 0, 0, 0, "header line without a name"
	}
	for _, c := range line[:colon] {
		if !connector.IsTokenByte[c] {
			return 0, 0, 0, "malformed header name"
		}
	}
	v, e = colon+1, len(line)
	for v < e && (line[v] == ' ' || line[v] == '\t') {
		v++
	}
	for e > v && (line[e-1] == ' ' || line[e-1] == '\t') {
		e--
	}
	for _, c := range line[v:e] {
		if c < ' ' && c != '\t' || c == 0x7f {
			return 0, 0, 0, "control byte in header value"
		}
	}
	return colon, v, e, ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
