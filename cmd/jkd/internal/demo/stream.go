package demo

import (
	"strconv"
	"time"
)

// events sends n server-sent events, one each ms milliseconds, each followed
// by a flush packet.
func events(a *answer, r *request) error {
	n, ok := number(r, "n", 10, 1, 1_000_000)
	ms, ok2 := number(r, "ms", 500, 0, 60_000)
	if !ok || !ok2 {
		return a.text(400, typeText, []byte("400: n must be 1..1000000, ms 0..60000\n"))
	}
	a.start(200, field{"Content-Type", "text/event-stream"}, field{"Cache-Control", "no-store"})
	if a.noBody {
		return nil
	}
	for i := int64(1); i <= n; i++ {
		if i > 1 {
			if err := a.c.s.wait(time.Duration(ms) * time.Millisecond); err != nil {
				return err
			}
		}
		k := strconv.FormatInt(i, 10)
		if err := a.write([]byte("id: " + k + "\ndata: event " + k + " of " + strconv.FormatInt(n, 10) + "\n\n")); err != nil {
			return err
		}
		if err := a.flush(); err != nil {
			return err
		}
	}
	return nil
}

// slow answers after ms milliseconds.
func slow(a *answer, r *request) error {
	ms, ok := number(r, "ms", 100, 0, 60_000)
	if !ok {
		return a.text(400, typeText, []byte("400: ms must be 0..60000\n"))
	}
	if err := a.c.s.wait(time.Duration(ms) * time.Millisecond); err != nil {
		return err
	}
	return a.text(200, typeText, []byte("slept "+strconv.FormatInt(ms, 10)+" ms\n"))
}

// wait waits for d, or fails when the container stops.
func (s *server) wait(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-s.done:
		return errClosed
	}
}

// period is a prime, so that no buffer size can hide a piece of a download
// that was lost, doubled or swapped.
const period = 251

// newPattern makes a packet's worth of bytes i mod period, from any remainder.
func newPattern(packetSize int) []byte {
	p := make([]byte, period+packetSize)
	for i := range p {
		p[i] = byte(i % period)
	}
	return p
}

// download sends size bytes; byte i is i mod 251.
func download(a *answer, r *request) error {
	size, ok := number(r, "size", 1<<20, 0, 1<<40)
	if !ok {
		return a.text(400, typeText, []byte("400: size must be 0..2^40\n"))
	}
	fields := []field{{"Content-Type", "application/octet-stream"}}
	if v, _ := r.param("length"); string(v) != "no" {
		fields = append(fields, field{"Content-Length", strconv.FormatInt(size, 10)})
	}
	a.start(200, fields...)
	if a.noBody {
		return nil
	}
	most := int64(a.c.s.opts.PacketSize - chunkFrame)
	for at := int64(0); at < size; {
		n := min(size-at, most)
		from := at % period
		if err := a.write(a.c.s.site.pattern[from : from+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}
