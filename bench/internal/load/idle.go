package load

import (
	"sync"
	"time"
)

// Held are connections on which nothing happens.
type Held struct {
	lines []*line
	// Served are those of which the first request was answered.
	Served int
}

// Hold opens n connections, has one request answered on each of them, and keeps
// them. A server that cannot serve them has timeout for each.
func Hold(url string, n int, timeout time.Duration) (*Held, error) {
	c := &Client{URL: url, KeepAlive: true, Timeout: timeout}
	head, address, err := c.head()
	if err != nil {
		return nil, err
	}
	h := &Held{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	free := make(chan struct{}, 250) // at once
	for range n {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			l := &line{client: c, head: head, address: address}
			err := l.exchange()
			mu.Lock()
			defer mu.Unlock()
			if err == nil && l.nc != nil {
				h.lines = append(h.lines, l)
				h.Served++
			}
		})
	}
	wg.Wait()
	return h, nil
}

// Close closes them.
func (h *Held) Close() {
	for _, l := range h.lines {
		l.close()
	}
}
