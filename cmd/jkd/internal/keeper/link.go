//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// linkVar tells the first master the numbers of its two descriptors.
const linkVar = "JKD_KEEPER"

// Inherited tells whether the keeper has started this process, and the
// descriptors of Announce and Watch. They stay the caller's, who has to hand
// them on to the next master. The first call takes the variable out of the
// environment and sets close-on-exec; it must come before any process is
// started. A variable that does not name two pipes is of no meaning.
func Inherited() (announce, life int, ok bool) {
	l := inherited()
	return l.announce, l.life, l.ok
}

type link struct {
	announce, life int
	ok             bool
}

var inherited = sync.OnceValue(func() link {
	v := os.Getenv(linkVar)
	_ = os.Unsetenv(linkVar)
	l := parseLink(v)
	if !l.ok || !isPipe(l.announce) || !isPipe(l.life) {
		return link{announce: -1, life: -1}
	}
	syscall.CloseOnExec(l.announce)
	syscall.CloseOnExec(l.life)
	return l
})

// parseLink reads "3,4". The standard descriptors are not for this.
func parseLink(s string) link {
	a, b, _ := strings.Cut(s, ",")
	announce, err1 := strconv.ParseUint(a, 10, 16)
	life, err2 := strconv.ParseUint(b, 10, 16)
	if err1 != nil || err2 != nil || min(announce, life) <= 2 || announce == life {
		return link{announce: -1, life: -1}
	}
	return link{int(announce), int(life), true}
}

func isPipe(fd int) bool {
	var st syscall.Stat_t
	return syscall.Fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFIFO
}

// Announce tells the keeper that the master of that pid serves from now on: at
// the end of its start, before the one that it replaces may end, and again when
// a reload has failed and it goes on.
func Announce(fd, pid int) error {
	return writeLine(fd, strconv.Itoa(pid)+"\n")
}

// Leave tells the keeper the exit status with which the master of that pid is
// about to end. Without it the keeper does not learn the status of a master that
// ends before the one that has started it.
func Leave(fd, pid, status int) error {
	return writeLine(fd, fmt.Sprintf("%d %d\n", pid, status))
}

// writeLine writes at once: a pipe takes a line this short as a whole or not at
// all.
func writeLine(fd int, line string) error {
	for {
		_, err := syscall.Write(fd, []byte(line))
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keeper: %w", err)
		}
		return nil
	}
}

// Watch calls gone, once and in a goroutine of its own, when the keeper has
// ended. fd stays the caller's. stop ends the watch.
func Watch(fd int, gone func()) (stop func(), err error) {
	syscall.ForkLock.RLock()
	own, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		// For the runtime's poller, which waits without a thread.
		if err = syscall.SetNonblock(own, true); err != nil {
			_ = syscall.Close(own)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keeper: %w", err)
	}
	f := os.NewFile(uintptr(own), "keeper")
	go func() {
		var b [1]byte
		for {
			// Nothing is ever written: an answer is the end, one way or
			// the other.
			n, err := f.Read(b[:])
			if errors.Is(err, os.ErrClosed) {
				return
			}
			if n == 0 || err != nil {
				gone()
				return
			}
		}
	}()
	return func() { _ = f.Close() }, nil
}
