//go:build unix

package mpm

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// SuccessorVar is set in the environment of a master that is to replace the one
// that has started it; tableflip does that. A child must never believe it.
const SuccessorVar = "TABLEFLIP_HAS_PARENT_7DIU3"

// environ makes a child's environment from the master's: add holds name=value
// pairs that count where base does not set the name.
func environ(base, add []string) []string {
	set := make(map[string]bool, len(base))
	out := make([]string, 0, len(base)+len(add)+1)
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if name == childVar || name == SuccessorVar {
			continue
		}
		set[name] = true
		out = append(out, kv)
	}
	for _, kv := range add {
		if name, _, _ := strings.Cut(kv, "="); !set[name] {
			out = append(out, kv)
		}
	}
	return append(out, childVar+"=1")
}

// title is argument zero of a child. rc.subr and ps know the program by the
// part before the colon.
func title(module string, server int, generation uint32) string {
	return fmt.Sprintf("jkd: %s %d generation %d", module, server, generation)
}

// startProcess executes the child for one server index and begins the
// handshake. The error says which step failed; nothing is left then.
func (s *Supervisor) startProcess(server int) (int, *link, error) {
	masterFD, childFD, err := socketpair()
	if err != nil {
		return 0, nil, err
	}
	files := []uintptr{0, 1, 2, uintptr(childFD), s.o.BoardSegment.Fd()}
	var sizes []uint64
	for _, m := range s.o.Segments {
		if m == nil {
			files, sizes = append(files, s.placeholder), append(sizes, 0)
			continue
		}
		files, sizes = append(files, m.Fd()), append(sizes, uint64(m.Size()))
	}
	for _, fd := range s.o.Listeners {
		files = append(files, uintptr(fd))
	}
	for _, fd := range s.o.LogFiles {
		files = append(files, uintptr(fd))
	}
	attr := &syscall.ProcAttr{Env: s.environ, Files: files}
	if s.confinement.atStart() {
		attr.Sys = &syscall.SysProcAttr{Credential: s.o.Credential.attr()}
	}
	// Not os.StartProcess: it would need *os.File for the listeners, and
	// asking those for their descriptor switches the sockets, which other
	// processes share, to blocking mode.
	argv := []string{title(s.o.Module.Name, server, s.o.Generation)}
	pid, err := forkExec(executable(), argv, attr)
	_ = syscall.Close(childFD)
	if err != nil {
		_ = syscall.Close(masterFD)
		return 0, nil, &os.PathError{Op: "fork/exec", Path: executable(), Err: err}
	}
	h := hello{
		Build:       BuildID(),
		Server:      uint32(server),
		Generation:  s.o.Generation,
		ServerLimit: uint32(s.o.Module.ServerLimit),
		ThreadLimit: uint32(s.o.Module.ThreadLimit),
		BoardSize:   uint64(s.o.BoardSegment.Size()),
		Segments:    sizes,
		Listeners:   uint32(len(s.o.Listeners)),
		LogFiles:    uint32(len(s.o.LogFiles)),
		confinement: s.confinement,
	}
	head := appendFrame(nil, frameHello, h.append(nil))
	return pid, newLink(masterFD, head, s.snapshotFrame, &s.links), nil
}
