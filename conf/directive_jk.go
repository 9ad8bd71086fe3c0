package conf

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// jkTable has what only the main server has, and what a virtual host may have
// too.
func jkTable() table {
	t := table{}
	t.add(directive{name: "JkWorkersFile", once: true, set: func(p *parser, g given) (err error) {
		p.cfg.Jk.WorkersFile, err = p.input(g)
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
	t.add(directive{name: "JkShmFile", set: outputPath(func(c *Config) *string { return &c.Jk.ShmFile })})
	t.add(directive{name: "JkShmSize", set: func(p *parser, g given) error {
		n, err := parseInt(g.Value)
		if err != nil {
			return err
		}
		if err := inRange(n, 0, math.MaxInt32/1024); err != nil {
			return err
		}
		p.cfg.Jk.ShmSize = int(n) << 10
		p.warn(g.Line, g.Key, "has no effect: the segment has the size that the workers need")
		return nil
	}})
	t.add(directive{name: "JkWatchdogInterval",
		set: seconds(func(c *Config) *time.Duration { return &c.Jk.WatchdogInterval }, 0)})
	addJkServer(t)
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
	return p.read(path)
}

// read reads the file at a path of the configuration.
func (p *parser) read(path string) (*File, error) {
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
