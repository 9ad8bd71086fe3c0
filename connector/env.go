package connector

// Var is a variable and its value.
type Var struct{ Name, Value string }

// vars is a small set of variables: there are few in a request, and looking
// through them beats a map.
type vars []Var

func (v vars) get(name string) (string, bool) {
	for i := range v {
		if v[i].Name == name {
			return v[i].Value, true
		}
	}
	return "", false
}

func (v *vars) set(name, value string) {
	for i := range *v {
		if (*v)[i].Name == name {
			(*v)[i].Value = value
			return
		}
	}
	*v = append(*v, Var{name, value})
}

func (v *vars) unset(name string) {
	for i := range *v {
		if (*v)[i].Name == name {
			*v = append((*v)[:i], (*v)[i+1:]...)
			return
		}
	}
}

// Env is the variables of one request, as SetEnv and UnsetEnv leave them
// (Apache's subprocess environment). Names are case-sensitive. The zero value
// and nil are empty; it belongs to the request's goroutine.
type Env struct{ vars vars }

// Get returns the value of a variable and whether it is set.
func (e *Env) Get(name string) (string, bool) {
	if e == nil {
		return "", false
	}
	return e.vars.get(name)
}

// Len is how many variables are set.
func (e *Env) Len() int {
	if e == nil {
		return 0
	}
	return len(e.vars)
}

// Each calls f for every variable in the order they were set first.
func (e *Env) Each(f func(name, value string)) {
	if e == nil {
		return
	}
	for i := range e.vars {
		f(e.vars[i].Name, e.vars[i].Value)
	}
}

// Set sets a variable.
func (e *Env) Set(name, value string) { e.vars.set(name, value) }

// Unset takes a variable away.
func (e *Env) Unset(name string) { e.vars.unset(name) }

// Reset takes all variables away and keeps the memory.
func (e *Env) Reset() {
	clear(e.vars)
	e.vars = e.vars[:0]
}

// Notes are what a connector has to say about a request to the access log
// (%{NAME}n; Apache's notes table). Making their texts costs something, so
// they are only kept where somebody reads them. The zero value and nil keep
// none; it belongs to the request's goroutine.
type Notes struct {
	vars   vars
	wanted bool
}

// Wanted tells whether notes are kept.
func (n *Notes) Wanted() bool { return n != nil && n.wanted }

// Set keeps a note if notes are kept.
func (n *Notes) Set(name, value string) {
	if n.Wanted() {
		n.vars.set(name, value)
	}
}

// Get returns a note and whether there is one.
func (n *Notes) Get(name string) (string, bool) {
	if n == nil {
		return "", false
	}
	return n.vars.get(name)
}

// Reset takes all notes away; wanted tells whether new ones are kept.
func (n *Notes) Reset(wanted bool) {
	clear(n.vars)
	n.vars, n.wanted = n.vars[:0], wanted
}
