package connector

import "strings"

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
