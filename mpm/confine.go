//go:build unix

package mpm

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"
)

// maxPath bounds the paths in hello.
const maxPath = 4096

// confinement is how much a child gives up of what its master has.
type confinement struct {
	Credential *Credential // nil: nothing
	Chroot     string      // Options.ChrootDir
	Cores      string      // Options.CoreDumpDirectory, as it is inside Chroot
}

// check is the master's part.
func (c *confinement) check() error {
	switch {
	case c.Credential != nil && len(c.Credential.Groups) > maxGroups:
		return fmt.Errorf("mpm: more than %d groups", maxGroups)
	case c.Chroot != "" && c.Credential == nil:
		return errors.New("mpm: a root directory without a credential is no confinement")
	case len(c.Chroot) > maxPath || len(c.Cores) > maxPath:
		return fmt.Errorf("mpm: path of more than %d bytes", maxPath)
	}
	return nil
}

// atStart tells whether the kernel changes the credential before the program is
// executed. With another root directory it can't, as the program need not be
// in there: then the child, still the superuser, does it itself.
func (c *confinement) atStart() bool { return c.Credential != nil && c.Chroot == "" }

// enter is the child's part, before it reads anything but hello. An error means
// that the child must not go on.
func (c *confinement) enter() error {
	if c.Chroot != "" {
		if err := c.drop(); err != nil {
			return err
		}
	}
	if c.Credential != nil {
		if err := c.Credential.verify(); err != nil {
			return err
		}
	}
	if c.Cores == "" {
		if c.Credential != nil {
			// Other processes of this user may not look into it, and a core
			// file would hold secrets.
			setDumpable(false)
		}
		return nil
	}
	if err := os.Chdir(c.Cores); err != nil {
		return fmt.Errorf("mpm: CoreDumpDirectory: %w", err)
	}
	debug.SetTraceback("crash") // abort instead of exit
	setDumpable(true)
	raiseCoreLimit()
	return nil
}

// drop changes the root directory and becomes the user, in Apache's order.
func (c *confinement) drop() error {
	_, _ = time.Now().Zone() // reads the local time zone, whose file is outside
	var want, got syscall.Stat_t
	err := step("chdir", syscall.Chdir(c.Chroot))
	err = errors.Join(err, step("stat", syscall.Stat(".", &want)))
	if err == nil {
		err = step("chroot", syscall.Chroot("."))
	}
	if err == nil {
		err = step("chdir", syscall.Chdir("/"))
	}
	if err != nil {
		return fmt.Errorf("mpm: ChrootDir %s: %w", c.Chroot, err)
	}
	attr := c.Credential.attr()
	groups := make([]int, len(attr.Groups))
	for i, g := range attr.Groups {
		groups[i] = int(g)
	}
	err = step("setgroups", syscall.Setgroups(groups))
	if err == nil {
		err = step("setgid", syscall.Setgid(int(attr.Gid)))
	}
	if err == nil {
		err = step("setuid", syscall.Setuid(int(attr.Uid)))
	}
	if err != nil {
		return fmt.Errorf("mpm: could not become user %d: %w", attr.Uid, err)
	}
	if err := syscall.Stat("/..", &got); err != nil || got.Dev != want.Dev || got.Ino != want.Ino {
		return fmt.Errorf("mpm: ChrootDir %s: is not the root directory: %v", c.Chroot, err)
	}
	return nil
}

func step(call string, err error) error { return os.NewSyscallError(call, err) }

// raiseCoreLimit lets core files become as large as whoever has started the
// server allows.
func raiseCoreLimit() {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &l) == nil {
		l.Cur = l.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &l)
	}
}
