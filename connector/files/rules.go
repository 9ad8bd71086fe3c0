package files

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"jkd/conf"
)

// rules are what counts for one file or directory.
type rules struct {
	options     conf.FileOption
	index       []string
	precompress []string
	types       []*conf.FileTypes // the nearer one last
	access      conf.Access
	numbers     []int // of the sections that say something for the front, the nearer one last
}

// add puts what a nearer section says over the rules.
func (r *rules) add(f *conf.FileRules) {
	r.options = f.Options.Over(r.options)
	if f.Index != nil {
		r.index = f.Index
	}
	if f.Precompressed != nil {
		r.precompress = f.Precompressed
		if f.Precompressed[0] == conf.NotPrecompressed {
			r.precompress = nil
		}
	}
	if !f.Types.Empty() {
		r.types = append(slices.Clip(r.types), &f.Types) // other files share the list
	}
}

// section is a section [directory] or [files].
type section struct {
	pattern string         // "" with re
	wild    bool           // pattern has wildcards
	re      *regexp.Regexp // nil for none
	files   bool
	within  *section // that the files are in; nil: everywhere
	depth   int      // elements of a directory's path
	rules   *conf.FileRules
	access  conf.Access
	number  int // place in the configuration, counted from 1, if it says something for the front
}

// sectionsOf are the sections of one server in the order in which they apply:
// directories, those nearer to the root first and expressions behind all others,
// then files, and files within directories as those. Of equal ones those of the
// main server come first.
func sectionsOf(list []conf.Directory, vhost int) []section {
	servers := []int{0}
	if vhost > 0 {
		servers = append(servers, vhost)
	}
	var out []section
	for _, server := range servers {
		for i := range list {
			d := &list[i]
			if d.VHost != server {
				continue
			}
			s := section{rules: &d.Rules, access: d.Access, files: d.Files}
			if d.Says() {
				s.number = i + 1
			}
			if d.Match {
				s.re = regexp.MustCompile(d.Path) // conf has judged it
			} else {
				s.about(d.Path)
			}
			if d.Within != "" {
				s.within = &section{}
				s.within.about(d.Within)
				s.depth = s.within.depth
			}
			out = append(out, s)
		}
	}
	rank := func(s *section) int {
		switch {
		case s.within != nil:
			return 3
		case s.files:
			return 2
		case s.re != nil:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b section) int {
		if c := cmp.Compare(rank(&a), rank(&b)); c != 0 || rank(&a) == 1 || rank(&a) == 2 {
			return c
		}
		return cmp.Compare(a.depth, b.depth)
	})
	return out
}

// about makes s one about a pattern.
func (s *section) about(pattern string) {
	s.pattern, s.wild, s.depth = pattern, strings.ContainsAny(pattern, `*?[\`), depthOf(pattern)
}

// covers tells whether s is about the file, or with dir the directory, of an
// absolute path.
func (s *section) covers(file string, dir bool) bool {
	switch {
	case s.files && dir, s.within != nil && !s.within.covers(file, false):
		return false
	case s.files && s.re != nil:
		return s.re.MatchString(path.Base(file))
	case s.files:
		ok, _ := path.Match(s.pattern, path.Base(file))
		return ok
	case s.re != nil:
		return s.re.MatchString(file)
	case s.pattern == "/":
		return true
	case !s.wild:
		return strings.HasPrefix(file, s.pattern) && (len(file) == len(s.pattern) || file[len(s.pattern)] == '/')
	}
	// A wildcard stands for no slash: it is about as many elements as it has.
	head, n := file, 0
	for i := 1; i < len(file); i++ {
		if file[i] == '/' {
			if n++; n == s.depth {
				head = file[:i]
				break
			}
		}
	}
	ok, _ := path.Match(s.pattern, head)
	return ok
}

// directory is what the sections say of a directory and all below it.
type directory struct {
	path  string
	rules rules     // of the directory itself
	below []section // those that say something of a part of it
	// strict tells that links are not followed everywhere.
	strict bool
}

// newDirectory finds out what is known of a directory before any request.
func newDirectory(dir string, types *conf.FileTypes, server *conf.FileRules, list []section) *directory {
	d := &directory{path: dir, rules: rules{options: defaultOptions, index: defaultIndex}}
	if types != nil {
		d.rules.types = []*conf.FileTypes{types}
	}
	d.rules.add(server)
	depth := depthOf(dir)
	for i := range list {
		s := &list[i]
		plain := !s.files && s.re == nil
		switch {
		case plain && s.depth <= depth:
			if s.covers(dir, true) {
				d.rules.say(s)
			}
			continue
		case plain && !s.wild && dir != "/" && !strings.HasPrefix(s.pattern, dir+"/"):
			continue
		}
		d.below = append(d.below, *s)
		d.strict = d.strict || s.rules.Options.Over(conf.FollowSymLinks)&conf.FollowSymLinks == 0
	}
	d.strict = d.strict || d.rules.options&conf.FollowSymLinks == 0
	return d
}

// depthOf is how many elements an absolute path has.
func depthOf(dir string) int {
	if dir == "/" {
		return 0
	}
	return strings.Count(dir, "/")
}

// Without Options links are followed, as in Apache since 2.4; all of them stay
// inside of the directory that is served. The index is Apache's too.
const defaultOptions = conf.FollowSymLinks

var defaultIndex = []string{"index.html"}

func (r *rules) say(s *section) {
	r.add(s.rules)
	if s.access.Require != nil {
		r.access.Require = s.access.Require
	}
	if s.access.Order != nil {
		r.access.Order = s.access.Order
	}
	if s.number > 0 {
		r.numbers = append(slices.Clip(r.numbers), s.number-1) // other files share the list
	}
}

// of are the rules of what is called name in the directory.
func (d *directory) of(name string, dir bool) rules {
	r := d.rules
	if len(d.below) == 0 {
		return r
	}
	file := path.Join(d.path, name)
	for i := range d.below {
		if s := &d.below[i]; s.covers(file, dir) {
			r.say(s)
		}
	}
	return r
}
