package apache

import "strings"

// expand replaces each ${NAME} by what Define has made of it, or else by the
// variable of the environment. Unknown ones are left as they are, with a
// remark; names with a colon are those of other mechanisms.
func (r *reader) expand(at Place, key, s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	var b strings.Builder
	rest := s
	for {
		before, after, found := strings.Cut(rest, "${")
		name, tail, closed := strings.Cut(after, "}")
		if !found || !closed {
			break
		}
		b.WriteString(before)
		value, ok := r.defined[name]
		if !ok && r.o.Env != nil {
			value, ok = r.o.Env(name)
		}
		if !ok {
			value = "${" + name + "}"
			if !strings.Contains(name, ":") && !(r.o.Leave != nil && r.o.Leave(key, name)) {
				r.tree.remark(at, key, "%s is defined neither above nor in the environment: left as it is", value)
			}
		}
		if b.Len()+len(value) > MaxLine {
			r.tree.fault(at, key, "is longer than %d bytes once ${%s} is replaced", MaxLine, name)
			return s
		}
		b.WriteString(value)
		rest = tail
	}
	b.WriteString(rest)
	out := b.String()
	if why := unreadable([]byte(out)); why != "" {
		r.tree.fault(at, key, "cannot be used with what its variables hold: %s", why)
		return s
	}
	return out
}

func (r *reader) define(d *Directive) {
	args, err := Words(d.Args)
	switch undo := strings.EqualFold(d.Name, "UnDefine"); {
	case err != nil:
		r.tree.fault(d.Place, d.Name, "%s", err)
	case undo && len(args) == 1:
		delete(r.defined, args[0])
	case !undo && (len(args) == 1 || len(args) == 2):
		if strings.ContainsAny(args[0], ":{}$") {
			r.tree.fault(d.Place, d.Name, "%q is no name for a variable", args[0])
			return
		}
		r.defined[args[0]] = strings.Join(args[1:], "")
	case undo:
		r.tree.fault(d.Place, d.Name, "needs the name of a variable")
	default:
		r.tree.fault(d.Place, d.Name, "needs a name, and perhaps a value; a value with blanks must be quoted")
	}
}
