package demo

import "strconv"

// First payload bytes.
const (
	codeForward = 2
	codeChunk   = 3
	codeHeaders = 4
	codeEnd     = 5
	codeGetBody = 6
	codeCPong   = 9
	codeCPing   = 10
)

// Attribute codes of FORWARD_REQUEST.
const (
	attrQuery        = 0x05
	attrPair         = 0x0A
	attrSSLKeySize   = 0x0B
	attrSecret       = 0x0C
	attrStoredMethod = 0x0D
	attrDone         = 0xFF
)

const (
	methodStored = 0xFF   // method byte: the name is in attribute 0D
	nullString   = 0xFFFF // length of "no string"
	chunkFrame   = 8      // bytes of a SEND_BODY_CHUNK packet that aren't data
	dataFrame    = 6      // bytes of a request body packet that aren't data
)

var methodNames = [...]string{
	1: "OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PROPFIND",
	"PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "ACL", "REPORT",
	"VERSION-CONTROL", "CHECKIN", "CHECKOUT", "UNCHECKOUT", "SEARCH",
	"MKWORKSPACE", "UPDATE", "LABEL", "MERGE", "BASELINE-CONTROL", "MKACTIVITY",
}

// headerNames are the names of request header codes A001 and up. Coded names
// have no case on the wire; they are shown in lower case.
var headerNames = [...]string{
	1: "accept", "accept-charset", "accept-encoding", "accept-language",
	"authorization", "connection", "content-type", "content-length", "cookie",
	"cookie2", "host", "pragma", "referer", "user-agent",
}

const (
	headerContentType   = 7
	headerContentLength = 8
	headerCookie        = 9
)

var attributeNames = [...]string{
	1: "context", "servlet_path", "remote_user", "auth_type", "query_string",
	"route", "ssl_cert", "ssl_cipher", "ssl_session", "", "ssl_key_size",
	"secret", "stored_method",
}

// answerCodes are the codes of answer header names, by exact spelling; the
// pages spell them so.
var answerCodes = map[string]uint16{
	"Content-Type": 0xA001, "Content-Language": 0xA002, "Content-Length": 0xA003,
	"Date": 0xA004, "Last-Modified": 0xA005, "Location": 0xA006,
	"Set-Cookie": 0xA007, "Set-Cookie2": 0xA008, "Servlet-Engine": 0xA009,
	"Status": 0xA00A, "WWW-Authenticate": 0xA00B,
}

var (
	packetCPong    = []byte{'A', 'B', 0, 1, codeCPong}
	packetEnd      = []byte{'A', 'B', 0, 2, codeEnd, 1}
	packetEndClose = []byte{'A', 'B', 0, 2, codeEnd, 0}
	packetFlush    = []byte{'A', 'B', 0, 4, codeChunk, 0, 0, 0}
)

// field is one header field of an answer.
type field struct{ name, value string }

// appendHeaders appends a SEND_HEADERS packet. The status number is its
// message, as in Tomcat since 8.5. The fields are the pages' own and small: they
// can't exceed a packet.
func appendHeaders(b []byte, status int, fields ...field) []byte {
	at := len(b)
	b = append(b, 'A', 'B', 0, 0, codeHeaders, byte(status>>8), byte(status))
	b = appendString(b, strconv.Itoa(status))
	b = append(b, byte(len(fields)>>8), byte(len(fields)))
	for _, f := range fields {
		if code := answerCodes[f.name]; code != 0 {
			b = append(b, byte(code>>8), byte(code))
		} else {
			b = appendString(b, f.name)
		}
		b = appendString(b, f.value)
	}
	n := len(b) - at - 4
	b[at+2], b[at+3] = byte(n>>8), byte(n)
	return b
}

func appendString(b []byte, s string) []byte {
	b = append(b, byte(len(s)>>8), byte(len(s)))
	return append(append(b, s...), 0)
}

// appendChunkHead appends what precedes n bytes of data in a SEND_BODY_CHUNK
// packet; a NUL follows them.
func appendChunkHead(b []byte, n int) []byte {
	return append(b, 'A', 'B', byte((n+4)>>8), byte(n+4), codeChunk, byte(n>>8), byte(n))
}

// appendBody appends p in as few SEND_BODY_CHUNK packets as size allows.
func appendBody(b, p []byte, size int) []byte {
	for len(p) > 0 {
		n := min(len(p), size-chunkFrame)
		b = appendChunkHead(b, n)
		b = append(append(b, p[:n]...), 0)
		p = p[n:]
	}
	return b
}
