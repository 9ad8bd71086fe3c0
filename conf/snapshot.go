package conf

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxSnapshot bounds an encoded configuration, in bytes.
const MaxSnapshot = 32 << 20

// A snapshot is a mark, the length of what follows in four bytes, big end
// first, and the configuration in JSON. The length lets a reader stop there
// although the stream goes on.
const snapshotMark = "jkdc"

// Encode writes a snapshot of c for [Decode], in one Write.
func (c *Config) Encode(w io.Writer) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("conf: encode snapshot: %w", err)
	}
	if len(body) > MaxSnapshot {
		return fmt.Errorf("conf: encode snapshot: %d bytes, more than %d", len(body), MaxSnapshot)
	}
	out := binary.BigEndian.AppendUint32([]byte(snapshotMark), uint32(len(body)))
	if _, err := w.Write(append(out, body...)); err != nil {
		return fmt.Errorf("conf: write snapshot: %w", err)
	}
	return nil
}

// Decode reads what [Config.Encode] wrote and not a byte more.
func Decode(r io.Reader) (*Config, error) {
	var head [len(snapshotMark) + 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("conf: read snapshot: %w", err)
	}
	size := binary.BigEndian.Uint32(head[len(snapshotMark):])
	if string(head[:len(snapshotMark)]) != snapshotMark || size > MaxSnapshot {
		return nil, errors.New("conf: read snapshot: this is none")
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(size)))
	if err == nil && len(body) != int(size) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("conf: read snapshot: %w", err)
	}
	c := &Config{}
	if err := json.Unmarshal(body, c); err != nil {
		return nil, fmt.Errorf("conf: decode snapshot: %w", err)
	}
	c.index()
	return c, nil
}
