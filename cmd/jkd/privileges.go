//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"jkd/conf"
)

// checkPrivileges is about a start by the superuser: his children are somebody
// else unless the file says otherwise, and what he writes should be where
// nobody else can put something in its place.
func (l *loaded) checkPrivileges(euid int) error {
	if euid != 0 {
		return nil
	}
	s := &l.cfg.Server
	l.warnings = append(l.warnings, l.unsafeDirectories()...)
	if s.User == "" && !s.AllowRootChildren {
		return &conf.Error{File: l.cfg.Path, Key: "User", Msg: "jkd is started by root, and its children would serve as root: set User (and Group) in [server], or AllowRootChildren = On if they shall"}
	}
	return nil
}

// unsafeDirectories warns of directories, each once, in which others than root
// can put files.
func (l *loaded) unsafeDirectories() []conf.Warning {
	s := &l.cfg.Server
	list := []logPath{
		{s.PidFile, "PidFile"}, {s.Control(s.PidFile), "ControlSocket"},
		{s.ScoreBoardFile, "ScoreBoardFile"}, {s.ErrorLog, "ErrorLog"},
	}
	for _, u := range s.ListenUnix {
		list = append(list, logPath{u.Path, "Listen"})
	}
	if l.cfg.Jk != nil {
		list = append(list, logPath{l.cfg.Jk.ShmFile, "JkShmFile"})
	}
	if l.jk2 != nil {
		list = append(list, logPath{l.jk2.Config.Shm.File, "[shm:] file"})
	}
	var out []conf.Warning
	seen := map[string]bool{}
	for _, f := range append(list, logPaths(l.cfg, l.jk2)...) {
		dir := filepath.Dir(f.path)
		if f.path == "" || f.path[0] == '|' || strings.HasPrefix(f.path, "/dev/") || seen[dir] {
			continue
		}
		seen[dir] = true
		if why := unsafeDirectory(dir); why != "" {
			out = append(out, conf.Warning{File: l.cfg.Path, Key: f.directive,
				Msg: why + ": files and links put there can make root write, or signal, what it should not; let the directory be root's alone"})
		}
	}
	return out
}

// unsafeDirectory tells who besides root can put files in dir, or something
// else in its place; "" if nobody can or the directory is not there. Further up
// the group is passed over, as some systems have /var/log for one, and where
// the sticky bit keeps everybody's names from the others.
func unsafeDirectory(dir string) string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	for at, first := dir, true; ; at, first = filepath.Dir(at), false {
		info, err := os.Stat(at)
		if err != nil {
			return ""
		}
		mode := info.Mode()
		switch st, ok := info.Sys().(*syscall.Stat_t); {
		case ok && st.Uid != 0:
			return fmt.Sprintf("the directory %s belongs to user %d", at, st.Uid)
		case first && mode.Perm()&0o022 != 0, mode.Perm()&0o002 != 0 && mode&os.ModeSticky == 0:
			return fmt.Sprintf("the directory %s can be written by others than root (mode %04o)", at, mode.Perm())
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
