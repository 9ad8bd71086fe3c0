package conf

import (
	"strings"
	"testing"
)

func TestAcceptFilter(t *testing.T) {
	for _, tt := range []struct {
		lines, want string
		warning     string // a part of it
		err         string // a part of it
	}{
		{"", "", "", ""},
		{"AcceptFilter = http httpready", FilterHTTP, "", ""},
		{"AcceptFilter = HTTP DataReady", FilterData, "", ""},
		{"AcceptFilter = http data\nAcceptFilter = https data", FilterData, "without TLS", ""},
		{"AcceptFilter = http data\nAcceptFilter = http none", FilterNone, "", ""},
		{"AcceptFilter = https none", "", "without TLS", ""},
		{"AcceptFilter = httpready", "", "", "a protocol and a filter"},
		{"AcceptFilter = ftp none", "", "", `"ftp"`},
		{"AcceptFilter = http htpready", "", "", "did you mean httpready"},
	} {
		text := []byte("[server]\nListen = 1\n" + tt.lines + "\n[connector.jk]\n\n")
		cfg, warnings, err := Parse("f", text, Options{})
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %q in it", tt.lines, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.lines, err)
			continue
		}
		if cfg.Server.AcceptFilter != tt.want {
			t.Errorf("%q: %q, want %q", tt.lines, cfg.Server.AcceptFilter, tt.want)
		}
		if got := strings.Join(texts(warnings), "\n"); (tt.warning == "") != (got == "") || !strings.Contains(got, tt.warning) {
			t.Errorf("%q: warnings %q, want %q in them", tt.lines, got, tt.warning)
		}
	}
}
