package apache

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Kind is how far a module is there.
type Kind uint8

const (
	// Absent modules are not there whatever LoadModule says.
	Absent Kind = iota
	// Builtin modules are always there.
	Builtin
	// Optional modules are there once LoadModule has named them, and in a file
	// that has no LoadModule so far: its Apache had them built in.
	Optional
	// MPM modules are there if theirs is the MPM in use.
	MPM
)

// Module is what the caller knows of a module.
type Module struct {
	ID   string // jk_module, the same for all the names of a module
	Kind Kind
}

var conditions = map[string]func(r *reader, arg string) (bool, error){
	"ifmodule":    (*reader).ifModule,
	"ifdefine":    (*reader).ifDefine,
	"ifversion":   (*reader).ifVersion,
	"iffile":      (*reader).ifFile,
	"ifdirective": (*reader).ifDirective,
	"ifsection":   (*reader).ifSection,
}

// holds judges a conditional section. Whose condition cannot be judged is
// skipped, with a fault.
func (r *reader) holds(d *Directive) bool {
	name := strings.ToLower(d.Name)
	arg := d.Args
	if name != "ifversion" { // whose regular expressions stand without quotes
		args, err := Words(arg)
		if err == nil && len(args) != 1 {
			err = fmt.Errorf("needs one argument")
		}
		if err != nil {
			r.tree.fault(d.Place, d.Title(), "%s", err)
			return false
		}
		arg = args[0]
	}
	arg, not := strings.CutPrefix(arg, "!")
	ok, err := conditions[name](r, strings.Trim(arg, blanks))
	if err != nil {
		r.tree.fault(d.Place, d.Title(), "%s", err)
		return false
	}
	return ok != not
}

func (r *reader) module(name string) Module {
	if r.o.Module == nil {
		return Module{}
	}
	return r.o.Module(name)
}

func (r *reader) ifModule(name string) (bool, error) {
	switch m := r.module(name); m.Kind {
	case Builtin:
		return true, nil
	case Optional:
		return r.loaded[m.ID] || len(r.loaded) == 0, nil
	case MPM:
		return m.ID == r.mpm, nil
	}
	return false, nil
}

func (r *reader) ifDefine(name string) (bool, error) {
	_, ok := r.defined[name]
	return ok, nil
}

func (r *reader) ifFile(name string) (bool, error) {
	found, err := r.o.find(r.path(name))
	return err == nil && len(found) > 0, nil
}

func (r *reader) ifDirective(name string) (bool, error) {
	return r.o.Directive != nil && r.o.Directive(name), nil
}

func (r *reader) ifSection(name string) (bool, error) {
	name = strings.Trim(name, "<>")
	return r.o.Section != nil && r.o.Section(name), nil
}

// ifVersion reads "[operator] version", which may be two words or one.
func (r *reader) ifVersion(arg string) (bool, error) {
	n := 0
	for n < len(arg) && strings.IndexByte("<>=~!", arg[n]) >= 0 {
		n++
	}
	operator, version := arg[:n], strings.Trim(arg[n:], blanks+`"`)
	if len(version) > 1 && version[0] == '/' && version[len(version)-1] == '/' {
		if operator != "" && operator != "=" && operator != "==" && operator != "~" {
			return false, fmt.Errorf("the operator %s is not for a regular expression", operator)
		}
		operator, version = "~", version[1:len(version)-1]
	}
	if operator == "~" {
		re, err := regexp.Compile(version)
		if err != nil {
			return false, err
		}
		return re.MatchString(r.o.Version), nil
	}
	want, err := parseVersion(version)
	if err != nil {
		return false, err
	}
	have, err := parseVersion(r.o.Version)
	if err != nil {
		return false, err
	}
	c := 0
	for i := range have {
		if c == 0 && have[i] != want[i] {
			c = 1
			if have[i] < want[i] {
				c = -1
			}
		}
	}
	switch operator {
	case "", "=", "==":
		return c == 0, nil
	case ">":
		return c > 0, nil
	case ">=", "=>":
		return c >= 0, nil
	case "<":
		return c < 0, nil
	case "<=", "=<":
		return c <= 0, nil
	}
	return false, fmt.Errorf("%q is no operator: = > >= < <= ~", operator)
}

// parseVersion reads major.minor.patch; what is missing is 0.
func parseVersion(s string) (v [3]int, err error) {
	parts := strings.Split(s, ".")
	if s == "" || len(parts) > len(v) {
		return v, fmt.Errorf("%q is no version such as 2.4.10", s)
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 1<<20 {
			return v, fmt.Errorf("%q is no version such as 2.4.10", s)
		}
		v[i] = n
	}
	return v, nil
}
