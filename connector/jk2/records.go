package jk2

import (
	"sync"

	"github.com/rs/zerolog"

	"jkd/connector/jk2/jk2shm"
)

// records gives out the records of this process in jk2.shm, one for each
// endpoint of whatever worker.
type records struct {
	child *jk2shm.Child
	log   zerolog.Logger

	mu   sync.Mutex
	made int
}

func (r *records) begin(o Options) {
	r.log = o.Logger
	if o.Slots != nil {
		r.child = o.Slots.Child(o.Server)
	}
}

// of returns the function that makes the record of a worker's new endpoint.
// index is the worker's number in this process.
func (r *records) of(index int, name string) func() *jk2shm.Endpoint {
	return func() *jk2shm.Endpoint {
		if r.child == nil {
			return nil
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		e := r.child.Endpoint(r.made, index)
		if e == nil && r.made == jk2shm.MaxEndpoints {
			r.log.Warn().Str("worker", name).Int("records", jk2shm.MaxEndpoints).
				Msg("this process has more connections than there are records in the shared memory: what they do is not counted there")
		}
		r.made++
		return e
	}
}
