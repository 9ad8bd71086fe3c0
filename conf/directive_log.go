package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The two formats that have a nickname without any LogFormat.
const (
	CommonFormat   = `%h %l %u %t "%r" %>s %b`
	CombinedFormat = CommonFormat + ` "%{Referer}i" "%{User-agent}i"`
)

var builtinFormats = map[string]string{"common": CommonFormat, "combined": CombinedFormat}

// setLogFormat reads "format nickname".
func setLogFormat(p *parser, g given) error {
	args, err := words(g.Value)
	switch {
	case err != nil:
		return err
	case len(args) == 1:
		return errors.New("needs a format and a nickname; the nickname is missing")
	case len(args) > 2:
		return errors.New("needs a format and a nickname; a format with blanks must be quoted")
	case args[0] == "" || args[1] == "":
		return errors.New("the format and the nickname must not be empty")
	case strings.Contains(args[1], "%"):
		return fmt.Errorf("%q is no nickname: the format comes first", args[1])
	}
	if before, again := p.formats[args[1]]; again {
		p.warn(g.Line, g.Key, "%s is given again: this one counts, not that of %s", Printable(args[1]), p.at(before))
	}
	if p.cfg.LogFormats == nil {
		p.cfg.LogFormats, p.formats = map[string]string{}, map[string]int{}
	}
	p.cfg.LogFormats[args[1]], p.formats[args[1]] = args[0], g.Line
	return nil
}

// setErrorLogFormat reads text or json. Apache has a language of its own for
// this directive.
func setErrorLogFormat(p *parser, g given) error {
	format, err := unquote(g.Value)
	known := []string{"text", "json"}
	switch {
	case err != nil:
		return err
	case strings.Contains(format, "%"):
		return errors.New("Apache's formats are not supported, only text and json")
	case !slices.Contains(known, strings.ToLower(format)):
		return fmt.Errorf("unknown format %q%s (text, json)", format, DidYouMean(format, known))
	}
	p.cfg.Server.ErrorLogJSON = strings.EqualFold(format, "json")
	return nil
}

// customLog is a CustomLog whose nickname may be defined further down.
type customLog struct {
	log    CustomLog
	server *server
	given  given
}

// setCustomLog reads "path [format|nickname] [env=[!]name]". A format with
// blanks is quoted as in Apache, or simply the rest of the line.
func setCustomLog(p *parser, g given) error {
	path, rest, err := nextWord(g.Value)
	if err != nil {
		return err
	}
	if path, err = p.log(g, path); err != nil {
		return err
	}
	l := customLog{log: CustomLog{Path: path, Line: g.Line}, server: g.in.server, given: g}
	switch {
	case rest == "":
	case rest[0] == '"' || rest[0] == '\'':
		if l.log.Format, rest, err = nextWord(rest); err != nil {
			return err
		}
		if l.log.Format == "" {
			return errors.New("the format is empty")
		}
	default:
		format, last := rest, ""
		if i := strings.LastIndexAny(rest, " \t"); i >= 0 && condition(rest[i+1:]) {
			format, last = strings.TrimRight(rest[:i], " \t"), rest[i+1:]
		} else if condition(rest) {
			format, last = "", rest
		}
		l.log.Format, rest = format, last
	}
	if rest != "" {
		if l.log.Env, err = parseCondition(rest); err != nil {
			return err
		}
	}
	p.logs = append(p.logs, l)
	return nil
}

func condition(s string) bool { return strings.HasPrefix(s, "env=") || strings.HasPrefix(s, "expr=") }

func parseCondition(s string) (string, error) {
	name, ok := strings.CutPrefix(s, "env=")
	switch {
	case strings.HasPrefix(s, "expr="):
		return "", errors.New("a condition expr= is not supported, only env=NAME and env=!NAME")
	case !ok:
		return "", fmt.Errorf("%q follows the format; only env=NAME or env=!NAME may", s)
	case strings.TrimPrefix(name, "!") == "" || strings.ContainsAny(name, " \t"):
		return "", fmt.Errorf("%q is neither env=NAME nor env=!NAME", s)
	}
	return name, nil
}

// customLogs replaces nicknames and tells the logs of servers apart.
func (p *parser) customLogs() {
	for _, l := range p.logs {
		format, err := p.format(l.log.Format)
		if err != nil {
			p.fail(l.given, "%s", err)
			continue
		}
		l.log.Format = format
		if l.log.VHost = slices.Index(p.servers, l.server); l.log.VHost >= 0 {
			p.cfg.CustomLogs = append(p.cfg.CustomLogs, l.log)
		}
	}
}

// format finds the format that a CustomLog means.
func (p *parser) format(s string) (string, error) {
	if s == "" {
		s = "common"
	}
	if f, ok := p.cfg.LogFormats[s]; ok {
		return f, nil
	}
	if f, ok := builtinFormats[s]; ok {
		return f, nil
	}
	if strings.Contains(s, "%") {
		return s, nil
	}
	known := []string{"common", "combined"}
	for name := range p.cfg.LogFormats {
		known = append(known, name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return "", fmt.Errorf("unknown format %q%s (%s)", s, DidYouMean(s, known), strings.Join(known, ", "))
}
