//go:build unix && !linux && !freebsd

package sock

import "errors"

func setFilter(_ int, f Filter) error {
	if f == FilterData || f == FilterHTTP {
		return errors.ErrUnsupported
	}
	return nil
}
