package jkshm

import (
	"fmt"
	"sync/atomic"

	"jkd/connector/sheet"
)

// Map is the text of one map file (JkMountFile), published by the master for
// the children, who do not read files.
type Map struct {
	seg   *Segment
	index int
	text  sheet.Sheet
}

func (m *Map) init(s *Segment, i, size int, w []atomic.Uint64) {
	*m = Map{seg: s, index: i, text: sheet.New(w, size)}
}

// Size is the most bytes a text may have.
func (m *Map) Size() int { return m.text.Room() }

// Publish makes data the text, of a file last changed at mtime (Unix ns). It is
// an error, and the old text stays, when it is larger than Size. Only one
// goroutine of the master calls it.
func (m *Map) Publish(data []byte, mtime int64) error {
	if err := m.text.Write(data, mtime); err != nil {
		return fmt.Errorf("jkshm: map file %d: %w", m.index, err)
	}
	m.seg.edits.Add(1)
	return nil
}

// Generation changes with every Publish; 0: there was none. One atomic load.
func (m *Map) Generation() uint64 { return m.text.Generation() }

// Load appends the text to dst and returns it with its mtime and generation. ok
// is false, and dst unchanged, when nothing was published or when texts came
// faster than they could be copied.
func (m *Map) Load(dst []byte) (text []byte, mtime int64, generation uint64, ok bool) {
	return m.text.Read(dst)
}
