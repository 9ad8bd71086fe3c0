package connector

import "testing"

func TestHopByHop(t *testing.T) {
	for name, want := range map[string]bool{
		"TE": true, "te": true, "Trailer": true, "Upgrade": true, "Keep-Alive": true, "Proxy-Connection": true,
		"": false, "T": false, "Connection": false, "Transfer-Encoding": false, "Content-Length": false, "Keep-Alives": false, "Referer": false,
	} {
		if got := HopByHop([]byte(name)); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
