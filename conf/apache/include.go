package apache

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of what Include may bring in.
const (
	MaxDepth = 20      // files within files, as in Apache
	MaxFiles = 500     // in all
	MaxBytes = 8 << 20 // in all
)

func (o *Options) find(pattern string) ([]string, error) {
	if o.Find == nil {
		return nil, fs.ErrNotExist
	}
	return o.Find(pattern)
}

// path makes a path of the file absolute.
func (r *reader) path(s string) string {
	if filepath.IsAbs(s) {
		return filepath.Clean(s)
	}
	return filepath.Join(r.root, s)
}

// include reads the files that Include or IncludeOptional names into the
// section that is open.
func (r *reader) include(d *Directive, into *[]*Directive) {
	optional := strings.EqualFold(d.Name, "IncludeOptional")
	fault := func(format string, args ...any) { r.tree.fault(d.Place, d.Name, format, args...) }
	args, err := Words(d.Args)
	switch {
	case err != nil:
		fault("%s", err)
		return
	case len(args) != 1 || args[0] == "":
		fault("needs the path of a file, with or without wildcards")
		return
	}
	pattern := r.path(args[0])
	found, err := r.o.find(pattern)
	switch {
	case errors.Is(err, fs.ErrNotExist) && optional:
		return
	case err != nil:
		fault("%s: %s", pattern, reason(err))
		return
	case len(found) == 0 && !optional:
		fault("no file matches %s; IncludeOptional is for those that may be missing", pattern)
		return
	case len(r.stack) >= MaxDepth:
		fault("more than %d files include one another", MaxDepth)
		return
	}
	for _, file := range found {
		if slices.Contains(r.stack, file) {
			fault("%s is being read already: files include one another in a circle", file)
			continue
		}
		if len(r.tree.Files) >= MaxFiles {
			if !r.full {
				fault("more than %d files", MaxFiles)
			}
			r.full = true
			return
		}
		data, err := r.o.Read(file)
		if err != nil {
			fault("%s: %s", file, reason(err))
			continue
		}
		r.file(file, data, into)
	}
}

// reason strips operation and path from an error of package os.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
