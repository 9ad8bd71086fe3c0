package jk

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever the parser accepts has room in the segment: what has not is refused
// with its line, and not when memory is formatted.
func TestSegmentTakesWhatIsAccepted(t *testing.T) {
	for _, value := range []string{
		"-2147483648", "-2147483647", "-1", "0", "1", "8192", "65535", "65536", "2147483647", "214748364", "4294967296",
		strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("x", 255), strings.Repeat("x", 256), "a\x00b", "\xff", "x", "A",
	} {
		accepted := 0
		for _, directive := range []string{
			"host", "port", "connection_pool_timeout", "cache_timeout", "ping_timeout", "connect_timeout", "prepost_timeout", "reply_timeout", "retries",
			"retry_interval", "connection_ping_interval", "ping_mode", "recovery_options", "busy_limit", "max_packet_size", "max_connections",
			"activation", "lbfactor", "route", "redirect", "domain", "distance",
			"lb.retries", "lb.retry_interval", "lb.recover_time", "lb.error_escalation_time", "lb.max_reply_timeouts", "lb.method", "lb.lock",
		} {
			name, ofLB := strings.CutPrefix(directive, "lb.")
			worker := "w"
			if ofLB {
				worker = "lb"
			}
			cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: fmt.Appendf(nil,
				"worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=w\nworker.w.ping_mode=A\nworker.%s.%s=%s\n", worker, name, value)})
			if err != nil {
				continue
			}
			accepted++
			if _, err := private(&Setup{Config: cfg}); err != nil {
				t.Errorf("%s=%.70q is accepted: %v", directive, value, err)
			}
		}
		t.Logf("%.20q: %d", value, accepted)
	}
}
