package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// HeaderEdit is one Header or RequestHeader of mod_headers.
type HeaderEdit struct {
	Request bool // RequestHeader
	Always  bool // Header always: of error pages too, and in a list of their own
	// Action is one of HeaderActions.
	Action string
	Name   string
	// Match is the expression of edit and edit*, Value their replacement or the
	// value of the others, with '%' in it as mod_headers has it. Unset has none.
	Match, Value string
	// Env is a variable that has to be set, or with Unless must not be; "" for
	// none.
	Env    string
	Unless bool
	Line   int
}

// HeaderActions are what Header and RequestHeader can do.
var HeaderActions = []string{"set", "append", "merge", "add", "unset", "setifempty", "edit", "edit*"}

// addHeaders adds what the main server, a virtual host and a location may say.
func addHeaders(t table) {
	addHeader(t, "Header")
	addHeader(t, "RequestHeader")
}

func addHeader(t table, name string) {
	t.add(directive{name: name, many: true, set: func(p *parser, g given) error {
		args, err := words(g.Value)
		if err != nil {
			return err
		}
		e, note, err := headerEdit(args, name == "RequestHeader")
		if err != nil {
			return err
		}
		if note != "" {
			p.warn(g.Line, g.Key, "%s", note)
			return nil
		}
		e.Line = g.Line
		a := g.in.answers()
		a.Headers = append(a.Headers, e)
		return nil
	}})
}

// framing are the fields that say where a message ends, or are about one
// connection.
var framing = []string{"content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "proxy-connection", "expect"}

// headerEdit reads [CONDITION] ACTION NAME [VALUE] [REPLACEMENT] [env=[!]VARIABLE]. note
// is why it has no effect.
func headerEdit(args []string, request bool) (e HeaderEdit, note string, err error) {
	e.Request = request
	if first := strings.ToLower(args[0]); !request && (first == "always" || first == "onsuccess") {
		e.Always, args = first == "always", args[1:]
	}
	if len(args) < 2 {
		return e, "", errors.New("needs an action and the name of a field")
	}
	e.Action, e.Name, args = strings.ToLower(args[0]), strings.TrimSuffix(args[1], ":"), args[2:]
	switch {
	case e.Action == "echo" || e.Action == "note":
		return e, "is not done: fields of the request are not sent back, and no notes are taken", nil
	case !slices.Contains(HeaderActions, e.Action):
		return e, "", fmt.Errorf("there is no action %s%s (%s)", Printable(e.Action), DidYouMean(e.Action, HeaderActions), strings.Join(HeaderActions, ", "))
	}
	if _, err := token(e.Name); err != nil {
		return e, "", fmt.Errorf("%s is no name of a field", Printable(e.Name))
	}
	need := 1
	switch e.Action {
	case "unset":
		need = 0
	case "edit", "edit*":
		need = 2
	}
	switch {
	case len(args) < need:
		return e, "", fmt.Errorf("%s needs %d arguments behind the name", e.Action, need)
	case len(args) > need+1:
		return e, "", errors.New("has more arguments than it needs; a value with blanks must be quoted")
	case len(args) == need+1:
		if note, err = e.condition(args[need]); err != nil || note != "" {
			return e, note, err
		}
	}
	for _, v := range args[:need] {
		switch {
		case strings.HasPrefix(v, "expr="):
			return e, "", errors.New("there are no expressions")
		case strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }):
			return e, "", errors.New("the value contains control characters")
		}
	}
	if need == 2 {
		e.Match = args[0]
		if err := regularExpression(e.Match); err != nil {
			return e, "", err
		}
	}
	if need > 0 {
		e.Value = args[need-1]
	}
	if slices.Contains(framing, strings.ToLower(e.Name)) {
		if e.Action == "unset" || strings.HasPrefix(e.Action, "edit") {
			return e, e.Name + " is jkd's own business: it is not touched", nil
		}
		return e, "", fmt.Errorf("%s can not be set: it says where a message ends, or is about one connection, and two readings of it are a security hole", e.Name)
	}
	if request && strings.EqualFold(e.Name, "Host") && slices.Contains([]string{"append", "merge", "add", "edit", "edit*"}, e.Action) {
		return e, "", fmt.Errorf("Host can be set, not changed by %s: a request has one, and two readings of it are a security hole", e.Action)
	}
	return e, "", nil
}

// condition reads the last argument.
func (e *HeaderEdit) condition(s string) (note string, err error) {
	switch name, env := strings.CutPrefix(s, "env="); {
	case env:
		e.Env, e.Unless = strings.CutPrefix(name, "!")
		if e.Env == "" {
			return "", errors.New("env= has no variable")
		}
	case s == "early":
		return "is not done: early is for tests", nil
	case strings.HasPrefix(s, "expr="):
		return "", errors.New("there are no expressions")
	default:
		return "", fmt.Errorf("%s is no condition (env=NAME, env=!NAME); a value with blanks must be quoted", Printable(s))
	}
	return "", nil
}
