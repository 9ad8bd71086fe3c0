package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// EnvIf is the condition of a SetEnvIf, SetEnvIfNoCase, BrowserMatch or
// BrowserMatchNoCase.
type EnvIf struct {
	// Attribute is what is looked at: Remote_Addr, Remote_Host, which is the
	// same, Remote_User, which is empty, Server_Addr, Request_Method,
	// Request_Protocol or Request_URI, as spelt here; a field of the request; or,
	// if there is none of that name, a variable set before.
	Attribute string
	// Pattern is a regular expression that has to be found in it. What is not
	// there is empty.
	Pattern string
	NoCase  bool
}

// Regexp compiles the pattern.
func (c *EnvIf) Regexp() (*regexp.Regexp, error) {
	if c.NoCase {
		return compile("(?i)" + c.Pattern)
	}
	return compile(c.Pattern)
}

var envAttributes = []string{"Remote_Addr", "Remote_Host", "Remote_User", "Server_Addr", "Request_Method", "Request_Protocol", "Request_URI"}

// compile compiles a regular expression of a configuration file, all of which
// were written for PCRE.
func compile(s string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, fmt.Errorf("the regular expression cannot be used: %w; it is one of RE2, without (?=...), (?!...) and \\1", err)
	}
	return re, nil
}

func regularExpression(s string) error {
	_, err := compile(s)
	return err
}

// addEnvIf adds the conditional settings.
func addEnvIf(t table) {
	add := func(name, attribute string, noCase bool) {
		t.add(directive{name: name, many: true, set: func(p *parser, g given) error {
			args, err := words(g.Value)
			if err != nil {
				return err
			}
			if attribute != "" {
				args = append([]string{attribute}, args...)
			}
			if len(args) < 3 {
				return errors.New("needs what to look at, a regular expression and at least one variable")
			}
			c := &EnvIf{Attribute: args[0], Pattern: args[1], NoCase: noCase}
			if err := c.judge(); err != nil {
				return err
			}
			if c.Attribute == "Remote_User" {
				p.warn(g.Line, g.Key, "Remote_User is always empty: jkd asks nobody for a name")
			}
			for _, a := range args[2:] {
				e := EnvSetting{If: c}
				if e.Name, e.Unset = strings.CutPrefix(a, "!"); !e.Unset {
					var has bool
					if e.Name, e.Value, has = strings.Cut(a, "="); !has {
						e.Value = "1"
					}
				}
				if err := envName(e.Name); err != nil {
					return err
				}
				g.in.setEnv(e)
			}
			return nil
		}})
	}
	add("SetEnvIf", "", false)
	add("SetEnvIfNoCase", "", true)
	add("BrowserMatch", "User-Agent", false)
	add("BrowserMatchNoCase", "User-Agent", true)
}

// judge spells the attribute as EnvIf has it.
func (c *EnvIf) judge() error {
	for _, known := range envAttributes {
		if strings.EqualFold(c.Attribute, known) {
			c.Attribute = known
		}
	}
	switch lower := strings.ToLower(c.Attribute); {
	case c.Attribute == "":
		return errors.New("what to look at is empty")
	case strings.HasPrefix(lower, "oid("):
		return fmt.Errorf("%s is not supported: jkd listens without TLS", c.Attribute)
	case strings.ContainsAny(c.Attribute, `^$*+?()[]{}|\.`):
		return fmt.Errorf("%q: an expression for names of fields is not supported, write the name", c.Attribute)
	}
	_, err := c.Regexp()
	return err
}
