package ajp

import "jkd/connector"

// Packet sizes in bytes, head included (mod_jk max_packet_size).
const (
	DefaultPacketSize = 8192
	MaxPacketSize     = 65536
)

// Every packet begins with two magic bytes and the length of its payload.
const (
	headLen = 4
	// bodyHeadLen is what a request body packet adds to its data: the head
	// and the length of the data.
	bodyHeadLen = headLen + 2
	// maxPayload is what the 16-bit length can say.
	maxPayload = 0xFFFF
)

// Prefix codes, the first payload byte of every packet but request body data.
const (
	codeForwardRequest = 0x02
	codeSendBodyChunk  = 0x03
	codeSendHeaders    = 0x04
	codeEndResponse    = 0x05
	codeGetBodyChunk   = 0x06
	codeCPong          = 0x09
	codeCPing          = 0x0A
)

// Attribute codes of FORWARD_REQUEST.
const (
	attrRemoteUser   = 0x03
	attrAuthType     = 0x04
	attrQueryString  = 0x05
	attrRoute        = 0x06
	attrSSLCert      = 0x07
	attrSSLCipher    = 0x08
	attrSSLSession   = 0x09
	attrRequest      = 0x0A // name and value
	attrSSLKeySize   = 0x0B // an integer, not a string
	attrSecret       = 0x0C
	attrStoredMethod = 0x0D
	attrDone         = 0xFF
)

// methodStored says that the method's name is in attribute 0x0D.
const methodStored = 0xFF

// methodCode returns the number of a method. Names are case-sensitive; what
// has no number is sent by name.
func methodCode(m []byte) byte {
	switch string(m) {
	case "OPTIONS":
		return 1
	case "GET":
		return 2
	case "HEAD":
		return 3
	case "POST":
		return 4
	case "PUT":
		return 5
	case "DELETE":
		return 6
	case "TRACE":
		return 7
	case "PROPFIND":
		return 8
	case "PROPPATCH":
		return 9
	case "MKCOL":
		return 10
	case "COPY":
		return 11
	case "MOVE":
		return 12
	case "LOCK":
		return 13
	case "UNLOCK":
		return 14
	case "ACL":
		return 15
	case "REPORT":
		return 16
	case "VERSION-CONTROL":
		return 17
	case "CHECKIN":
		return 18
	case "CHECKOUT":
		return 19
	case "UNCHECKOUT":
		return 20
	case "SEARCH":
		return 21
	case "MKWORKSPACE":
		return 22
	case "UPDATE":
		return 23
	case "LABEL":
		return 24
	case "MERGE":
		return 25
	case "BASELINE-CONTROL":
		return 26
	case "MKACTIVITY":
		return 27
	}
	return methodStored
}

// requestHeaders are the coded request header names in the order of their
// codes: the first is 0xA001.
var requestHeaders = [...]string{
	"accept", "accept-charset", "accept-encoding", "accept-language",
	"authorization", "connection", "content-type", "content-length",
	"cookie", "cookie2", "host", "pragma", "referer", "user-agent",
}

const headerContentLength = 0x08

// headerCode returns the low byte of a request header's code, or 0. The names
// are told apart by length first, so that most headers cost one comparison.
func headerCode(name []byte) byte {
	c := byte(0)
	switch len(name) {
	case 4:
		c = 0x0B
	case 6:
		switch name[0] | 0x20 {
		case 'a':
			c = 0x01
		case 'c':
			c = 0x09
		case 'p':
			c = 0x0C
		}
	case 7:
		switch name[0] | 0x20 {
		case 'c':
			c = 0x0A
		case 'r':
			c = 0x0D
		}
	case 10:
		switch name[0] | 0x20 {
		case 'c':
			c = 0x06
		case 'u':
			c = 0x0E
		}
	case 12:
		c = 0x07
	case 13:
		c = 0x05
	case 14:
		switch name[0] | 0x20 {
		case 'a':
			c = 0x02
		case 'c':
			c = headerContentLength
		}
	case 15:
		switch name[7] | 0x20 {
		case 'e':
			c = 0x03
		case 'l':
			c = 0x04
		}
	}
	if c == 0 || !connector.EqualFold(name, requestHeaders[c-1]) {
		return 0
	}
	return c
}

// responseHeaders are the coded response header names: the first is 0xA001.
var responseHeaders = [...][]byte{
	[]byte("Content-Type"), []byte("Content-Language"), []byte("Content-Length"),
	[]byte("Date"), []byte("Last-Modified"), []byte("Location"),
	[]byte("Set-Cookie"), []byte("Set-Cookie2"), []byte("Servlet-Engine"),
	[]byte("Status"), []byte("WWW-Authenticate"),
}
