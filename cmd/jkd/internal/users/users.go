package users

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/tg123/go-htpasswd"

	"jkd/conf"
)

// Users are the users of a file. They may be used concurrently.
type Users struct {
	list map[string]htpasswd.EncodedPasswd
	// decoy is somebody's: what a name that nobody has is compared with, so
	// that it takes as long as one that somebody has.
	decoy htpasswd.EncodedPasswd
	// checking: hashes are made to be slow. One at a time in a process leaves
	// the other threads to those who want no password.
	checking sync.Mutex
}

// Bounds of a file. Longer passwords than MaxPassword are nobody's.
const (
	MaxLine     = 1024
	MaxPassword = 128
)

// Read makes users of the lines of a file. Its error is conf.Errors: each line
// that is not understood, of which nothing but the name is told.
func Read(f *conf.File) (*Users, error) {
	u := &Users{list: map[string]htpasswd.EncodedPasswd{}}
	lines := map[string]int{}
	var errs conf.Errors
	n := 0
	fail := func(name, format string, args ...any) {
		errs = append(errs, &conf.Error{File: f.Path, Line: n, Key: name, Msg: fmt.Sprintf(format, args...)})
	}
	for raw := range bytes.Lines(f.Data) {
		n++
		line := strings.Trim(string(raw), " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		name, hash, ok := strings.Cut(line, ":")
		hash, _, _ = strings.Cut(hash, ":") // the rest is a remark, as in Apache
		switch {
		case len(line) > MaxLine:
			fail("", "the line is longer than %d bytes", MaxLine)
			continue
		case !ok || name == "":
			fail("", "is not of the form name:hash")
			continue
		case lines[name] > 0:
			fail(name, "is in line %d already", lines[name])
			continue
		}
		lines[name] = n
		p, err := parseHash(hash)
		if err != nil {
			fail(name, "%s", err)
			continue
		}
		u.list[name] = p
		if u.decoy == nil {
			u.decoy = p
		}
	}
	if len(errs) == 0 && u.decoy == nil {
		n = 0
		fail("", "there is no user in the file")
	}
	return u, errs.Err()
}

// Check tells whether somebody of that name has that password.
func (u *Users) Check(name, password string) bool {
	if len(password) > MaxPassword {
		return false
	}
	p, known := u.list[name]
	if !known {
		p = u.decoy
	}
	u.checking.Lock()
	defer u.checking.Unlock()
	return p.MatchesPassword(password) && known
}
