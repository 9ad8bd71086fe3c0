//go:build unix

package main

import (
	"testing"
	"time"
)

func TestMaintainEvery(t *testing.T) {
	for _, tt := range []struct{ maintain, watchdog, want time.Duration }{
		{time.Minute, 0, time.Minute}, {time.Minute, time.Second, time.Minute}, {time.Minute, time.Hour, time.Hour}, {0, time.Hour, 0}, {-1, 0, 0},
	} {
		if got := maintainEvery(tt.maintain, tt.watchdog); got != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.maintain, tt.watchdog, got, tt.want)
		}
	}
}
