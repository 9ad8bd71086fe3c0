package connector

import (
	"bytes"
	"strconv"
	"strings"
)

// SameOrigin tells whether what a browser says of the origin of a request
// (header fields Sec-Fetch-Site, Origin and Host, "" for an absent one), if it
// says anything, is that it was a page of the same server or the user himself.
// Pages that change something ask it, so that no other site can.
func SameOrigin(secFetchSite, origin, host string) bool {
	switch strings.ToLower(secFetchSite) {
	case "", "none", "same-origin":
	default:
		return false
	}
	if origin == "" {
		return true
	}
	scheme, from, ok := strings.Cut(strings.ToLower(origin), "://")
	if !ok || from == "" {
		return false // also "null", which has no origin
	}
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	return strings.TrimSuffix(from, port) == strings.TrimSuffix(strings.ToLower(host), port)
}

// AppendOrigin appends scheme, host and port of this server as the client called
// it: the beginning of an absolute URL.
func (r *Request) AppendOrigin(b []byte) []byte {
	scheme, usual := "http", 80
	if r.Secure {
		scheme, usual = "https", 443
	}
	b = append(append(b, scheme...), "://"...)
	if bytes.IndexByte(r.ServerName, ':') >= 0 {
		b = append(append(append(b, '['), r.ServerName...), ']')
	} else {
		b = append(b, r.ServerName...)
	}
	if r.ServerPort != usual {
		b = strconv.AppendInt(append(b, ':'), int64(r.ServerPort), 10)
	}
	return b
}
