package jk

import (
	"net"
	"strconv"

	"jkd/conf"
)

// Setup is what [connector.jk] says, checked: it can be served. It does not
// change and may be used concurrently; [Setup.Remap] makes another one.
type Setup struct {
	Config *Config
	// Maps has a map for each of conf.Jk.Servers, so that
	// connector.Request.VHost is the place of the one that counts. None is nil.
	// Servers that share a map have the same pointer.
	Maps []*URIMap

	env  Env
	plan []serverPlan // by server
}

// serverPlan is what the map of one server is made of.
type serverPlan struct {
	name string // of the server, with its port
	// shares is the server whose map this one has, or -1 for one of its own.
	shares int
	mounts Mounts
	every  reload
}

// Map returns the map of the main server.
func (s *Setup) Map() *URIMap { return s.Maps[0] }

// plan finds out what the map of each server is made of. A virtual host
// without anything of its own maps nothing unless JkMountCopy gives it the main
// server's map; one that has rules and JkMountCopy has the main server's
// JkMount and JkUnMount besides, and its map file if it has none itself. What a
// worker asks for (worker.X.mount) goes to the main server only.
func plan(c *conf.Config) []serverPlan {
	out := make([]serverPlan, len(c.Jk.Servers))
	for i := range c.Jk.Servers {
		j := &c.Jk.Servers[i]
		p := &out[i]
		*p = serverPlan{name: serverName(c, i), shares: -1, every: reload(j.MountFileReload), mounts: Mounts{
			ConfFile: c.Path, Mounts: j.Mounts, UnMounts: j.UnMounts, MapFile: j.MountFile, Virtual: i > 0,
		}}
		if i == 0 || j.MountCopy == conf.CopyOff {
			continue
		}
		m, main := &p.mounts, &out[0].mounts
		if len(m.Mounts) == 0 && len(m.UnMounts) == 0 && m.MapFile == nil {
			p.shares = 0
			continue
		}
		m.Copied, m.CopiedUn = main.Mounts, main.UnMounts
		if m.MapFile == nil {
			m.MapFile = main.MapFile
		}
	}
	return out
}

// serverName is what the status worker calls a server, "name:port".
func serverName(c *conf.Config, server int) string {
	name, port := c.Server.ServerName, c.Server.ServerPort
	if server > 0 {
		v := &c.VHosts[server-1]
		name = v.Name
		if v.Port > 0 {
			port = v.Port
		}
	}
	if name == "" {
		name = "*"
	}
	if port == 0 {
		return name + ":*"
	}
	return net.JoinHostPort(name, strconv.Itoa(port))
}

// serverName is the name of a server, "" when there is no plan.
func (s *Setup) serverName(server int) string {
	if server >= len(s.plan) {
		return ""
	}
	return s.plan[server].name
}
