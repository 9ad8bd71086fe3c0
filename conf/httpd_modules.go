package conf

import (
	"strings"

	"jkd/conf/apache"
)

// moduleFile gives the names of modules whose source is not called mod_NAME.c.
var moduleFiles = map[string]string{
	"core.c": "core_module", "http_core.c": "http_module", "prefork.c": "mpm_prefork_module", "worker.c": "mpm_worker_module", "event.c": "mpm_event_module",
	"mod_log_config.c": "log_config_module", "mod_so.c": "so_module",
}

// modules are those of Apache that jkd has something for.
var modules = map[string]apache.Kind{
	"core_module": apache.Builtin, "http_module": apache.Builtin, "so_module": apache.Builtin, "unixd_module": apache.Builtin, "mpm_common_module": apache.Builtin,
	"log_config_module": apache.Builtin, "setenvif_module": apache.Builtin, "env_module": apache.Builtin, "version_module": apache.Builtin,
	"alias_module": apache.Builtin, "dir_module": apache.Builtin, "mime_module": apache.Builtin, "autoindex_module": apache.Builtin,
	"access_module": apache.Builtin, "access_compat_module": apache.Builtin, "authz_core_module": apache.Builtin, "authz_host_module": apache.Builtin,

	"jk_module": apache.Optional, "jk2_module": apache.Optional, "status_module": apache.Optional,
	"proxy_module": apache.Optional, "proxy_ajp_module": apache.Optional, "proxy_http_module": apache.Optional, "proxy_balancer_module": apache.Optional,
	"proxy_wstunnel_module": apache.Optional, "headers_module": apache.Optional,
	"lbmethod_byrequests_module": apache.Optional, "lbmethod_bytraffic_module": apache.Optional, "lbmethod_bybusyness_module": apache.Optional,

	"mpm_prefork_module": apache.MPM, "mpm_worker_module": apache.MPM, "mpm_event_module": apache.MPM,
}

// apacheModule is apache.Options.Module.
func apacheModule(name string) apache.Module {
	id := strings.ToLower(name)
	if file, ok := moduleFiles[id]; ok {
		id = file
	} else if inner, ok := strings.CutSuffix(id, ".c"); ok {
		id = strings.TrimPrefix(inner, "mod_") + "_module"
	}
	return apache.Module{ID: id, Kind: modules[id]}
}

// mpmModule is the module of an MPM, name or else other.
func mpmModule(name, other string) string {
	if name == "" {
		name = other
	}
	return "mpm_" + name + "_module"
}

// modulesOf collects LoadModule.
func (h *httpd) modulesOf(list []*apache.Directive) {
	for _, d := range list {
		if d.Skipped {
			continue
		}
		h.modulesOf(d.Children)
		if args, err := apache.Words(d.Args); err == nil && len(args) > 0 && strings.EqualFold(d.Name, "LoadModule") {
			if id := apacheModule(args[0]).ID; h.modules[id] == nil {
				h.modules[id] = d
			}
		}
	}
}

// chooseMPM settles which section the numbers of the MPM are for.
func (h *httpd) chooseMPM(o Options) {
	h.mpm = Prefork
	for _, d := range h.tree.Directives {
		args, err := apache.Words(d.Args)
		if err != nil || len(args) == 0 {
			continue
		}
		switch strings.ToLower(d.Name) {
		case "mpm":
			if name, err := parseMPM(args[0]); err == nil {
				h.mpm = name
			}
		case "loadmodule":
			switch apacheModule(args[0]).ID {
			case "mpm_prefork_module":
				h.mpm = Prefork
			case "mpm_worker_module", "mpm_event_module":
				h.mpm = Worker
			}
		}
	}
	if o.MPM != "" {
		h.mpm = o.MPM
	}
}

func (h *httpd) loadModule(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok {
		return true
	}
	if in.kind != inServer || len(args) != 2 {
		h.fail(d, "needs the name and the file of a module, and stands outside of sections")
		return true
	}
	m := apacheModule(args[0])
	switch {
	case m.Kind == apache.MPM:
		name := Worker
		switch m.ID {
		case "mpm_prefork_module":
			name = Prefork
		case "mpm_event_module":
			h.info(d, "jkd has no event MPM: worker is used, which needs no thread for a connection that waits for a request either")
		}
		h.put(h.server, d, "MPM", name)
	case m.Kind != apache.Absent:
	default:
		switch text, known := absentModules()[m.ID]; {
		case !known && strings.HasSuffix(m.ID, "_module"):
			h.warn(d, "jkd has nothing for %s: what it does will not be done", args[0])
		case !known:
			h.fail(d, "%q is not the name of a module, such as jk_module", args[0])
		case text == "":
			h.info(d, "%s is not needed", args[0])
		default:
			h.warn(d, "jkd has nothing for %s: %s", args[0], text)
		}
	}
	return true
}

// skipped looks at a section whose condition does not hold. One for the other
// MPM has its numbers, with which -mpm may start jkd.
func (h *httpd) skipped(d *apache.Directive, in context) {
	args, err := apache.Words(d.Args)
	if err != nil || len(args) != 1 || !strings.EqualFold(d.Name, "IfModule") {
		return
	}
	m := apacheModule(strings.TrimPrefix(args[0], "!"))
	switch {
	case strings.HasPrefix(args[0], "!") || in.kind != inServer:
	case m.Kind == apache.Optional:
		h.info(d, "is skipped: jkd has %s, but no LoadModule names it above", m.ID)
	case m.Kind == apache.MPM:
		other := h.prefork
		switch {
		case m.ID == "mpm_prefork_module" && h.mpm == Worker:
		case m.ID == "mpm_worker_module" && h.mpm == Prefork, m.ID == "mpm_event_module" && h.mpm == Worker && h.modules[m.ID] != nil:
			other = h.worker
		default:
			return
		}
		for _, n := range d.Children {
			if _, ok := directives()[other.Name][strings.ToLower(n.Name)]; ok && !n.Section {
				h.add(other, n)
			}
		}
	}
}

// addNumbers enters the MPM's directives that stand outside of IfModule, or in
// the one of the MPM in use.
func (h *httpd) addNumbers() {
	mine, other := h.prefork, h.worker
	if h.mpm == Worker {
		mine, other = other, mine
	}
	for _, d := range h.numbers {
		s := mine
		if _, ok := directives()[s.Name][strings.ToLower(d.Name)]; !ok {
			h.info(d, "is for the MPM %s, which is not in use", strings.TrimPrefix(other.Name, "mpm."))
			s = other
		}
		h.add(s, d)
	}
}
