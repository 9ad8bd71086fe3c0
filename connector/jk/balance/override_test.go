package balance

import (
	"fmt"
	"testing"
)

func TestOverride(t *testing.T) {
	names := []string{"node1", "node2", "node3"}
	for _, tt := range []struct {
		name                      string
		active, disabled, stopped []string
		want                      string // of active, disabled, stopped members
		unknown                   string
	}{
		{name: "none", want: "ACT DIS STP", unknown: "[]"},
		{name: "maint", disabled: []string{"node1"}, stopped: []string{"node2", "node3"}, want: "DIS STP STP", unknown: "[]"},
		{name: "half", stopped: []string{"node2"}, want: "ACT STP STP", unknown: "[]"},
		{name: "ghost", active: []string{"node9"}, want: "ACT DIS STP", unknown: "[node9]"},
		{name: "awake", active: []string{"node2", "node3"}, want: "ACT ACT ACT", unknown: "[]"},
		{name: "conflict: stopped is later", active: []string{"node1"}, disabled: []string{"node1"}, stopped: []string{"node1"}, want: "STP DIS STP", unknown: "[]"},
		{name: "conflict: disabled is later", active: []string{"node3"}, disabled: []string{"node3"}, want: "ACT DIS DIS", unknown: "[]"},
		{name: "unknown ones", active: []string{"x"}, disabled: []string{"y", "x", "node1"}, stopped: []string{"x"}, want: "DIS DIS STP", unknown: "[x y]"},
	} {
		o, unknown := NewOverride(names, tt.active, tt.disabled, tt.stopped)
		got := fmt.Sprint(o.Effective(0, Active), " ", o.Effective(1, Disabled), " ", o.Effective(2, Stopped))
		if got != tt.want || fmt.Sprint(unknown) != tt.unknown {
			t.Errorf("%s: %s unknown %v, want %s %s", tt.name, got, unknown, tt.want, tt.unknown)
		}
		if o.Effective(3, Disabled) != Disabled || o.Effective(-1, Active) != Active {
			t.Errorf("%s: others are changed", tt.name)
		}
	}
}
