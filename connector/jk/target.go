package jk

import (
	"strings"

	"jkd/conf"
)

// ParseTarget reads the value of the variable JK_WORKER_NAME: what stands on
// the right side of a rule, "worker;extension=value". The result is a rule
// without a pattern. A worker that is not there is a fault, and so is a bad
// value; names and places that mean nothing are passed over, as in a rule.
// Reading costs more than a look into a map: callers keep the result.
func ParseTarget(c *Config, text string) (*Rule, error) {
	worker, ext, _ := strings.Cut(text, ";")
	r := &Rule{Worker: strings.Trim(worker, blanks), Source: FromEnv, File: FromEnv.String()}
	b := &mapBuilder{report: &report{}, cfg: c}
	if !b.worker(r, conf.Printable(text)) {
		return nil, b.errs.Err()
	}
	r.Extensions = b.extensions(r, conf.Printable(text), ext)
	if err := b.errs.Err(); err != nil {
		return nil, err
	}
	return r, nil
}
