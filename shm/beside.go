//go:build unix

package shm

import (
	"golang.org/x/sys/unix"
)

// besideSuffix follows the path in the temporary name of a file made by
// [MakeBeside]. It is always the same, so that what a master left behind that
// was killed before Publish is found and removed by the next one.
const besideSuffix = ".new"

// MakeBeside is [Make] for a master that takes over from another one, which may
// still have its file at path: the file gets a temporary name in the same
// directory, and path becomes its name with [Segment.Publish]. Until then
// [Segment.Discard] takes nothing away but that file. old is the inherited
// segment that may be at path, nil if there is none. Of several that are made to
// replace the same one the last counts. What Publish would refuse then is refused
// now, too. Without path the segment is anonymous.
func MakeBeside(name, path string, size int, old *Segment) (*Segment, error) {
	if path == "" {
		return Create(name, size)
	}
	replace, err := occupied(path, old)
	if err != nil {
		return nil, &Error{"create", path, err}
	}
	beside := path + besideSuffix
	if replace {
		err = abandon(beside)
	}
	var s *Segment
	if err == nil {
		s, err = createFile(beside, size)
	}
	if err != nil {
		return nil, &Error{"create", beside, err}
	}
	s.final, s.replaces = path, fileID{}
	if old != nil {
		s.replaces = old.id
	}
	return s, nil
}

// abandon takes the name from what another one has made at path that was to
// replace the same file as the caller and has died: its children may be there
// yet and use it.
func abandon(path string) error {
	st, err := lstat(path)
	if err == unix.ENOENT {
		return nil
	}
	if err == nil {
		err = checkFile(st, unix.Geteuid(), -1)
	}
	if err == nil {
		err = unix.Unlink(path)
	}
	return err
}

// Publish gives the file of [MakeBeside] its name. What is there is replaced in
// one step if it is the file of the inherited segment, so that who opens it
// finds the one or the other; a file that is in use by nobody is removed first.
// Anything else stays and is an error, such as [ErrInUse] for the file of
// another master, and the segment is as it was before. It does nothing for other
// segments, and nothing the second time.
func (s *Segment) Publish() error {
	if s.final == "" {
		return nil
	}
	if err := s.publish(); err != nil {
		return &Error{"publish", s.final, err}
	}
	s.name, s.path, s.final = s.final, s.final, ""
	return nil
}

func (s *Segment) publish() error {
	if !names(s.path, s.fd) {
		return ErrInUse // somebody took the temporary file away
	}
	replace, err := occupiedBy(s.final, s.replaces)
	if err != nil {
		return err
	}
	if replace {
		return unix.Rename(s.path, s.final)
	}
	if err := removeStale(s.final); err != nil {
		return err
	}
	// A rename would take away what another master has made there meanwhile; a
	// link does not.
	switch err := unix.Link(s.path, s.final); err {
	case nil:
		return unix.Unlink(s.path)
	case unix.EEXIST:
		return ErrInUse
	default:
		return err
	}
}

// occupied tells whether the file of old, which may be nil, is at path. It is an
// error if something else is there that is not ours to remove.
func occupied(path string, old *Segment) (bool, error) {
	if old == nil {
		return occupiedBy(path, fileID{})
	}
	return occupiedBy(path, old.id)
}

func occupiedBy(path string, old fileID) (bool, error) {
	st, err := lstat(path)
	switch {
	case err == unix.ENOENT:
		return false, nil
	case err != nil:
		return false, err
	case old != (fileID{}) && st.id == old:
		return true, nil
	}
	if err := checkFile(st, unix.Geteuid(), -1); err != nil {
		return false, err
	}
	return false, checkUnused(path)
}
