//go:build unix

package mpm

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
)

// BuildID is a number that two processes share exactly if they run the same
// program. It is derived from the identity that the Go linker writes into the
// executable or, where there is none, from the versions built in.
var BuildID = sync.OnceValue(func() uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, runtime.Version())
	// Not os.Open, which starts the runtime's poller: a prefork child has
	// no use for one.
	if fd, err := syscall.Open(executable(), syscall.O_RDONLY|syscall.O_CLOEXEC, 0); err == nil {
		id, err := goBuildID(file(fd))
		_ = syscall.Close(fd)
		if err == nil {
			_, _ = h.Write(id)
			return h.Sum64()
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		_, _ = io.WriteString(h, info.String())
	}
	return h.Sum64()
})

// executable is what children are started from. Linux names the running image
// itself, which survives that the file is replaced; elsewhere it is the file
// of that name, and the handshake finds out if it is another program by now.
var executable = sync.OnceValue(func() string {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe"
		}
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
})

// file is a descriptor as an io.ReaderAt.
type file int

func (f file) ReadAt(b []byte, off int64) (int, error) {
	for n := 0; n < len(b); {
		k, err := syscall.Pread(int(f), b[n:], off+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return n, err
		case k == 0:
			return n, io.ErrUnexpectedEOF
		default:
			n += k
		}
	}
	return len(b), nil
}

var errNoBuildID = errors.New("mpm: no build id")

// goBuildID finds the note of the Go linker in a 64-bit ELF file. Package
// debug/elf could do it too, but a child reads this at every start.
func goBuildID(f io.ReaderAt) ([]byte, error) {
	const (
		phSize = 56
		ptNote = 4
	)
	var eh [64]byte
	if _, err := f.ReadAt(eh[:], 0); err != nil {
		return nil, err
	}
	if string(eh[:4]) != "\x7fELF" || eh[4] != 2 || eh[5] != 1 {
		return nil, errNoBuildID
	}
	le := binary.LittleEndian
	off, size, n := le.Uint64(eh[32:]), le.Uint16(eh[54:]), le.Uint16(eh[56:])
	if size != phSize || n > 64 || off > 1<<20 {
		return nil, errNoBuildID
	}
	for i := range int64(n) {
		var ph [phSize]byte
		if _, err := f.ReadAt(ph[:], int64(off)+i*phSize); err != nil {
			return nil, err
		}
		if le.Uint32(ph[0:]) != ptNote {
			continue
		}
		at, length := le.Uint64(ph[8:]), le.Uint64(ph[32:])
		if length > 4096 || at > 1<<40 {
			continue
		}
		notes := make([]byte, length)
		if _, err := f.ReadAt(notes, int64(at)); err != nil {
			return nil, err
		}
		if id := goNote(notes); id != nil {
			return id, nil
		}
	}
	return nil, errNoBuildID
}

// goNote walks notes and returns the description of the Go linker's.
func goNote(b []byte) []byte {
	le := binary.LittleEndian
	pad := func(n uint32) int { return int(n+3) &^ 3 }
	for len(b) >= 12 {
		nameLen, descLen, kind := le.Uint32(b[0:]), le.Uint32(b[4:]), le.Uint32(b[8:])
		b = b[12:]
		if nameLen > 4096 || descLen > 4096 || len(b) < pad(nameLen)+int(descLen) {
			return nil
		}
		name, desc := b[:nameLen], b[pad(nameLen):pad(nameLen)+int(descLen)]
		if kind == 4 && string(name) == "Go\x00\x00" && len(desc) > 0 {
			return desc
		}
		b = b[min(len(b), pad(nameLen)+pad(descLen)):]
	}
	return nil
}
