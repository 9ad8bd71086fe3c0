package conf

import (
	"fmt"

	"jkd/conf/packed"
)

// Encode returns a snapshot of c for [Decode] in a process of the same binary.
func (c *Config) Encode() ([]byte, error) {
	b, err := packed.Append(nil, c)
	if err != nil {
		return nil, fmt.Errorf("conf: encode snapshot: %w", err)
	}
	return b, nil
}

// Decode reads what [Config.Encode] wrote. It does not keep b.
func Decode(b []byte) (*Config, error) {
	var c *Config
	err := packed.Decode(b, &c)
	if err == nil && c == nil {
		err = packed.ErrMalformed
	}
	if err != nil {
		return nil, fmt.Errorf("conf: decode snapshot: %w", err)
	}
	c.index()
	return c, nil
}
