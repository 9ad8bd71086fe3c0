//go:build unix

package main

import (
	"fmt"
	"io"

	"jkd/conf"
	"jkd/connector/jk"
)

// loaded is a configuration that may be run.
type loaded struct {
	cfg      *conf.Config
	jk       *jk.Setup // nil without [connector.jk]
	warnings []conf.Warning
}

// loadConfig reads and checks everything that can be checked without side
// effects. Its error is all that is wrong, one fault a line.
func loadConfig(f flags) (loaded, error) {
	cfg, warnings, err := conf.Load(f.config, conf.Options{MPM: f.mpm})
	l := loaded{cfg: cfg, warnings: warnings}
	if err != nil {
		return l, err
	}
	if err := l.check(); err != nil {
		return l, err
	}
	return l, nil
}

// check looks at what the sections mean together.
func (l *loaded) check() error {
	setup, warnings, err := jkSetup(l.cfg)
	l.warnings = append(l.warnings, warnings...)
	if err != nil {
		return err
	}
	l.jk = setup
	if _, err := newModule(l.cfg); err != nil {
		return err
	}
	if _, err := accessLogFormat(l.cfg); err != nil {
		return err
	}
	if l.jk == nil {
		l.warnings = append(l.warnings, conf.Warning{File: l.cfg.Path, Msg: "there is no [connector.jk]: every request will be answered with 404"})
	}
	return nil
}

// testConfig is jkd -t.
func testConfig(f flags, w io.Writer) int {
	l, err := loadConfig(f)
	for _, warning := range l.warnings {
		fmt.Fprintf(w, "%s: %s\n", warning.Severity, warning)
	}
	if err != nil {
		fmt.Fprintln(w, err)
		return 1
	}
	fmt.Fprintln(w, "Syntax OK")
	return 0
}
