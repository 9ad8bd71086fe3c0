package jk

import (
	"errors"
	"time"

	"jkd/connector"
)

// A request that waits, for a connection or before it is tried again, is of no
// use once its client has left: it only keeps others waiting.

// errLeft says that the client left while its request waited.
var errLeft = errors.New("the client left while its request waited")

// leftEvery is how often a request that waits looks for its client.
const leftEvery = 100 * time.Millisecond

// leftError is the failure of such a request. Nobody will see its status.
func leftError(worker string) *connector.Error {
	return &connector.Error{Worker: worker, Op: "wait", Status: 400, Client: true, Err: errLeft}
}

// left tells whether the client has left, as far as the front can tell.
func (f *filter) left() bool {
	l, ok := f.w.(connector.Leaver)
	return ok && l.Left()
}

// pause waits for d, or until the client leaves, which makes it false.
func (f *filter) pause(d time.Duration) bool {
	for d > 0 {
		n := min(d, leftEvery)
		time.Sleep(n)
		d -= n
		if f.left() {
			return false
		}
	}
	return true
}

// watch looks for the client of a request that waits, and closes gone when it
// has left. It returns when stop is closed.
func (f *filter) watch(gone chan<- struct{}, stop <-chan struct{}) {
	t := time.NewTicker(leftEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			if f.left() {
				close(gone)
				return
			}
		}
	}
}
