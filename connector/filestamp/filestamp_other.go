//go:build !linux && !freebsd

package filestamp

import "io/fs"

func (s *Stamp) inode(fs.FileInfo) {}
