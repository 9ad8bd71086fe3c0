package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// jk2File is read when no directive names a file, as mod_jk2 does.
const jk2File = "conf/workers2.properties"

func jk2Table() table {
	t := table{}
	t.add(directive{name: "File", once: true, set: func(p *parser, g given) error {
		path, err := unquote(g.Value)
		if err != nil {
			return err
		}
		return p.jk2Input(g, path)
	}})
	t.add(directive{name: "JkSet", many: true, set: func(p *parser, g given) error {
		args, err := arguments(g, 2, "needs a name such as workerEnv:timing and a value")
		switch {
		case err != nil:
			return err
		case args[0] == "config.file" || args[0] == "config:file":
			return p.jk2Set(g, args[1])
		}
		p.cfg.Jk2.Sets = append(p.cfg.Jk2.Sets, JkSet{Property: args[0], Value: args[1], Line: g.Line})
		return nil
	}})
	t.add(directive{name: "JkSet2", many: true, set: func(p *parser, g given) error {
		args, err := arguments(g, 3, "needs an object, a property and a value")
		switch {
		case err != nil:
			return err
		case (args[0] == "config" || args[0] == "config:") && args[1] == "file":
			return p.jk2Set(g, args[2])
		}
		p.cfg.Jk2.Sets = append(p.cfg.Jk2.Sets, JkSet{Object: args[0], Property: args[1], Value: args[2], Line: g.Line})
		return nil
	}})
	t.add(directive{name: "JkUriSet", many: true, set: func(p *parser, g given) error {
		args, err := arguments(g, 3, "needs a path, a property and a value")
		switch {
		case err != nil:
			return err
		case !strings.HasPrefix(args[0], "/"):
			return errors.New("the path does not begin with '/'")
		}
		p.cfg.Jk2.URISets = append(p.cfg.Jk2.URISets, JkURISet{Path: args[0], Property: args[1], Value: args[2], Line: g.Line})
		return nil
	}})
	return t
}

// setLocationURI is JkUriSet in [location]: the path is the section's.
func setLocationURI(_ *parser, g given) error {
	if g.in.location.Match {
		return errMatch
	}
	args, err := arguments(g, 2, "needs a property and a value: the path is the section's")
	if err == nil {
		l := g.in.location
		l.uriSets = append(l.uriSets, JkURISet{Path: l.Path, Property: args[0], Value: args[1], Line: g.Line})
	}
	return err
}

// arguments reads so many words, none empty; what says what is needed.
func arguments(g given, n int, what string) ([]string, error) {
	args, err := words(g.Value)
	switch {
	case err != nil:
		return nil, err
	case len(args) != n:
		return nil, errors.New(what + "; what contains blanks must be quoted")
	}
	for _, a := range args {
		if a == "" {
			return nil, errors.New(what + ", none of them empty")
		}
	}
	return args, nil
}

// jk2Set is JkSet config:file, the way in which mod_jk2 is told of its file:
// ${name} may stand in the path.
func (p *parser) jk2Set(g given, path string) error {
	var r Report
	path, _ = Macros{"${", "}"}.Expand(&r, Place{}, g.Key, path, func(name string) (string, bool) {
		if name == "serverRoot" {
			return p.cfg.Server.ServerRoot, true
		}
		return os.LookupEnv(name)
	})
	if len(r.Warnings) > 0 {
		p.jk2From = g
		return fmt.Errorf("%s: there is no such variable", path)
	}
	return p.jk2Input(g, path)
}

// jk2Input reads workers2.properties. Only one directive may name it.
func (p *parser) jk2Input(g given, path string) error {
	if at := p.jk2From; at.Line > 0 {
		return fmt.Errorf("the file is named by %s in %s already", at.Key, p.at(at.Line))
	}
	p.jk2From = g
	f, err := p.read(path)
	p.cfg.Jk2.File, p.cfg.Jk2.Before = f, len(p.cfg.Jk2.Sets)
	return err
}

// jk2 completes section [connector.jk2].
func (p *parser) jk2() {
	for _, l := range p.locations {
		if len(l.uriSets) == 0 || l.VHost < 0 {
			continue
		}
		if p.cfg.Jk2 == nil {
			p.title("JkUriSet", l.uriSets[0].Line, errors.New("is of no use without a section [connector.jk2]"))
			return
		}
		for _, s := range l.uriSets {
			s.VHost = l.VHost
			p.cfg.Jk2.URISets = append(p.cfg.Jk2.URISets, s)
		}
	}
	if p.cfg.Jk2 == nil || p.jk2From.Line > 0 {
		return
	}
	p.cfg.Jk2.Before = len(p.cfg.Jk2.Sets)
	path := p.path(jk2File)
	switch data, err := readFile(path); {
	case err == nil:
		p.cfg.Jk2.File = &File{Path: path, Data: data}
	case !errors.Is(err, fs.ErrNotExist):
		p.title("["+jk2Section+"]", p.cfg.Jk2.Line, errors.New(path+": "+err.Error()))
	case len(p.cfg.Jk2.Sets) == 0:
		p.title("["+jk2Section+"]", p.cfg.Jk2.Line, errors.New("needs File = workers2.properties, or JkSet config:file: there is no "+path))
	}
}
