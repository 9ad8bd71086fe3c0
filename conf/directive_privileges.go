package conf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// addPrivileges adds the directives, besides User and Group, about what
// children may do.
func addPrivileges(t table) {
	t.add(directive{name: "AllowRootChildren", set: onOff(func(c *Config) *bool { return &c.Server.AllowRootChildren })})
	t.add(directive{name: "ChrootDir", set: directory(func(c *Config) *string { return &c.Server.ChrootDir })})
	t.add(directive{name: "CoreDumpDirectory", set: directory(func(c *Config) *string { return &c.Server.CoreDumpDirectory })})
}

// directory sets the absolute path of a directory. Whether it is there is
// found out by confinement, when all of the file is known.
func directory(where func(*Config) *string) func(*parser, given) error {
	return func(p *parser, g given) error {
		path, err := unquote(g.Value)
		switch {
		case err != nil:
			return err
		case path == "":
			return errors.New("the path is empty")
		}
		*where(p.cfg) = p.path(path)
		return nil
	}
}

// jail settles ChrootDir before anything is looked for in it.
func (p *parser) jail(s *Sections) {
	for _, pair := range s.Get("server") {
		if !strings.EqualFold(pair.Key, "ChrootDir") {
			continue
		}
		if dir, err := unquote(pair.Value); err == nil && dir != "" {
			p.cfg.Server.ChrootDir = p.path(dir)
		}
	}
}

// chrooted is where the master finds what children know by an absolute path.
func (p *parser) chrooted(path string) string {
	return filepath.Join(p.cfg.Server.ChrootDir, path)
}

// confinement checks ChrootDir and what has to be in it.
func (p *parser) confinement() {
	s := &p.cfg.Server
	if g, ok := p.first["server ChrootDir"]; ok && s.ChrootDir != "" {
		if err := existingDir(s.ChrootDir); err != nil {
			p.fail(g, "%s", err)
			return
		}
		if !p.has("server", "User") {
			p.fail(g, "needs directive User beside it: it is no prison for root")
		}
	}
	if g, ok := p.first["server CoreDumpDirectory"]; ok && s.CoreDumpDirectory != "" {
		if err := existingDir(p.chrooted(s.CoreDumpDirectory)); err != nil {
			p.fail(g, "%s", err)
		}
	}
}

func existingDir(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, reason(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", path)
	}
	return nil
}
