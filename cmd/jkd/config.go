//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"jkd/cmd/jkd/internal/users"
	"jkd/conf"
	"jkd/connector/jk"
	"jkd/connector/jk2"
	"jkd/connector/proxy"
)

// loaded is a configuration that may be run.
type loaded struct {
	cfg      *conf.Config
	jk       *jk.Setup    // nil without [connector.jk], or with faults
	jk2      *jk2.Setup   // nil without [connector.jk2], or with faults
	proxy    *proxy.Setup // nil without directives of mod_proxy, or with faults
	warnings []conf.Warning
}

// loadConfig reads and checks everything that can be checked without side
// effects. Its error is all that is wrong in all files, one fault a line.
func loadConfig(f flags) (loaded, error) {
	cfg, warnings, err := conf.Load(f.config, conf.Options{MPM: f.mpm})
	l := loaded{cfg: cfg, warnings: warnings}
	if cfg == nil {
		return l, err
	}
	return l, errors.Join(err, l.check())
}

// check looks at what the sections mean together, and at the files they name.
func (l *loaded) check() error {
	var errs []error
	if l.cfg.Jk == nil && l.cfg.Jk2 == nil && l.cfg.Proxy == nil && !l.cfg.Files.Any() {
		l.warnings = append(l.warnings, conf.Warning{File: l.cfg.Path, Msg: "there is no [connector.jk], no [connector.jk2], no [proxy] and no DocumentRoot: every request will be answered with 404"})
	}
	if l.cfg.Jk2 != nil {
		setup, warnings, err := jk2.Load(l.cfg)
		l.jk2, l.warnings = setup, append(l.warnings, warnings...)
		errs = append(errs, err)
	}
	if l.cfg.Jk != nil {
		setup, warnings, err := jk.Load(l.cfg)
		l.jk, l.warnings = setup, append(l.warnings, warnings...)
		errs = append(errs, err)
	}
	if l.cfg.Proxy != nil {
		setup, warnings, err := proxy.Load(l.cfg)
		l.proxy, l.warnings = setup, append(l.warnings, warnings...)
		errs = append(errs, err)
	}
	if s := l.cfg.Status; s != nil && s.Users != nil {
		_, err := users.Read(s.Users)
		errs = append(errs, err)
	}
	_, err := newModule(l.cfg)
	errs = append(errs, err, l.checkPrivileges(os.Geteuid()))
	return l.locate(append(errs, checkLogs(l.cfg, l.jk2), checkHeaders(l.cfg)))
}

// locate joins what is wrong. The connectors know lines of the configuration,
// which may be in a file that another one includes.
func (l *loaded) locate(errs []error) error {
	err := errors.Join(errs...)
	l.cfg.Locate(faults(err), l.warnings)
	return err
}

// faults are all faults that an error holds.
func faults(err error) (out conf.Errors) {
	switch e := err.(type) {
	case *conf.Error:
		return conf.Errors{e}
	case interface{ Unwrap() []error }: // conf.Errors too
		for _, one := range e.Unwrap() {
			out = append(out, faults(one)...)
		}
	case interface{ Unwrap() error }:
		return faults(e.Unwrap())
	}
	return out
}

// dumpConfig is jkd -dump.
func dumpConfig(f flags, out, said io.Writer) int {
	text, warnings, err := conf.Dump(f.config, conf.Options{MPM: f.mpm})
	for _, warning := range warnings {
		fmt.Fprintf(said, "%s: %s\n", warning.Severity, warning)
	}
	if err == nil {
		_, err = out.Write(text)
	}
	if err != nil {
		fmt.Fprintln(said, err)
		return 1
	}
	return 0
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
