package conf

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// PipedLog takes the value of a log directive apart that names a program: '|'
// and the program with its arguments, or "|$" and a line for the shell. ok is
// false for a path, and command nil for what is no command.
func PipedLog(value string) (command []string, ok bool) {
	text, ok := strings.CutPrefix(value, "|")
	if !ok {
		return nil, false
	}
	if line, shell := strings.CutPrefix(text, "$"); shell {
		if line = strings.Trim(line, blanks); line == "" {
			return nil, true
		}
		return []string{"/bin/sh", "-c", line}, true
	}
	text = strings.Trim(strings.TrimPrefix(text, "|"), blanks) // "||" is Apache's other way to write it
	command, err := words(text)
	if err != nil || len(command) == 0 || command[0] == "" {
		return nil, true
	}
	return command, true
}

// CheckPipedLog tells why the program that the value of a log directive names
// cannot be started in dir, where it runs. It has nothing to say of paths.
func CheckPipedLog(value, dir string) error {
	command, ok := PipedLog(value)
	switch {
	case !ok:
		return nil
	case command == nil:
		return errors.New("'|' is followed by a program and its arguments")
	}
	name := command[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if _, err := exec.LookPath(name); err != nil {
		if e, ok := errors.AsType[*exec.Error](err); ok {
			err = e.Err
		}
		return fmt.Errorf("the program %s: %w", Printable(name), reason(err))
	}
	return nil
}

// log returns the value of a log directive: the absolute path of a file, or
// what [PipedLog] takes apart.
func (p *parser) log(g given, value string) (string, error) {
	text, err := unquote(value)
	if err != nil {
		return "", err
	}
	if _, ok := PipedLog(text); ok {
		return text, CheckPipedLog(text, p.cfg.Server.ServerRoot)
	}
	return p.output(g, value)
}
