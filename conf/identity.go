package conf

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// Identity is what the children run as.
type Identity struct {
	UID, GID uint32
	// Groups are the supplementary groups, GID among them, ascending.
	Groups []uint32
}

// parseID reads "#number". The second result is false for a name.
func parseID(s string) (uint32, bool, error) {
	digits, ok := strings.CutPrefix(s, "#")
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n == 1<<32-1 {
		return 0, true, fmt.Errorf("%q is not '#' and a number", s)
	}
	return uint32(n), true, nil
}

// lookupUser finds the user's identity; GID is its primary group. known is
// false for a number that the system has no user for.
func lookupUser(s string) (id Identity, known bool, err error) {
	n, numeric, err := parseID(s)
	if err != nil {
		return id, false, err
	}
	var u *user.User
	if numeric {
		if u, err = user.LookupId(strconv.FormatUint(uint64(n), 10)); err != nil {
			return Identity{UID: n}, false, rootless(n)
		}
	} else if u, err = user.Lookup(s); err != nil {
		return id, false, noUser(s)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return id, false, fmt.Errorf("user %q: %w", s, err)
	}
	id = Identity{UID: uint32(uid), GID: uint32(gid)}
	groups, _ := u.GroupIds() // without them the primary group has to do
	for _, g := range groups {
		if n, err := strconv.ParseUint(g, 10, 32); err == nil {
			id.Groups = append(id.Groups, uint32(n))
		}
	}
	return id, true, rootless(id.UID)
}

func noUser(name string) error { return fmt.Errorf("there is no user %q on this system", name) }

// lookupOwner finds the number of a user who may be anybody.
func lookupOwner(s string) (int, error) {
	n, numeric, err := parseID(s)
	if err != nil || numeric {
		return int(n), err
	}
	u, err := user.Lookup(s)
	if err != nil {
		return 0, noUser(s)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("user %q: %w", s, err)
	}
	return int(uid), nil
}

func rootless(uid uint32) error {
	if uid == 0 {
		return errors.New("children do not run as root; if they shall, leave User and Group out and set AllowRootChildren = On")
	}
	return nil
}

func lookupGroup(s string) (uint32, error) {
	n, numeric, err := parseID(s)
	if err != nil || numeric {
		return n, err
	}
	g, err := user.LookupGroup(s)
	if err != nil {
		return 0, fmt.Errorf("there is no group %q on this system", s)
	}
	gid, err := strconv.ParseUint(g.Gid, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("group %q: %w", s, err)
	}
	return uint32(gid), nil
}

// withGroup makes gid the group and keeps it among the supplementary ones.
func (id Identity) withGroup(gid uint32) Identity {
	id.GID = gid
	id.Groups = append(slices.Clone(id.Groups), gid)
	slices.Sort(id.Groups)
	id.Groups = slices.Compact(id.Groups)
	return id
}
