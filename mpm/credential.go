//go:build unix

package mpm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Credential is who the children are (directives User and Group). They become
// it before they are executed.
type Credential struct {
	UID, GID uint32
	Groups   []uint32 // supplementary groups; GID need not be among them
}

// LookupCredential resolves the directives User and Group: names, or numbers
// with a # in front. An empty group means the user's own. Unknown names and
// user 0 are errors. Without cgo only the local files are asked.
func LookupCredential(userName, groupName string) (*Credential, error) {
	u, err := lookupUser(userName)
	if err != nil {
		return nil, err
	}
	c := &Credential{}
	if c.UID, err = parseID(u.Uid); err != nil {
		return nil, fmt.Errorf("User %s: %w", userName, err)
	}
	if c.UID == 0 {
		return nil, fmt.Errorf("User %s: children must not run as the superuser", userName)
	}
	gid := u.Gid
	if groupName != "" {
		if gid, err = lookupGroup(groupName); err != nil {
			return nil, err
		}
	}
	if gid == "" {
		return nil, fmt.Errorf("Group: must be given, as User %s has no entry in the user database", userName)
	}
	if c.GID, err = parseID(gid); err != nil {
		return nil, fmt.Errorf("Group %s: %w", groupName, err)
	}
	if u.Username == "" {
		return c, nil
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("User %s: groups: %w", userName, err)
	}
	for _, id := range ids {
		if g, err := parseID(id); err == nil && g != c.GID {
			c.Groups = append(c.Groups, g)
		}
	}
	slices.Sort(c.Groups)
	c.Groups = slices.Compact(c.Groups)
	return c, nil
}

func lookupUser(name string) (*user.User, error) {
	id, numeric := strings.CutPrefix(name, "#")
	if !numeric {
		u, err := user.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("User %s: unknown user", name)
		}
		return u, nil
	}
	if _, err := parseID(id); err != nil {
		return nil, fmt.Errorf("User %s: %w", name, err)
	}
	if u, err := user.LookupId(id); err == nil {
		return u, nil
	}
	return &user.User{Uid: id}, nil // a number needs no entry
}

func lookupGroup(name string) (string, error) {
	id, numeric := strings.CutPrefix(name, "#")
	if numeric {
		if _, err := parseID(id); err != nil {
			return "", fmt.Errorf("Group %s: %w", name, err)
		}
		return id, nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return "", fmt.Errorf("Group %s: unknown group", name)
	}
	return g.Gid, nil
}

func parseID(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == math.MaxUint32 {
		return 0, errors.New("not a user or group number")
	}
	return uint32(n), nil
}

// attr is the credential for the start of a process. The primary group comes
// first among the groups: on FreeBSD element zero is the effective group until
// setgid has been called, and losing it there would lose the first
// supplementary one.
func (c *Credential) attr() *syscall.Credential {
	groups := append([]uint32{c.GID}, c.Groups...)
	return &syscall.Credential{Uid: c.UID, Gid: c.GID, Groups: groups}
}

// verify checks in the child that the credential took effect and that there is
// no way back.
func (c *Credential) verify() error {
	if syscall.Getuid() != int(c.UID) || syscall.Geteuid() != int(c.UID) {
		return fmt.Errorf("mpm: user is %d/%d, not %d", syscall.Getuid(), syscall.Geteuid(), c.UID)
	}
	if syscall.Getgid() != int(c.GID) || syscall.Getegid() != int(c.GID) {
		return fmt.Errorf("mpm: group is %d/%d, not %d", syscall.Getgid(), syscall.Getegid(), c.GID)
	}
	groups, err := os.Getgroups()
	if err != nil {
		return fmt.Errorf("mpm: groups: %w", err)
	}
	for _, g := range groups {
		if g != int(c.GID) && !slices.Contains(c.Groups, uint32(g)) {
			return fmt.Errorf("mpm: still in group %d", g)
		}
	}
	if c.UID != 0 && syscall.Setuid(0) == nil {
		return errors.New("mpm: could become the superuser again")
	}
	return nil
}
