//go:build unix

package mpmtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

// Params describe the module of one test. They travel to the children as the
// configuration snapshot.
type Params struct {
	Servers  int // most children
	Start    int // StartServers
	MinSpare int // idle children; a module that counts threads multiplies
	MaxSpare int
	Share    int           // MaxConnectionsPerChild
	Exit     int           // if not 0: children exit with this code before they are ready
	ExitFrom int           // only those with this server index or a higher one
	Hang     bool          // a master of its own never gets beyond OnReady
	Padding  string        // to make the snapshot long
	Maintain time.Duration // MaintainEvery; needs a segment from newMarks
}

// Factory makes the module under test.
type Factory func(Params) (mpm.Module, error)

// masterVar is set in the environment of a process that is to be a master.
const masterVar = "MPMTEST_MASTER"

// Main is TestMain of a module: besides a test, this process may be a child or
// a master.
func Main(m *testing.M, f Factory) {
	switch {
	case mpm.IsChild():
		os.Exit(int(childMain(f)))
	case os.Getenv(masterVar) != "":
		os.Exit(masterMain(f, os.Getenv(masterVar)))
	}
	if _, ok := os.LookupEnv("GORACE"); !ok {
		// The race detector makes every process sleep for a second at its
		// end; there are hundreds here.
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	os.Exit(m.Run())
}

func childMain(f Factory) mpm.ExitCode {
	c, snapshot, err := mpm.AttachChild()
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		if ae, ok := err.(*mpm.AttachError); ok {
			return ae.Code
		}
		return mpm.ExitSick
	}
	inherited := descriptors()
	var p Params
	if err := json.Unmarshal(snapshot, &p); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return mpm.ExitFatal
	}
	if p.Exit != 0 && c.Server >= p.ExitFrom {
		return mpm.ExitCode(p.Exit)
	}
	m, err := f(p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return mpm.ExitFatal
	}
	if p.Maintain > 0 {
		k := marksOf(c.Segments[0])
		c.MaintainEvery = p.Maintain
		c.Maintain = func(time.Time) { k.tick(c.Server) }
	}
	return m.Run(c, &handler{c: c, inherited: inherited, padding: len(p.Padding)})
}

// descriptors lists the open ones.
func descriptors() (list []int) {
	for fd := range 1024 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && !runtimes(fd) {
			list = append(list, fd)
		}
	}
	return list
}

// runtimes tells whether a descriptor is one that Go's runtime opens by itself:
// on Linux it watches the processor quota of its control group.
func runtimes(fd int) bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil && strings.HasPrefix(path, "/sys/fs/cgroup/")
}

// handler speaks a protocol of lines: one command, one answer. An answer that
// ends in CR LF is the last one on its connection.
type handler struct {
	c         *mpm.Child
	inherited []int
	padding   int
}

func (h *handler) ServeConn(c sock.Conn, seat *scoreboard.Seat) {
	defer c.Close()
	seat.Slot.StartConnection(time.Now().UnixNano(), []byte("127.0.0.1"))
	buf := make([]byte, 512)
	for first := true; ; first = false {
		line, err := h.read(c, buf, first)
		if err != nil {
			return
		}
		slot := seat.Slot
		slot.StartRequest(time.Now().UnixNano(), []byte("LINE"), []byte(line), nil, nil)
		answer, end := h.answer(c, buf, line), "\n"
		last := h.c.Stopping()
		if last {
			end = "\r\n"
		}
		answer += end
		if _, err := c.Write([]byte(answer)); err != nil {
			return
		}
		slot.EndRequest(time.Now().UnixNano(), uint64(len(answer)))
		if last {
			slot.SetStatus(scoreboard.Closing)
			return
		}
		slot.SetStatus(scoreboard.KeepAlive)
	}
}

// read reads one line, which the client sends in one piece. A connection that
// was accepted has a right to its first request.
func (h *handler) read(c sock.Conn, buf []byte, first bool) (string, error) {
	var n int
	var err error
	if first {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		n, err = c.Read(buf)
	} else {
		n, err = c.ReadIdle(buf, time.Minute)
	}
	return strings.TrimSpace(string(buf[:n])), err
}

func (h *handler) answer(c sock.Conn, buf []byte, line string) string {
	command, arg, _ := strings.Cut(line, " ")
	switch command {
	case "who":
		return fmt.Sprintf("%d %d", h.c.Server, os.Getpid())
	case "hold": // a request that runs until the client says otherwise
		_, _ = c.Write([]byte("held\n"))
		_ = c.SetReadDeadline(time.Time{})
		_, _ = c.Read(buf)
		return "released"
	case "leave": // a request that runs until the child was told to leave
		_, _ = c.Write([]byte("waits\n"))
		for !h.c.Stopping() {
			nap()
		}
		return fmt.Sprint(marksOf(h.c.Segments[0]).at(h.c.Server, ticks).Load())
	case "exit":
		var code int
		_, _ = fmt.Sscan(arg, &code)
		os.Exit(code)
	case "env":
		v, ok := os.LookupEnv(arg)
		return fmt.Sprintf("%t %s", ok, v)
	case "inherited":
		return fmt.Sprint(h.inherited)
	case "title":
		return os.Args[0]
	case "padding":
		return fmt.Sprint(h.padding)
	case "ids":
		groups, _ := os.Getgroups()
		return fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), groups)
	case "see": // a path
		var st unix.Stat_t
		return fmt.Sprint(unix.Stat(arg, &st))
	case "zone":
		name, offset := time.Now().Zone()
		return fmt.Sprint(name, " ", offset)
	case "crash":
		go panic("as the test wants it")
		select {}
	case "scribble": // what a hijacked child could do
		return scribble()
	case "log": // to the first log file
		_, err := unix.Write(h.c.LogFiles[0], []byte(arg))
		return fmt.Sprint(err)
	}
	return "?"
}

func scribble() string {
	var st unix.Stat_t
	if err := unix.Fstat(mpm.FDScoreboard, &st); err != nil {
		return err.Error()
	}
	mem, err := unix.Mmap(mpm.FDScoreboard, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err.Error()
	}
	_, _ = rand.Read(mem)
	return "done"
}
