package scoreboard

import (
	"bytes"
	"encoding/binary"
)

// Slot is the writer's handle of one worker record. One goroutine uses it at a
// time, the thread that fills the slot; Status may be called by anybody. No
// method allocates memory or waits. Times are Unix nanoseconds.
type Slot struct {
	r      *workerRecord
	thread int

	// Copies of what is in the record, which nobody else writes while this
	// handle is in use.
	access, bytes      uint64
	connBase, connByte uint64
	duration           uint64
	start              uint64
	inRequest          bool // between StartRequest and EndRequest
	text               [workerLength - workerText]uint64
}

func newSlot(r *workerRecord, thread int) *Slot {
	s := &Slot{
		r:        r,
		thread:   thread,
		access:   r[workerAccessCount].Load(),
		bytes:    r[workerBytesServed].Load(),
		connBase: r[workerConnBase].Load(),
		connByte: r[workerConnByteBase].Load(),
		duration: r[workerDuration].Load(),
		start:    r[workerStartTime].Load(),
	}
	for i := range s.text {
		s.text[i] = r[workerText+i].Load()
	}
	return s
}

// Thread is the slot's number in its child.
func (s *Slot) Thread() int { return s.thread }

// SetStatus tells what the thread does; it is a single store.
func (s *Slot) SetStatus(st Status) { s.r[workerStatus].Store(uint64(st)) }

// Status is what SetStatus said last; Dead if the record holds no status.
func (s *Slot) Status() Status { st, _ := status(s.r); return st }

// status reads a record's status; false if the word is none.
func status(r *workerRecord) (Status, bool) {
	if w := r[workerStatus].Load(); w < uint64(NumStatus) {
		return Status(w), true
	}
	return Dead, false
}

// StartConnection tells that a connection was accepted from client (a numeric
// address, cut to MaxClient bytes). What the connection has counted begins at
// zero, request, virtual host and protocol are emptied, and the status becomes
// BusyRead.
func (s *Slot) StartConnection(now int64, client []byte) {
	q := begin(&s.r[workerSeq])
	s.newConnection()
	s.r[workerLastUsed].Store(uint64(now))
	s.setText(workerClient, workerClientWords, client)
	s.setText(workerRequest, workerRequestWords, nil)
	s.setText(workerVHost, workerVHostWords, nil)
	s.setText(workerProtocol, workerProtocolWords, nil)
	end(&s.r[workerSeq], q)
	s.SetStatus(BusyRead)
}

// StartRequest tells that a request was read and is going to be served. The
// record shows the request line "method target protocol", cut to MaxRequest
// bytes and without the password of a URL, the protocol (MaxProtocol bytes)
// and the virtual host (MaxVHost bytes, "name:port"). The status becomes
// BusyWrite.
func (s *Slot) StartRequest(now int64, method, target, protocol, vhost []byte) {
	var buf [workerRequestWords * wordSize]byte
	n := copy(buf[:MaxRequest], method)
	n += copy(buf[n:MaxRequest], " ")
	head, rest := withoutPassword(target)
	n += copy(buf[n:MaxRequest], head)
	n += copy(buf[n:MaxRequest], rest)
	n += copy(buf[n:MaxRequest], " ")
	n += copy(buf[n:MaxRequest], protocol)

	q := begin(&s.r[workerSeq])
	s.start, s.inRequest = uint64(now), true
	s.r[workerStartTime].Store(s.start)
	s.r[workerLastUsed].Store(s.start)
	s.setText(workerRequest, workerRequestWords, buf[:n])
	s.setText(workerVHost, workerVHostWords, vhost)
	s.setText(workerProtocol, workerProtocolWords, protocol)
	end(&s.r[workerSeq], q)
	s.SetStatus(BusyWrite)
}

// EndRequest tells that an answer with n bytes of body was sent, or as many of
// them as could be. It counts one request and the bytes for the connection, the
// child and the slot, and adds the time since StartRequest to the slot's
// duration; without a StartRequest (the request could not be read) it took no
// time. The status becomes Logging.
func (s *Slot) EndRequest(now int64, n uint64) {
	q := begin(&s.r[workerSeq])
	if !s.inRequest {
		s.start = uint64(now)
		s.r[workerStartTime].Store(s.start)
	}
	s.inRequest = false
	s.access++
	s.bytes += n
	s.r[workerAccessCount].Store(s.access)
	s.r[workerBytesServed].Store(s.bytes)
	s.r[workerStopTime].Store(uint64(now))
	s.r[workerLastUsed].Store(uint64(now))
	// The clock may have been set back meanwhile.
	if d := now - int64(s.start); d > 0 {
		s.duration += uint64(d)
		s.r[workerDuration].Store(s.duration)
	}
	end(&s.r[workerSeq], q)
	s.SetStatus(Logging)
}

// SetReady tells that the thread waits for a connection. What the connection
// has counted becomes zero; the last request stays visible.
func (s *Slot) SetReady(now int64) {
	q := begin(&s.r[workerSeq])
	s.newConnection()
	s.inRequest = false
	s.r[workerLastUsed].Store(uint64(now))
	end(&s.r[workerSeq], q)
	s.SetStatus(Ready)
}

func (s *Slot) newConnection() {
	if s.connBase != s.access {
		s.connBase = s.access
		s.r[workerConnBase].Store(s.connBase)
	}
	if s.connByte != s.bytes {
		s.connByte = s.bytes
		s.r[workerConnByteBase].Store(s.connByte)
	}
}

// setText stores p, cut to fit, into the text of n words at word first. Words
// that do not change, and those behind the end of the text, are left alone: a
// store is what costs here.
func (s *Slot) setText(first, n int, p []byte) {
	p = p[:min(len(p), n*wordSize-1)]
	for i := first - workerText; ; i++ {
		w := pack(p)
		if s.text[i] != w {
			s.text[i] = w
			s.r[workerText+i].Store(w)
		}
		if len(p) < wordSize {
			return
		}
		p = p[wordSize:]
	}
}

// pack is the first eight bytes of p, zeros behind its end.
func pack(p []byte) uint64 {
	n := len(p)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(p)
	case n >= 4: // two halves, which may overlap
		return uint64(binary.LittleEndian.Uint32(p)) |
			uint64(binary.LittleEndian.Uint32(p[n-4:]))<<(8*(n-4))
	case n >= 2:
		return uint64(binary.LittleEndian.Uint16(p)) |
			uint64(binary.LittleEndian.Uint16(p[n-2:]))<<(8*(n-2))
	case n == 1:
		return uint64(p[0])
	}
	return 0
}

// withoutPassword cuts ":password" out of an absolute target
// ("http://user:password@host/") or of an authority (CONNECT); what is left is
// returned in two parts.
func withoutPassword(target []byte) (head, rest []byte) {
	if len(target) == 0 || target[0] == '/' {
		return target, nil
	}
	from := 0
	if i := bytes.Index(target, []byte("://")); i >= 0 {
		from = i + len("://")
	}
	authority := target[from:]
	if i := bytes.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := bytes.LastIndexByte(authority, '@')
	if at < 0 {
		return target, nil
	}
	colon := bytes.IndexByte(authority[:at], ':')
	if colon < 0 {
		return target, nil
	}
	return target[:from+colon], target[from+at:]
}
