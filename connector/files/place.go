package files

import (
	"io/fs"
	"net/http"
	"net/netip"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"jkd/conf"
	"jkd/connector"
)

// place is a directory or file as one server serves it.
type place struct {
	c    *Connector
	root *root
	dir  *directory
	// none gets directories without an index (ForwardDirectories), nil: nobody.
	none connector.Worker
}

// rules are those of what r asks for by that name. What the location of r says
// counts more than what directories and files do; who may ask there, the front
// has judged already.
func (p *place) rules(r *connector.Request, name string, dir bool) rules {
	out := p.dir.of(name, dir)
	r.Directories = out.numbers
	for _, n := range r.Locations {
		l := &p.c.locations[n]
		out.add(&l.Rules)
		if l.Access.Require != nil {
			out.access.Require = nil
		}
		if l.Access.Order != nil {
			out.access.Order = nil
		}
	}
	return out
}

// allows tells whether the client of r may see what has this access.
func allows(r *connector.Request, a conf.Access) bool {
	if !a.Says() {
		return true
	}
	client, err := netip.ParseAddr(string(r.RemoteAddr))
	return err == nil && a.Require.Allows(client) && a.Order.Allows(client)
}

// found is something that there is.
type found struct {
	at    *os.Root
	name  string // in at
	info  fs.FileInfo
	rules rules
}

// find looks for what r asks for by that name, which may end with a slash.
func (p *place) find(name string, r *connector.Request) (f found, err error) {
	name, asDir := strings.CutSuffix(name, "/")
	asDir = asDir || name == "" && strings.HasSuffix(string(r.MatchPath), "/")
	if name != "" {
		if err := checkName(name); err != nil {
			return f, err
		}
	}
	f.rules = p.rules(r, name, asDir)
	if !allows(r, f.rules.access) {
		return f, own(http.StatusForbidden, errDenied)
	}
	var single string
	if f.at, single, err = p.root.open(time.Now()); err != nil {
		// Whoever configured it should hear of it.
		return f, &connector.Error{Worker: Name, Op: "open directory", Status: http.StatusNotFound, Err: err}
	}
	switch {
	case single != "" && name != "":
		return f, syscall.ENOTDIR
	case single != "":
		name = single
	case name == "":
		name = "."
	}
	f.name = name
	if single == "" {
		if err := p.dir.checkLinks(f.at, name); err != nil {
			return f, err
		}
	}
	// Looked at before it is opened: opening is enough to disturb some devices.
	f.info, err = f.at.Stat(name)
	switch {
	case err != nil:
		return f, err
	case f.info.IsDir() && !asDir:
		return f, redirect(r)
	case f.info.IsDir():
		return f, nil
	case asDir:
		return f, syscall.ENOTDIR
	case !f.info.Mode().IsRegular():
		return f, errType
	}
	return f, nil
}

// serve answers r with what is called name.
func (p *place) serve(name string, r *connector.Request, w connector.ResponseWriter) error {
	switch {
	case hasEscapedSlash(r.Path):
		return own(http.StatusNotFound, errName)
	case isSource(name):
		return own(http.StatusNotFound, errPrivate)
	}
	f, err := p.find(name, r)
	switch {
	case err != nil:
		return failure(err)
	case f.info.IsDir():
		return p.serveDir(&f, r, w)
	}
	if done, err := method(r, w); done {
		return err
	}
	file, info, err := openFile(f.at, f.name)
	if err != nil {
		return failure(err)
	}
	defer func() { file.Close() }()
	c := f.rules.content(path.Base(f.name))
	if len(f.rules.precompress) > 0 && c.coding == "" {
		packed, other, coding := f.packed(info, r)
		c.varies = coding != ""
		if packed != nil {
			file.Close()
			file, info, c.coding = packed, other, coding
		}
	}
	return send(file, info, c, r, w)
}

// serveDir answers r with the index of a directory, or with the list of what is
// in it.
func (p *place) serveDir(f *found, r *connector.Request, w connector.ResponseWriter) error {
	to, refused := p.c.index(f.rules.index, r)
	switch {
	case to != nil:
		return to
	case refused != nil:
		return refused
	case p.none != nil:
		return p.none.Service(r, w)
	case f.rules.options&conf.Indexes == 0:
		return own(http.StatusForbidden, errNoIndex)
	}
	if done, err := method(r, w); done {
		return err
	}
	return p.list(f, r, w)
}
