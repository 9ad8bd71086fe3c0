package ajptest

// First payload bytes. Request body packets have none.
const (
	CodeForward  byte = 2  // FORWARD_REQUEST, f>b
	CodeChunk    byte = 3  // SEND_BODY_CHUNK, b>f
	CodeHeaders  byte = 4  // SEND_HEADERS, b>f
	CodeEnd      byte = 5  // END_RESPONSE, b>f
	CodeGetBody  byte = 6  // GET_BODY_CHUNK, b>f
	CodeShutdown byte = 7  // SHUTDOWN, f>b, never sent in service
	CodePing     byte = 8  // PING of the login phase, f>b, never sent in service
	CodeCPong    byte = 9  // CPONG, b>f
	CodeCPing    byte = 10 // CPING, f>b
)

// Attribute codes of FORWARD_REQUEST.
const (
	AttrContext      byte = 0x01
	AttrServletPath  byte = 0x02
	AttrRemoteUser   byte = 0x03
	AttrAuthType     byte = 0x04
	AttrQueryString  byte = 0x05
	AttrRoute        byte = 0x06
	AttrSSLCert      byte = 0x07
	AttrSSLCipher    byte = 0x08
	AttrSSLSession   byte = 0x09
	AttrReqAttribute byte = 0x0A // a pair of strings: name, value
	AttrSSLKeySize   byte = 0x0B // the only one with an int for a value
	AttrSecret       byte = 0x0C
	AttrStoredMethod byte = 0x0D
	AttrDone         byte = 0xFF
)

// MethodStored is the method byte that says "see attribute 0D".
const MethodStored byte = 0xFF

// Packet sizes, header included.
const (
	DefaultPacketSize = 8192
	MaxPacketSize     = 65536
)

const nullLength = 0xFFFF

// methods holds the names of method codes 1..27, in order.
var methods = [...]string{
	"OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK",
	"ACL", "REPORT", "VERSION-CONTROL", "CHECKIN", "CHECKOUT", "UNCHECKOUT",
	"SEARCH", "MKWORKSPACE", "UPDATE", "LABEL", "MERGE", "BASELINE-CONTROL",
	"MKACTIVITY",
}

// requestHeaders holds the names of header codes A001..A00E, in order.
var requestHeaders = [...]string{
	"accept", "accept-charset", "accept-encoding", "accept-language",
	"authorization", "connection", "content-type", "content-length",
	"cookie", "cookie2", "host", "pragma", "referer", "user-agent",
}

// responseHeaders holds the names of header codes A001..A00B, in order.
var responseHeaders = [...]string{
	"Content-Type", "Content-Language", "Content-Length", "Date",
	"Last-Modified", "Location", "Set-Cookie", "Set-Cookie2",
	"Servlet-Engine", "Status", "WWW-Authenticate",
}

var attributeNames = map[byte]string{
	AttrContext:      "context",
	AttrServletPath:  "servlet_path",
	AttrRemoteUser:   "remote_user",
	AttrAuthType:     "auth_type",
	AttrQueryString:  "query_string",
	AttrRoute:        "route",
	AttrSSLCert:      "ssl_cert",
	AttrSSLCipher:    "ssl_cipher",
	AttrSSLSession:   "ssl_session",
	AttrSSLKeySize:   "ssl_key_size",
	AttrSecret:       "secret",
	AttrStoredMethod: "stored_method",
}

// MethodName returns the name of a method code, "" if there is none.
func MethodName(code byte) string {
	if code < 1 || int(code) > len(methods) {
		return ""
	}
	return methods[code-1]
}

// MethodCode returns the code of a method name (exact spelling), or
// [MethodStored].
func MethodCode(name string) byte {
	for i, m := range methods {
		if m == name {
			return byte(i + 1)
		}
	}
	return MethodStored
}

// RequestHeaderName returns the name of a request header code such as
// 0xA00B, "" if there is none.
func RequestHeaderName(code uint16) string { return tableName(requestHeaders[:], code) }

// ResponseHeaderName is [RequestHeaderName] for answers.
func ResponseHeaderName(code uint16) string { return tableName(responseHeaders[:], code) }

func tableName(table []string, code uint16) string {
	n := int(code) - 0xA000
	if n < 1 || n > len(table) {
		return ""
	}
	return table[n-1]
}

// RequestHeaderCode returns the code of a request header name in any case, 0
// if it has none.
func RequestHeaderCode(name string) uint16 { return tableCode(requestHeaders[:], name) }

// ResponseHeaderCode is [RequestHeaderCode] for answers.
func ResponseHeaderCode(name string) uint16 { return tableCode(responseHeaders[:], name) }

func tableCode(table []string, name string) uint16 {
	for i, n := range table {
		if equalFold(n, name) {
			return uint16(0xA001 + i)
		}
	}
	return 0
}

// equalFold compares ASCII names; header names are never anything else.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
