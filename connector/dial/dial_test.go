package dial

import (
	"errors"
	"net/netip"
	"testing"
	"time"
)

var list = []netip.AddrPort{
	netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("127.0.0.2:2"), netip.MustParseAddrPort("127.0.0.3:3"),
}

// TestAny: in order until one takes it, each with its share of the time.
func TestAny(t *testing.T) {
	refused := errors.New("refused")
	for at, want := range []string{"127.0.0.1:1", "127.0.0.2:2", "127.0.0.3:3"} {
		tried := 0
		c, addr, err := Any(list, time.Hour, func(a netip.AddrPort, timeout time.Duration) (int, error) {
			if most := time.Hour / time.Duration(len(list)-tried); a != list[tried] || timeout <= 0 || timeout > most {
				t.Errorf("%d: %s with %s, want %s with at most %s", tried, a, timeout, list[tried], most)
			}
			if tried++; tried <= at {
				return 0, refused
			}
			return 7, nil
		})
		if c != 7 || addr != want || err != nil || tried != at+1 {
			t.Errorf("%d, %s, %v after %d, want %s", c, addr, err, tried, want)
		}
	}
	if _, addr, err := Any(list, time.Hour, func(netip.AddrPort, time.Duration) (int, error) { return 0, refused }); addr != "127.0.0.3:3" || err != refused {
		t.Errorf("nobody takes it: %s, %v", addr, err)
	}
	never := func(netip.AddrPort, time.Duration) (int, error) { t.Error("was tried"); return 0, nil }
	if _, addr, err := Any(nil, time.Hour, never); addr != "" || err != errNone {
		t.Errorf("no address: %s, %v", addr, err)
	}
	if _, addr, err := Any(list, 0, never); addr != "" || err != errNone {
		t.Errorf("no time: %s, %v", addr, err)
	}
}
