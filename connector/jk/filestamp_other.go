//go:build !linux && !freebsd

package jk

import "io/fs"

func (s *stamp) inode(fs.FileInfo) {}
