package contender

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"

	"jkd/bench/internal/proc"
)

// Front is a contender: a server between the load and the back end.
type Front struct {
	// Name is that on the command line and in results: program, MPM, protocol.
	Name string
	// Title is for people.
	Title string
	// MPM is "prefork", "worker" or "event", or empty if the program has none.
	MPM string
	// Needs are the files without which it cannot start.
	Needs []File

	conf []text                  // files in its directory
	argv func(v Values) []string // its command line
}

// text is a file of a configuration; content is a text/template of [Values].
type text struct{ name, content string }

// File is a file and the Debian package it comes with.
type File struct{ Path, Package string }

// Shape is how many connections a front serves at once.
type Shape struct {
	Workers         int // prefork: children; worker and event: threads
	ThreadsPerChild int // worker and event
}

// DefaultShape is enough for 50 connections: three children of 25 threads, as
// Apache starts by default.
var DefaultShape = Shape{Workers: 75, ThreadsPerChild: 25}

// For is a shape for c connections at once.
func For(c int) Shape {
	if c <= 50 {
		return DefaultShape
	}
	const threads = 64 // Apache's ThreadLimit as shipped
	return Shape{Workers: (c + 24 + threads - 1) / threads * threads, ThreadsPerChild: threads}
}

// Values are what the templates know.
type Values struct {
	Shape
	MPM               string
	Dir               string
	Port              int
	AJPPort, HTTPPort int // of the back ends
	Root              bool
	CPUs              int
	JKD               string // path of the program
	Modules           string // directory of Apache's
	Status            bool   // jkd's pages of its state too
}

// Children is the number of processes that serve in worker and event.
func (v Values) Children() int { return max(1, v.Workers/max(1, v.ThreadsPerChild)) }

// processes is how many there are once the front has started, without masters;
// 0 is as many as it likes.
func (f *Front) processes(s Shape) int {
	switch f.MPM {
	case "":
		return 0
	case "prefork":
		return s.Workers
	}
	return Values{Shape: s}.Children()
}

// Missing are the packages that a front lacks on this machine.
func (f *Front) Missing() (packages []string) {
	return Missing(f.Needs)
}

// Missing are the packages of those files that are not there, each once.
func Missing(files []File) (packages []string) {
	for _, n := range files {
		if _, err := os.Stat(n.Path); err != nil && !slices.Contains(packages, n.Package) {
			packages = append(packages, n.Package)
		}
	}
	return packages
}

// All are the contenders in the order of reports: first those of jkd.
func All() []*Front {
	return []*Front{
		jkd("prefork", "jk"), jkd("worker", "jk"), jkd("prefork", "jk2"), jkd("worker", "jk2"),
		jkd("worker", "ajp"), jkd("worker", "http"),
		apache("prefork", "jk"), apache("worker", "jk"), apache("event", "jk"),
		apache("event", "ajp"), apache("event", "http"),
		nginx(), haproxy(),
	}
}

// Direct is the name of the contender that is no front: the container itself.
const Direct = "tomcat"

// Select are those of All whose name is one of names or begins with one and a
// hyphen; unknown are the names that select nothing.
func Select(names []string) (fronts []*Front, unknown []string) {
	taken := map[string]bool{}
	for _, f := range All() {
		for _, n := range names {
			if f.Name == n || strings.HasPrefix(f.Name, n+"-") {
				taken[n] = true
				if len(fronts) == 0 || fronts[len(fronts)-1] != f {
					fronts = append(fronts, f)
				}
			}
		}
	}
	for _, n := range names {
		if !taken[n] && n != Direct {
			unknown = append(unknown, n)
		}
	}
	return fronts, unknown
}

// Config writes the front's files into v.Dir and returns the command line.
func (f *Front) Config(v Values) (argv []string, err error) {
	v.MPM, v.Root, v.CPUs, v.Modules = f.MPM, os.Geteuid() == 0, runtime.NumCPU(), apacheModules
	for _, t := range f.conf {
		if err := write(filepath.Join(v.Dir, t.name), t.content, v); err != nil {
			return nil, fmt.Errorf("contender: %s: %w", f.Name, err)
		}
	}
	return f.argv(v), nil
}

// write makes a file of a template. Others may read it: children run as
// somebody else.
func write(name, content string, values any) error {
	t, err := template.New(filepath.Base(name)).Parse(content)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// Start starts the front in a new directory below dir and returns when it
// serves path, with all its children. v has the ports of the back ends.
func (f *Front) Start(set *proc.Set, dir, path string, v Values) (*Running, error) {
	var err error
	if v.Dir, err = newDir(dir, f.Name); err != nil {
		return nil, err
	}
	if v.Port, err = proc.FreePort(); err != nil {
		return nil, err
	}
	argv, err := f.Config(v)
	if err != nil {
		return nil, err
	}
	p, err := set.Start(f.Name, v.Dir, argv...)
	if err != nil {
		return nil, err
	}
	r := &Running{Name: f.Name, Front: f, Port: v.Port, Process: p, dir: v.Dir}
	if err := r.ready(path, f.processes(v.Shape)); err != nil {
		p.Stop()
		return nil, err
	}
	return r, nil
}

func newDir(dir, name string) (string, error) {
	d, err := os.MkdirTemp(dir, name+"-")
	if err != nil {
		return "", fmt.Errorf("contender: %w", err)
	}
	if err := os.Chmod(d, 0o755); err != nil {
		return "", fmt.Errorf("contender: %w", err)
	}
	return d, nil
}
