package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"jkd/connector"
)

const (
	// maxHead bounds the head of an answer, in bytes.
	maxHead = 64 << 10
	// maxFields bounds its header fields.
	maxFields = 512
	// maxInterim is how many informational answers may come before the answer.
	maxInterim = 16
)

// head is the head of an answer. Its slices point into what it was read from.
type head struct {
	status  int
	minor   int // of HTTP/1.
	length  int64
	chunked bool
	closing bool // Connection: close
	keep    bool // Connection: keep-alive
	fields  []connector.Field
	hop     [][]byte // fields that Connection names
	upgrade []byte   // Upgrade; several make it ""
	second  fasthttp.ResponseHeader
	again   bytes.Reader
	br      *bufio.Reader
}

// headEnd is the length of the head that b begins with, 0 if more is needed.
// from is where to go on looking and what to remember for the next call.
func headEnd(b []byte, from *int) (int, error) {
	for {
		i := bytes.IndexByte(b[*from:], '\n')
		if i < 0 {
			if len(b) >= maxHead {
				return 0, fault("the head of the answer is too long")
			}
			return 0, nil
		}
		at := *from + i
		if at == 0 || b[at-1] != '\r' {
			return 0, fault("a line of the head does not end with CR LF")
		}
		if i == 1 { // an empty line
			if *from == 0 {
				return 0, fault("the answer begins with an empty line")
			}
			return at + 1, nil
		}
		if *from = at + 1; *from > maxHead {
			return 0, fault("the head of the answer is too long")
		}
	}
}

// parse reads a head, of which b is all, the empty line included.
func (h *head) parse(b []byte) error {
	h.status, h.minor, h.length, h.chunked, h.closing, h.keep = 0, 0, -1, false, false, false
	h.fields, h.hop, h.upgrade = h.fields[:0], h.hop[:0], nil
	line, rest := cutLine(b)
	if err := h.statusLine(line); err != nil {
		return err
	}
	var lengths, codings int
	for {
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		name, value, err := splitField(line)
		if err != nil {
			return err
		}
		if len(h.fields) == maxFields {
			return fault("too many header fields")
		}
		switch len(name) {
		case len("upgrade"):
			if connector.EqualFold(name, "upgrade") {
				if h.upgrade != nil {
					value = value[:0]
				}
				h.upgrade = value
				continue
			}
		case len("connection"):
			if connector.EqualFold(name, "connection") {
				if err := h.connection(value); err != nil {
					return err
				}
				continue
			}
		case len("content-length"):
			if connector.EqualFold(name, "content-length") {
				if lengths++; lengths > 1 {
					return fault("more than one Content-Length")
				}
				if h.length, err = parseLength(value); err != nil {
					return err
				}
				continue
			}
		case len("transfer-encoding"):
			if connector.EqualFold(name, "transfer-encoding") {
				if codings++; codings > 1 {
					return fault("more than one Transfer-Encoding")
				}
				if !connector.EqualFold(value, "chunked") {
					return fault(fmt.Sprintf("unknown transfer coding %.40q", value))
				}
				h.chunked = true
				continue
			}
		}
		h.fields = append(h.fields, connector.Field{Name: name, Value: value})
	}
	switch {
	case codings > 0 && lengths > 0:
		return fault("both Content-Length and Transfer-Encoding")
	case codings > 0 && h.minor == 0:
		return fault("Transfer-Encoding in HTTP/1.0")
	}
	h.dropNamed()
	return h.compare(b)
}

// compare has fasthttp read the same head: it must come to the same status and
// length.
func (h *head) compare(b []byte) error {
	if h.status < 200 || h.status == 204 || h.status == 304 {
		return nil // no length counts
	}
	h.again.Reset(b)
	if h.br == nil {
		h.br = bufio.NewReaderSize(&h.again, 4096)
	}
	if len(b) > h.br.Size() {
		h.br = bufio.NewReaderSize(&h.again, maxHead+4096)
	}
	h.br.Reset(&h.again)
	h.second.Reset()
	h.second.DisableNormalizing()
	if err := h.second.Read(h.br); err != nil {
		return fault("the head of the answer can't be read: " + fmt.Sprintf("%.80q", err.Error()))
	}
	want := int(h.length)
	switch {
	case h.chunked:
		want = -1
	case h.length < 0:
		want = -2
	}
	if got := h.second.ContentLength(); h.second.StatusCode() != h.status || h.br.Buffered()+h.again.Len() != 0 || got != want {
		return fault("the head of the answer can be read in more than one way")
	}
	return nil
}

