//go:build unix

package master

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/cloudflare/tableflip"

	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/shm"
)

// heritageName is what the socket is called on which one generation hands over
// to the next. It is all that goes through tableflip itself: that keeps what it
// passes on in an os.File, and the runtime's poller would watch a listener there
// and wake the master for each connection that a child accepts.
const heritageName = "jkd heritage"

// Bounds of what a generation takes from the one before.
const (
	maxOffer     = 1 << 20        // bytes of the offer
	maxInherited = 4096           // descriptors
	maxReport    = 16 << 10       // bytes of what goes wrong
	maxHeard     = maxReport + 64 // with what announce says
	socketBuffer = 128 << 10
)

// offer is what the old master sends first: a line of JSON. The descriptors
// follow in the order of Files, each with one byte. Fields that one of two
// builds does not know are ignored.
type offer struct {
	Generation uint32   // of the old one
	PID        int      // its own
	Files      []string // what the descriptors are, see the keys below
	// Sockets are the files of the listeners that have one.
	Sockets []sock.UnixFile `json:",omitempty"`
}

// The keys of descriptors.
func listenerKey(network, address string) string { return "listener " + network + " " + address }
func segmentKey(name string) string              { return "segment " + name }

// Heritage is a process's place in the line of generations: what it has from
// the one before, and how it hands over to the next. Begin makes it, once in a
// process. Its methods are the master's goroutine's, except Write.
type Heritage struct {
	u      *tableflip.Upgrader
	parent int // the old master; 0: there was none
	offer  offer
	files  map[string]int // what was inherited and not yet taken

	mu   sync.Mutex // guards up and room: whoever logs writes until ready closes it
	up   int        // where the old master hears of this start; -1: nowhere
	room int        // bytes that it may still hear of what goes wrong

	ours, theirs int // the socketpair for the next generation
}

// IsSuccessor tells whether this process was started by the generation before.
func IsSuccessor() bool { return os.Getenv(mpm.SuccessorVar) != "" }

// Begin takes over from the generation before, if there is one. It must be
// called before anything is opened and any process is started.
func Begin() (*Heritage, error) {
	h := &Heritage{up: -1, room: maxReport, files: make(map[string]int)}
	var err error
	if h.u, err = tableflip.New(tableflip.Options{UpgradeTimeout: upgradeTimeout}); err != nil {
		return nil, err
	}
	if h.u.HasParent() {
		// The ready and names pipes. A child that inherited the first could
		// report ready in our name.
		syscall.CloseOnExec(3)
		syscall.CloseOnExec(4)
		if err := h.inherit(); err != nil {
			return nil, fmt.Errorf("what the generation before hands over: %w", err)
		}
		// Not the parent of this process, which is another one if the old master
		// has been killed.
		h.parent = cmp.Or(h.offer.PID, os.Getppid())
	}
	pair, err := socketpair()
	if err != nil {
		return nil, err
	}
	h.ours, h.theirs = pair[0], pair[1]
	// tableflip keeps a copy of its own.
	fd, err := copyFD(h.theirs)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), heritageName)
	defer f.Close()
	return h, h.u.AddFile(heritageName, f)
}

// Parent is the process that this one replaces, 0 if there is none, as for a nil
// Heritage.
func (h *Heritage) Parent() int {
	if h == nil {
		return 0
	}
	return h.parent
}

// Generation is this process's.
func (h *Heritage) Generation() uint32 { return h.offer.Generation + 1 }

// Segment is a segment of the generation before, to be read; nil if it has none
// of that name or it cannot be read. It belongs to the caller.
func (h *Heritage) Segment(name string) *shm.Segment {
	fd := h.take(segmentKey(name))
	if fd < 0 {
		return nil
	}
	s, err := shm.AttachInherited(uintptr(fd))
	if err != nil {
		_ = syscall.Close(fd)
		return nil
	}
	return s
}

// File is a descriptor of the generation before, -1 if it has none of that name.
// It belongs to the caller.
func (h *Heritage) File(name string) int { return h.take(name) }

// socket is the file of a Unix socket that the generation before listens on, the
// zero value if it has none there.
func (h *Heritage) socket(path string) sock.UnixFile {
	if h != nil {
		for _, f := range h.offer.Sockets {
			if f.Path == path {
				return f
			}
		}
	}
	return sock.UnixFile{}
}

// take is the descriptor of a key, -1 if there is none, as for a nil Heritage.
func (h *Heritage) take(key string) int {
	if h == nil {
		return -1
	}
	fd, ok := h.files[key]
	if !ok {
		return -1
	}
	delete(h.files, key)
	return fd
}

// Write tells the old master, and whoever has asked it for the reload, what
// goes wrong with this start, as far as that is not too much. It always succeeds.
func (h *Heritage) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up >= 0 && len(p) <= h.room {
		h.room -= len(p)
		_, _ = syscall.Write(h.up, p)
	}
	return len(p), nil
}

// announce tells the old master who serves besides it, and what of its own that
// one has no use for.
func (h *Heritage) announce() {
	for key := range h.files {
		_, _ = fmt.Fprintf(h, "\n%s%s\n", withoutWord, key)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up >= 0 {
		_, _ = syscall.Write(h.up, fmt.Appendf(nil, "\n%s%d\n", readyWord, os.Getpid()))
	}
}

// hangUp ends what the old master hears.
func (h *Heritage) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.up >= 0 {
		_ = syscall.Close(h.up)
		h.up = -1
	}
}

