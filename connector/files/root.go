package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// lookEvery is how often the path of a directory is looked up. In between it is
// the one that was found, whatever has taken its name since.
const lookEvery = time.Second

// root is a directory that is kept open, or the directory of a single file. It
// may be replaced while jkd runs, as it is when a link to the current version of
// an application is changed.
type root struct {
	path string

	mu     sync.Mutex
	dir    *os.Root
	found  fs.FileInfo // dir's
	file   string      // the file's name if path is one
	looked time.Time
}

// open returns the directory, and the name of the file in it if the path is
// that of a file.
func (d *root) open(now time.Time) (dir *os.Root, file string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if since := now.Sub(d.looked); d.dir != nil && since >= 0 && since < lookEvery {
		return d.dir, d.file, nil
	}
	at := d.path
	found, err := os.Stat(at)
	if err == nil && !found.IsDir() {
		at, file = filepath.Split(at)
		found, err = os.Stat(at)
	}
	if err == nil && (d.dir == nil || !os.SameFile(found, d.found)) {
		// The one before may be in use. The runtime closes it when it no longer
		// is.
		if dir, err = os.OpenRoot(at); err == nil {
			d.dir = dir
			d.found, err = dir.Stat(".")
		}
	}
	if err != nil {
		d.dir = nil
		return nil, "", err
	}
	d.file, d.looked = file, now
	return d.dir, d.file, nil
}
