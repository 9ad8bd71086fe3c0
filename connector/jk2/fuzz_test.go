package jk2

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"jkd/conf"
)

// FuzzParseConfig: any text is read or refused with faults that name a line,
// nothing secret is said, and what was read can be used.
func FuzzParseConfig(f *testing.F) {
	for _, name := range []string{"freebsd-2003-workers2.properties", "field/13-jk2-minimal-workers2.properties", "field/15-jk2-broken-workers2.properties"} {
		f.Add(file(f, name).Data)
	}
	for _, text := range []string{
		"[channel.un:/a/${x}]\n[lb:x]\nworker=ajp13:/a/${x}\nrecovery=5\n",
		"[uri:h:80$^/a|b]\n[uri:h]\nalias=x:1\ninheritGlobals=0\n[uri:*:1/*]\n[uri:/?]\ncontext=/?\n",
		"[shm]\nfile=anon\n$A=b\nslots=${A}\n[status]\n[uri:/x]\ngroup=status\n",
		"[ajp13:x]\nchannel=channel.socket\n[channel.socket]\nsecretkey=hunter2hunter2\nlevel=9\n",
		"[logger.file:a]\nfile=stderr\n[workerEnv]\nlogger=logger.file:a\n[vm]\ndisabled=1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, warnings, err := ParseConfig(testEnv("x", "y"), Source{File: "w", Data: data})
		if (c == nil) == (err == nil) {
			t.Fatal("neither a result nor a fault, or both")
		}
		for _, w := range warnings {
			if strings.ContainsAny(w.String(), "\n\x00") {
				t.Errorf("warning %q", w)
			}
		}
		if err != nil {
			var all conf.Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatal(err)
			}
			for _, e := range all {
				if e.File != "w" || e.Line == 0 || e.Msg == "" || strings.ContainsAny(e.Error(), "\n\x00") {
					t.Errorf("fault %q", e)
				}
			}
			return
		}
		for i := range c.Workers {
			if ch := c.Workers[i].Channel; ch < 0 || ch >= len(c.Channels) {
				t.Errorf("worker %d has channel %d", i, ch)
			}
		}
		for i := range c.Balancers {
			for _, m := range c.Balancers[i].Members {
				if m < 0 || m >= len(c.Workers) {
					t.Errorf("balancer %d has member %d", i, m)
				}
			}
		}
		m := NewMapper(c)
		for i := range c.Uris {
			u := &c.Uris[i]
			if maps := u.Kind != Host && u.Kind != Context; maps != (c.TargetName(u.Target) != "") {
				t.Errorf("%+v leads to %q", u, c.TargetName(u.Target))
			}
			if u.Kind == Exact && !u.Disabled && m.Match(0, []byte(u.Host), u.Port, []byte(u.Path)) == nil && !contexts(c) {
				t.Errorf("%+v does not match its own path", u)
			}
		}
		m.Match(0, []byte("h"), 80, []byte("/a/b.jsp"))
	})
}

// contexts tells whether there are contexts, which may keep a path from a rule.
func contexts(c *Config) bool {
	return slices.ContainsFunc(c.Uris, func(u Uri) bool { return u.Context != "" })
}

// FuzzMapper: whatever is asked, the answer is a rule that fits.
func FuzzMapper(f *testing.F) {
	f.Add("/a/*", "/b/*.jsp", "/a", "h", "/a/b.jsp")
	f.Add("/a*", "h/?x", "$[ab]+$", "H.", "/ax")
	f.Add("*:80/*", "h:80/x*", "/x/*/y", "h", "/x/1/y")
	f.Fuzz(func(t *testing.T, one, two, three, host, path string) {
		text := "[channel.socket:w:1]\n"
		for _, r := range []string{one, two, three} {
			if strings.ContainsAny(r, "#]\n\r\x00\v\f\t ${") {
				return
			}
			text += "[uri:" + r + "]\n"
		}
		c, _, err := ParseConfig(testEnv(), source(text))
		if err != nil {
			return
		}
		u := NewMapper(c).Match(0, []byte(host), 80, []byte(path))
		if u == nil {
			return
		}
		pattern := u.Path
		if u.Host != anyHost && u.Host != strings.TrimSuffix(strings.ToLower(host), ".") || u.Port != 0 && u.Port != 80 {
			t.Errorf("%+v for host %q", u, host)
		}
		if !conf.Wildcard(pattern, path) && path+"/*" != pattern && !(u.Kind == Prefix && strings.HasPrefix(path, pattern[:len(pattern)-1])) {
			t.Errorf("%+v for path %q", u, path)
		}
	})
}