// giveBack closes what was inherited and nobody has taken.
func (h *Heritage) giveBack() {
	for _, fd := range h.files {
		_ = syscall.Close(fd)
	}
	h.files = nil
}

// socketpair makes a pair of stream sockets, in non-blocking mode.
func socketpair() (pair [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if pair, err = syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
		return pair, fmt.Errorf("socketpair: %w", err)
	}
	for _, fd := range pair {
		syscall.CloseOnExec(fd)
		if err := syscall.SetNonblock(fd, true); err != nil {
			return pair, err
		}
		// Some hundred listeners are more than FreeBSD's default. Where it may
		// not be so much an offer that is too long fails, and with it the reload.
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, socketBuffer)
		_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_RCVBUF, socketBuffer)
	}
	return pair, nil
}

func copyFD(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	c, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(c)
	}
	return c, err
}

// inherit reads the offer. All of it was written before this process was
// started.
func (h *Heritage) inherit() error {
	f, err := h.u.File(heritageName)
	if err != nil {
		return err
	}
	if f == nil {
		return errors.New("nothing; is it jkd?")
	}
	if h.up, err = dup(f); err != nil {
		return err
	}
	_ = f.Close()
	h.offer, h.files, err = receive(h.up)
	return err
}

// receive reads an offer and the descriptors from a socket.
func receive(fd int) (o offer, files map[string]int, err error) {
	files = make(map[string]int)
	var line bytes.Buffer
	one := make([]byte, 1)
	for {
		n, err := syscall.Read(fd, one)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return o, files, err
		case n == 0:
			return o, files, io.ErrUnexpectedEOF
		case line.Len() == maxOffer:
			return o, files, errors.New("the list is too long")
		}
		if one[0] == '\n' {
			break
		}
		line.WriteByte(one[0])
	}
	if err := json.Unmarshal(line.Bytes(), &o); err != nil {
		return o, files, err
	}
	if len(o.Files) > maxInherited {
		return o, files, fmt.Errorf("%d descriptors", len(o.Files))
	}
	for _, key := range o.Files {
		got, err := receiveFD(fd)
		if err != nil {
			return o, files, fmt.Errorf("%s: %w", key, err)
		}
		if old, ok := files[key]; ok {
			_ = syscall.Close(old)
		}
		files[key] = got
	}
	return o, files, nil
}

// receiveFD reads one byte and the descriptor that comes with it.
func receiveFD(fd int) (int, error) {
	one, oob := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	n, k, _, _, err := syscall.Recvmsg(fd, one, oob, 0)
	if err != nil {
		return -1, err
	}
	if n == 0 {
		return -1, io.ErrUnexpectedEOF
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:k])
	if err != nil || len(messages) != 1 {
		return -1, errors.New("no descriptor came")
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.New("no descriptor came")
	}
	syscall.CloseOnExec(fds[0])
	return fds[0], nil
}

// send puts an offer and its descriptors into the socket.
func send(fd int, o offer, fds []int) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	for len(line) > 0 {
		n, err := syscall.Write(fd, line)
		if err != nil {
			return err
		}
		line = line[n:]
	}
	for i, f := range fds {
		if err := syscall.Sendmsg(fd, []byte{'.'}, syscall.UnixRights(f), nil, 0); err != nil {
			return fmt.Errorf("%s: %w", o.Files[i], err)
		}
	}
	return nil
}

// drain empties a socket, which may hold what an earlier successor has not read,
// and returns the bytes, at most maxHeard of them.
func drain(fd int) []byte {
	var all []byte
	buf, oob := make([]byte, 4096), make([]byte, syscall.CmsgSpace(4*16))
	for {
		n, k, _, _, err := syscall.Recvmsg(fd, buf, oob, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return all
		}
		if messages, err := syscall.ParseSocketControlMessage(oob[:k]); err == nil {
			for i := range messages {
				fds, _ := syscall.ParseUnixRights(&messages[i])
				for _, f := range fds {
					_ = syscall.Close(f)
				}
			}
		}
		all = append(all, buf[:min(n, max(0, maxHeard-len(all)))]...)
	}
}

// heard is what the successor has said since that was last asked. What it has not
// read of the offer is taken back.
func (h *Heritage) heard() []byte {
	drain(h.theirs)
	return drain(h.ours)
}

// report is what a successor has said, for a line of the log.
func report(b []byte) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(b), "?")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, readyWord) && !strings.HasPrefix(line, withoutWord) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// What a successor says when its children serve: readyWord and its pid, and
// withoutWord and the key of each descriptor that it has not taken.
const (
	readyWord   = "ready "
	withoutWord = "without "
)

// readyPID finds that in a report.
func readyPID(b []byte) (pid int) {
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(line, readyWord); ok {
			_, _ = fmt.Sscan(s, &pid)
		}
	}
	return pid
}

// without tells whether a report says that of a key.
func without(report []byte, key string) bool {
	return bytes.Contains(report, []byte("\n"+withoutWord+key+"\n"))
}

// adopted is an inherited TCP listener; addr is nil if it has none that can be told.
func adopted(fd int) (listener, error) {
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		return listener{}, err
	}
	var addr net.Addr
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		addr = &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}
	case *syscall.SockaddrInet6:
		addr = &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}
	default:
		return listener{}, errors.New("not a socket to listen on")
	}
	return listener{fd: fd, addr: addr}, nil
}
