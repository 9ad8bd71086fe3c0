package conf

import (
	"errors"
	"fmt"
	"strings"
)

func vhostTable() table {
	t := table{}
	t.add(directive{name: "ServerAlias", many: true, set: setServerAlias})
	t.add(directive{name: "CustomLog", many: true, set: setCustomLog})
	addEnv(t)
	addFiles(t)
	addRedirects(t)
	addErrorDocument(t)
	addHeaders(t)
	addJkServer(t)
	addProxy(t)
	return t
}

func locationTable() table {
	t := table{}
	addEnv(t)
	t.add(directive{name: "SetHandler", set: func(p *parser, g given) error {
		name, err := unquote(g.Value)
		if err != nil {
			return err
		}
		if !strings.EqualFold(name, JkHandler) {
			return fmt.Errorf("there is no handler %q, only %s", name, JkHandler)
		}
		g.in.location.Handler = JkHandler
		return nil
	}})
	t.add(directive{name: "JkMount", once: true, set: func(p *parser, g given) error {
		worker, err := locationWorker(g)
		if err == nil {
			l := &g.in.location.Location
			l.Worker, l.WorkerLine = worker, g.Line
		}
		return err
	}})
	t.add(directive{name: "JkUnMount", many: true, set: func(p *parser, g given) error {
		worker, err := locationWorker(g)
		if err == nil {
			l := g.in.location
			l.unMounts = append(l.unMounts, Mount{Pattern: l.Path, Worker: worker, Line: g.Line})
		}
		return err
	}})
	t.add(directive{name: "JkUriSet", many: true, set: setLocationURI})
	addFileRules(t, func(g given) *FileRules { return &g.in.location.Rules })
	addAccess(t, func(s *scope) *Access { return &s.location.Access })
	addProxyPlace(t)
	addRedirects(t)
	addErrorDocument(t)
	addHeaders(t)
	return t
}

// JkHandler is the handler of SetHandler that hands a request to the
// connector.
const JkHandler = "jakarta-servlet"

// errMatch is of a directive that takes the path of its section.
var errMatch = errors.New("the section is about a regular expression, and this directive needs its path")

// locationWorker reads the only argument a mount has in [location]: the
// pattern is the section's path.
func locationWorker(g given) (string, error) {
	if g.in.location.Match {
		return "", errMatch
	}
	args, err := words(g.Value)
	switch {
	case err != nil:
		return "", err
	case len(args) > 1:
		return "", errors.New("takes a worker only in this section: the pattern is the section's path")
	case args[0] == "":
		return "", errors.New("the worker must not be empty")
	}
	return args[0], nil
}

// addEnv adds SetEnv, UnsetEnv and those with a condition.
func addEnv(t table) {
	addEnvIf(t)
	t.add(directive{name: "SetEnv", many: true, set: func(p *parser, g given) error {
		args, err := words(g.Value)
		switch {
		case err != nil:
			return err
		case len(args) > 2:
			return errors.New("needs a name and a value; a value with blanks must be quoted")
		}
		if err := envName(args[0]); err != nil {
			return err
		}
		s := EnvSetting{Name: args[0]}
		if len(args) == 2 {
			s.Value = args[1]
		}
		g.in.setEnv(s)
		return nil
	}})
	t.add(directive{name: "UnsetEnv", many: true, set: func(p *parser, g given) error {
		args, err := words(g.Value)
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := envName(name); err != nil {
				return err
			}
		}
		for _, name := range args {
			g.in.setEnv(EnvSetting{Name: name, Unset: true})
		}
		return nil
	}})
}

func envName(s string) error {
	switch {
	case s == "":
		return errors.New("the name is empty")
	case strings.Contains(s, "="):
		return fmt.Errorf("%q is no name: the value follows the name behind a blank, not behind '='", s)
	case strings.ContainsAny(s, " \t"):
		return fmt.Errorf("%q is no name: it contains a blank", s)
	}
	return nil
}

func setServerAlias(p *parser, g given) error {
	args, err := words(g.Value)
	if err != nil {
		return err
	}
	for _, a := range args {
		name, err := parseAlias(a)
		if err != nil {
			return err
		}
		g.in.server.aliases = append(g.in.server.aliases, alias{name, g.Line})
	}
	return nil
}

// parseAlias reads a host name or address that may contain wildcards.
func parseAlias(s string) (string, error) {
	if !wild(s) {
		if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') && strings.Count(s, ":") == 1 {
			return "", fmt.Errorf("%q has a port; that belongs into the head of the section", s)
		}
		name, err := parseHost(s)
		return strings.TrimSuffix(name, "."), err
	}
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-_.*?", c) >= 0) {
			return "", fmt.Errorf("%q is no host name with wildcards", s)
		}
	}
	return name, nil
}