// cutLine takes a line off b, which has been seen to be made of lines that end
// with CR LF.
func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	return b[: i-1 : i-1], b[i+1:]
}

func (h *head) statusLine(line []byte) error {
	// HTTP/1.1 200 OK
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[7] < '0' || line[7] > '9' || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return fault(fmt.Sprintf("the answer begins with %.40q, which is no status line", line))
	}
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return fault("the status is no number")
		}
		h.status = 10*h.status + int(c-'0')
	}
	if h.status < 100 {
		return fault("the status is below 100")
	}
	for _, c := range line[12:] {
		if c < ' ' && c != '\t' || c == 0x7f {
			return fault("a control character in the status line")
		}
	}
	h.minor = int(line[7] - '0')
	return nil
}

// splitField reads a line of a header or trailer.
func splitField(line []byte) (name, value []byte, err error) {
	if line[0] == ' ' || line[0] == '\t' {
		return nil, nil, fault("a folded header line")
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, fault("a header line without a name")
	}
	for _, c := range line[:colon] {
		if !connector.IsTokenByte[c] {
			return nil, nil, fault("a malformed header name")
		}
	}
	v, e := colon+1, len(line)
	for v < e && (line[v] == ' ' || line[v] == '\t') {
		v++
	}
	for e > v && (line[e-1] == ' ' || line[e-1] == '\t') {
		e--
	}
	for _, c := range line[v:e] {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, fault("a control character in a header value")
		}
	}
	return line[:colon:colon], line[v:e:e], nil
}

func parseLength(b []byte) (int64, error) {
	if len(b) == 0 || len(b) > 18 {
		return 0, fault("a malformed Content-Length")
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, fault("a malformed Content-Length")
		}
		n = n*10 + int64(c-'0')
	}
	return n, nil
}

// maxHopNames bounds how many fields Connection may name.
const maxHopNames = 32

func (h *head) connection(value []byte) error {
	for len(value) > 0 {
		var token []byte
		token, value, _ = bytes.Cut(value, []byte{','})
		token = bytes.Trim(token, " \t")
		switch {
		case len(token) == 0:
		case connector.EqualFold(token, "close"):
			h.closing = true
		case connector.EqualFold(token, "keep-alive"):
			h.keep = true
		case len(h.hop) == maxHopNames:
			return fault("too many names in Connection")
		default:
			h.hop = append(h.hop, token)
		}
	}
	return nil
}

// dropNamed drops the fields that are for this connection only.
func (h *head) dropNamed() {
	kept := h.fields[:0]
next:
	for _, f := range h.fields {
		if connector.HopByHop(f.Name) {
			continue
		}
		for _, name := range h.hop {
			if bytes.EqualFold(name, f.Name) {
				continue next
			}
		}
		kept = append(kept, f)
	}
	h.fields = kept
}

// persistent tells whether the connection may carry another request.
func (h *head) persistent() bool {
	return !h.closing && (h.minor > 0 || h.keep)
}

// upgradeTo tells whether a 101 is about one of the protocols that were offered.
func (h *head) upgradeTo(offer []byte) error {
	if len(offer) == 0 {
		return fault("status 101, but no upgrade was asked for")
	}
	named := slices.ContainsFunc(h.hop, func(name []byte) bool { return connector.EqualFold(name, "upgrade") })
	if h.minor == 0 || !named || len(h.upgrade) == 0 {
		return fault("status 101 without Connection: Upgrade and one Upgrade")
	}
	for protocol := range strings.SplitSeq(string(offer), ",") {
		if strings.EqualFold(strings.TrimSpace(protocol), string(h.upgrade)) {
			return nil
		}
	}
	return fault(fmt.Sprintf("status 101 with the protocol %.40q, which was not offered", h.upgrade))
}
