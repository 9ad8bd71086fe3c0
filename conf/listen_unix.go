package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ListenUnix is one Unix socket to serve.
type ListenUnix struct {
	Path string      // absolute, as the master sees it
	Mode fs.FileMode // permission bits, default 0660
	// UID and GID are the owner and the group of the file, -1 (default) for
	// those that the system gives what the master makes.
	UID, GID int
}

const (
	unixPrefix     = "unix:"
	listenUnixMode = 0o660
	// MaxListenUnix is the length of the longest path, in bytes: .new follows it
	// until it is ready.
	MaxListenUnix = MaxSocketPath - len(".new")
)

// String returns the argument of the directive, with numbers for names.
func (l ListenUnix) String() string {
	s := fmt.Sprintf("%s%s mode=%04o", unixPrefix, l.Path, l.Mode)
	if l.UID >= 0 {
		s += " owner=#" + strconv.Itoa(l.UID)
	}
	if l.GID >= 0 {
		s += " group=#" + strconv.Itoa(l.GID)
	}
	return s
}

// isUnix tells the first argument of a Listen of a Unix socket.
func isUnix(arg string) bool {
	return len(arg) >= len(unixPrefix) && strings.EqualFold(arg[:len(unixPrefix)], unixPrefix)
}

func setListenUnix(p *parser, args []string) error {
	l, err := p.parseListenUnix(args)
	if err != nil {
		return err
	}
	s := &p.cfg.Server
	if slices.ContainsFunc(s.ListenUnix, func(other ListenUnix) bool { return other.Path == l.Path }) {
		return fmt.Errorf("the socket %s is given twice", l.Path)
	}
	s.ListenUnix = append(s.ListenUnix, l)
	return nil
}

// parseListenUnix reads unix:path and its options.
func (p *parser) parseListenUnix(args []string) (l ListenUnix, err error) {
	l = ListenUnix{Mode: listenUnixMode, UID: -1, GID: -1}
	if l.Path, err = p.socketPath(args[0][len(unixPrefix):]); err != nil {
		return l, err
	}
	seen := map[string]bool{}
	for _, arg := range args[1:] {
		name, v, _ := strings.Cut(arg, "=")
		name = strings.ToLower(name)
		if seen[name] {
			return l, fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		switch name {
		case "mode":
			l.Mode, err = parseMode(v)
		case "owner":
			l.UID, err = lookupOwner(v)
		case "group":
			var gid uint32
			gid, err = lookupGroup(v)
			l.GID = int(gid)
		default:
			err = fmt.Errorf("%q is none of mode=, owner= and group=", arg)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// socketPath returns the absolute path of a socket to listen on, if one can be
// put there. Whether somebody listens there is found out at the start.
func (p *parser) socketPath(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("the path is empty")
	case path[0] == '@':
		return "", errors.New("abstract sockets are not supported: they have no owner and no mode")
	case strings.HasSuffix(path, "/"):
		return "", errors.New("the path names a directory")
	}
	path = p.path(path)
	if len(path) > MaxListenUnix {
		return "", fmt.Errorf("the path of a socket to listen on has at most %d bytes, this one %d", MaxListenUnix, len(path))
	}
	if err := existingDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() != fs.ModeSocket {
		return "", fmt.Errorf("%s is something else than a socket", path)
	}
	return path, nil
}

func parseMode(s string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil || n > uint64(fs.ModePerm) || len(s) < 3 {
		return 0, fmt.Errorf("mode %q is not three or four octal digits, such as 0660", s)
	}
	return fs.FileMode(n), nil
}
