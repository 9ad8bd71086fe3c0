//go:build unix

package main

import (
	"errors"
	"net/netip"
	"regexp"
	"slices"

	"jkd/cmd/jkd/internal/headers"
	"jkd/cmd/jkd/internal/httpd"
	"jkd/conf"
)

// sites is what the configuration sets for the requests of the main server
// and of each virtual host; nil when it sets nothing and logs nothing. The logs
// are yet to be added: addLogs.
func sites(c *conf.Config) []httpd.Site {
	out := make([]httpd.Site, 1+len(c.VHosts))
	out[0].Name, out[0].Env, out[0].Answers = c.Server.ServerName, envSettings(c.Env), answers(&c.Answers)
	for i := range c.VHosts {
		v := &c.VHosts[i]
		out[i+1].Name, out[i+1].Env, out[i+1].Answers = v.Name, envSettings(v.Env), answers(&v.Answers)
	}
	main := locations(c, 0)
	anything := len(c.CustomLogs) > 0 || c.Answers.Says() ||
		c.Files != nil && slices.ContainsFunc(c.Files.Directories, func(d conf.Directory) bool { return d.Says() })
	for i := range out {
		anything = anything || c.Jk != nil && c.Jk.Servers[i].RequestLogFormat != ""
		s := &out[i]
		s.Locations = main
		if i > 0 {
			s.Locations = append(slices.Clone(main), locations(c, i)...)
		}
		s.Locations = append(slices.Clip(s.Locations), statusAccess(c)...)
		anything = anything || len(s.Env) > 0 || len(s.Locations) > 0 || i > 0 && c.VHosts[i-1].Says()
	}
	if !anything {
		return nil
	}
	return out
}

// directories are what the sections about files say to the front.
func directories(c *conf.Config) (out []httpd.Answers) {
	if c.Files == nil {
		return nil
	}
	for i := range c.Files.Directories {
		out = append(out, answers(&c.Files.Directories[i].Answers))
	}
	return out
}

// locations are the sections of one server that set anything, in file order.
func locations(c *conf.Config, vhost int) []httpd.Location {
	var out []httpd.Location
	for i, l := range c.Locations {
		forConnectors := l.Access.Says() || !l.Rules.Empty() || len(l.Redirects) > 0
		if l.VHost != vhost || len(l.Env) == 0 && l.Handler == "" && !l.Says() && !forConnectors {
			continue
		}
		site := httpd.Location{Path: l.Path, Env: envSettings(l.Env), Handler: l.Handler, Answers: answers(&l.Answers)}
		if forConnectors {
			site.Number = i + 1
		}
		if l.Match {
			site.Path, site.Match = "", regexp.MustCompile(l.Path) // conf has judged it
		}
		if a := l.Access.Require; a != nil {
			site.Require = a.Allows
		}
		if a := l.Access.Order; a != nil {
			site.Order = a.Allows
		}
		out = append(out, site)
	}
	return out
}

// statusAccess are the paths of [status], which has its own rules for who may
// ask: those of the locations around it do not count there.
func statusAccess(c *conf.Config) []httpd.Location {
	var out []httpd.Location
	all := func(netip.Addr) bool { return true }
	if c.Status == nil || !slices.ContainsFunc(c.Locations, func(l conf.Location) bool { return l.Access.Says() }) {
		return nil
	}
	for _, path := range []string{c.Status.Location, c.Status.Metrics} {
		if path != "" {
			out = append(out, httpd.Location{Path: path, Require: all, Order: all})
		}
	}
	return out
}

// answers is what one place says. [checkHeaders] has judged it.
func answers(a *conf.Answers) (out httpd.Answers) {
	for _, e := range a.ErrorDocuments {
		d := httpd.ErrorDocument{Status: e.Status, URL: e.URL, Text: e.Text}
		if e.Path != "" {
			d.Path = []byte(e.Path)
		}
		out.Documents = append(out.Documents, d)
	}
	for _, h := range a.Headers {
		e := headers.Edit{Action: headers.Action(slices.Index(headers.Actions[:], h.Action)), Name: h.Name, Env: h.Env, Unless: h.Unless}
		e.Value, _ = headers.ParseFormat(h.Value)
		if h.Match != "" {
			e.Match = regexp.MustCompile(h.Match)
		}
		switch {
		case h.Request:
			out.Request = append(out.Request, e)
		case h.Always:
			out.Always = append(out.Always, e)
		default:
			out.Answer = append(out.Answer, e)
		}
	}
	return out
}

// checkHeaders tells what is wrong with the values of Header and RequestHeader.
func checkHeaders(c *conf.Config) error {
	var errs []error
	seen := map[int]bool{} // virtual hosts have the main server's
	check := func(list []conf.HeaderEdit) {
		for _, h := range list {
			if _, err := headers.ParseFormat(h.Value); err != nil && !seen[h.Line] {
				key := "Header"
				if h.Request {
					key = "RequestHeader"
				}
				errs = append(errs, &conf.Error{File: c.Path, Line: h.Line, Key: key, Msg: err.Error()})
				seen[h.Line] = true
			}
		}
	}
	check(c.Headers)
	for _, v := range c.VHosts {
		check(v.Headers)
	}
	for _, l := range c.Locations {
		check(l.Headers)
	}
	if c.Files != nil {
		for _, d := range c.Files.Directories {
			check(d.Headers)
		}
	}
	return errors.Join(errs...)
}

func envSettings(list []conf.EnvSetting) []httpd.EnvSetting {
	var out []httpd.EnvSetting
	for _, e := range list {
		s := httpd.EnvSetting{Name: e.Name, Value: e.Value, Unset: e.Unset}
		if e.If != nil {
			re, err := e.If.Regexp()
			if err != nil {
				continue // conf refuses it
			}
			s.If = &httpd.EnvIf{Attribute: e.If.Attribute, Pattern: re}
		}
		out = append(out, s)
	}
	return out
}
