package jk

import (
	"io/fs"
	"syscall"
)

func (s *stamp) inode(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.dev, s.ino, s.changed = uint64(st.Dev), st.Ino, st.Ctim.Nano()
	}
}
