package proxy

import "testing"

func TestOffer(t *testing.T) {
	for _, tt := range []struct {
		u          Upgrade
		list, want string
	}{
		{Upgrade{}, "websocket", ""},
		{Upgrade{Protocol: "websocket"}, "", ""},
		{Upgrade{Protocol: "websocket"}, "WebSocket", "WebSocket"},
		{Upgrade{Protocol: "websocket"}, "h2c, websocket", "websocket"},
		{Upgrade{Protocol: "websocket"}, "foo/1, bar", ""},
		{Upgrade{Protocol: "h2c"}, "h2c", ""},
		{Upgrade{Any: true}, " foo/1 ,, h2c,H2 , websocket", "foo/1, websocket"},
		{Upgrade{Any: true}, "h2c", ""},
	} {
		if got := string(tt.u.offer(nil, []byte(tt.list))); got != tt.want {
			t.Errorf("%+v, %q: %q, want %q", tt.u, tt.list, got, tt.want)
		}
	}
}

func TestUpgradeParam(t *testing.T) {
	for text, want := range map[string]Upgrade{
		"ProxyPass = /a http://h/":                                       {},
		"ProxyPass = /a ws://h/":                                         {Protocol: "websocket"},
		"ProxyPass = /a ws://h/ upgrade=NONE":                            {},
		"ProxyPass = /a http://h/ upgrade=WebSocket":                     {Protocol: "websocket"},
		"ProxyPass = /a http://h/ upgrade=any":                           {Any: true},
		"ProxyPass = /a http://h/\nProxySet = http://h/ upgrade=foo/1.0": {Protocol: "foo/1.0"},
	} {
		s, _ := setup(t, "[proxy]\n"+text+"\n")
		got := s.Workers[0].Upgrade
		if u := s.Servers[0].Rules[0].Upgrade; u != nil {
			got = *u
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	// Each rule has its own, the back end is one.
	s, warnings := setup(t, "[proxy]\nProxyPass = /ws/ http://h/ upgrade=websocket\nProxyPass = /no/ ws://h/ upgrade=none retry=1\nProxyPass = / http://h/\n")
	if r := s.Servers[0].Rules; len(s.Workers) != 1 || r[0].Upgrade.Protocol != webSocket || *r[1].Upgrade != (Upgrade{}) || r[2].Upgrade != nil || len(warnings) > 0 {
		t.Errorf("%d workers, %+v, %v", len(s.Workers), r, warnings)
	}
}
