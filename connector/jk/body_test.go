package jk

import (
	"io"
	"sync"
)

// gatedReader is a body that comes when its gate opens.
type gatedReader struct {
	once    sync.Once
	arrived chan struct{} // closed when it is first read
	gate    chan struct{}
	r       io.Reader
}

func (b *gatedReader) Read(p []byte) (int, error) {
	b.once.Do(func() { close(b.arrived) })
	<-b.gate
	return b.r.Read(p)
}

// brokenReader is a body that fails after its first bytes.
type brokenReader struct {
	left int
	err  error
}

func (b *brokenReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}
