package connector

// HopByHop tells whether a field belongs to one connection and never goes on
// (RFC 9110 section 7.6.1). Connection and Transfer-Encoding, which do so too,
// are not among them: whoever passes a message on has to read those.
func HopByHop(name []byte) bool {
	switch len(name) {
	case 2:
		return EqualFold(name, "te")
	case 7:
		return EqualFold(name, "trailer") || EqualFold(name, "upgrade")
	case 10:
		return EqualFold(name, "keep-alive")
	case 16:
		return EqualFold(name, "proxy-connection")
	}
	return false
}
