//go:build unix && !linux

package keeper

import (
	"errors"
	"time"
)

// monotonic is needed for systemd only, which runs on Linux only.
func monotonic() (time.Duration, error) { return 0, errors.ErrUnsupported }
