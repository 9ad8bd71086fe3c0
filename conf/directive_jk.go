package conf

import (
	"errors"
	"fmt"
	"strings"
)

const jkSection = "connector.jk"

func jkTable() table {
	t := table{}
	t.add(directive{name: "JkWorkersFile", once: true, set: func(p *parser, g given) (err error) {
		p.cfg.Jk.WorkersFile, err = p.input(g)
		return err
	}})
	t.add(directive{name: "JkMountFile", once: true, set: func(p *parser, g given) (err error) {
		p.cfg.Jk.Main().MountFile, err = p.input(g)
		return err
	}})
	t.add(directive{name: "JkMount", many: true, set: func(p *parser, g given) error {
		m, err := parseMount(g)
		if err == nil {
			p.cfg.Jk.Main().Mounts = append(p.cfg.Jk.Main().Mounts, m)
		}
		return err
	}})
	t.add(directive{name: "JkUnMount", many: true, set: func(p *parser, g given) error {
		m, err := parseMount(g)
		if err == nil {
			p.cfg.Jk.Main().UnMounts = append(p.cfg.Jk.Main().UnMounts, m)
		}
		return err
	}})
	t.add(directive{name: "JkWorkerProperty", many: true, set: func(p *parser, g given) error {
		line, err := unquote(g.Value)
		if err != nil {
			return err
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.Trim(key, blanks), strings.Trim(value, blanks)
		if !ok || key == "" || value == "" {
			return fmt.Errorf("%q is not name=value", line)
		}
		p.cfg.Jk.Properties = append(p.cfg.Jk.Properties, Pair{Key: key, Value: value, Line: g.Line})
		return nil
	}})
	return t
}

// parseMount reads "pattern worker".
func parseMount(g given) (Mount, error) {
	args, err := words(g.Value)
	if err != nil {
		return Mount{}, err
	}
	switch {
	case len(args) == 1 && strings.Contains(args[0], "="):
		return Mount{}, errors.New("needs a pattern and a worker with a blank between them, not '='")
	case len(args) == 1:
		return Mount{}, errors.New("needs a pattern and a worker; the worker is missing")
	case len(args) > 2:
		return Mount{}, errors.New("needs a pattern and a worker; what contains blanks must be quoted")
	case args[0] == "" || args[1] == "":
		return Mount{}, errors.New("the pattern and the worker must not be empty")
	}
	return Mount{Pattern: args[0], Worker: args[1], Line: g.Line}, nil
}

// input reads a file the directive names.
func (p *parser) input(g given) (*File, error) {
	path, err := unquote(g.Value)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, errors.New("the path is empty")
	}
	path = p.path(path)
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &File{Path: path, Data: data}, nil
}
