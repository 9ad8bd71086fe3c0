//go:build unix && !linux && !freebsd

package sock

import "errors"

func peer(int) (uid int, err error) { return -1, errors.ErrUnsupported }
