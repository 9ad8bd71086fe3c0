//go:build unix

package master

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// pidFile is the PidFile: for one pid and a newline, readable by all. It is
// made ready at the start, when failing is cheap, and published by rename.
// Publishing and removing may come from different goroutines; after remove,
// publish does nothing.
type pidFile struct {
	path string
	mu   sync.Mutex
	tmp  string // prepared, not published yet; empty: none; guarded by mu
}

// preparePidFile checks that no other process holds the file and that it can
// be written. parent may be named in it: the process that this one replaces;
// 0: none. An empty path means that there is no pid file.
func preparePidFile(path string, parent int) (*pidFile, error) {
	p := &pidFile{path: path}
	if path == "" {
		return p, nil
	}
	if pid, ok := readPid(path); ok && pid != os.Getpid() && pid != parent && holds(pid) {
		return nil, fmt.Errorf("PidFile %s: process %d is running already; if it is not jkd, remove the file", path, pid)
	}
	// Always the same name, so that what a process has left there that was killed
	// before it was ready goes with the next start.
	tmp := path + ".new"
	if pid, ok := readPid(tmp); ok && parent == 0 && pid != os.Getpid() && holds(pid) {
		return nil, fmt.Errorf("PidFile %s: process %d is starting already; if it is not jkd, remove %s", path, pid, tmp)
	}
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("PidFile %s: could not be written: %w", path, err)
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("PidFile %s: could not be written: %w", path, pathCause(err))
	}
	p.tmp = tmp
	_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	if err == nil {
		err = f.Chmod(0o644)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		p.remove()
		return nil, fmt.Errorf("PidFile %s: could not be written: %w", path, pathCause(err))
	}
	return p, nil
}

// pathCause cuts out the name of a temporary file, which would only confuse.
func pathCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// publish puts the file in its place.
func (p *pidFile) publish() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tmp == "" {
		return nil
	}
	if err := os.Rename(p.tmp, p.path); err != nil {
		return fmt.Errorf("PidFile %s: could not be written: %w", p.path, err)
	}
	p.tmp = ""
	return nil
}

// remove removes what is ours: the prepared file, and the published one as
// long as it names this process.
func (p *pidFile) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tmp != "" {
		_ = os.Remove(p.tmp)
		p.tmp = ""
	}
	if p.path == "" {
		return
	}
	if pid, ok := readPid(p.path); ok && pid == os.Getpid() {
		_ = os.Remove(p.path)
	}
}

// readPid reads the first word of a pid file. A link is none, nor is a pipe,
// for whose writer an ordinary open would wait.
func readPid(path string) (int, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	var b [64]byte
	n, _ := f.Read(b[:])
	words := strings.Fields(string(b[:n]))
	if len(words) == 0 {
		return 0, false
	}
	pid, err := strconv.Atoi(words[0])
	return pid, err == nil && pid > 0
}

// holds tells whether a process lives that the file may have meant. A number
// that was given to another program since, as after a crash in a container,
// should not prevent the start; where that can't be told, it does.
func holds(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	ours, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return true
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if errors.Is(err, fs.ErrNotExist) {
		return false // it has ended, and whoever should wait for it does not
	}
	return err != nil || program(theirs) == program(ours)
}

// program is the name of an executable as Linux gives it.
func program(path string) string {
	return filepath.Base(strings.TrimSuffix(path, " (deleted)"))
}
