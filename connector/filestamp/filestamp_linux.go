package filestamp

import (
	"io/fs"
	"syscall"
)

func (s *Stamp) inode(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Changed = uint64(st.Dev), st.Ino, st.Ctim.Nano()
	}
}
