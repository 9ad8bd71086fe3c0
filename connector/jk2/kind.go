package jk2

import (
	"slices"
	"strings"
	"sync"

	"jkd/conf"
)

// key is what is known of a property besides what the builder makes of it.
type key struct {
	// multi: every line counts; otherwise the last one does.
	multi bool
	// secret values are never printed.
	secret bool
	// dead is why the property is read but does nothing.
	dead string
	// readOnly properties are shown by the status page and cannot be set.
	readOnly bool
}

// kind is a type of component.
type kind struct {
	typ  string
	keys map[string]key
	// single: there is one of it and it always exists; [type] is it.
	single bool
	// foreign is why jkd has no such component. With refuse it is an error
	// unless the section is disabled, otherwise it only has no effect.
	foreign string
	refuse  bool
	// any: every key is taken without a word.
	any bool
}

// common are the properties of every component. They never are a fault.
var common = map[string]key{"info": {}, "ver": {}, "debug": {}, "disabled": {}, "name": {}}

// key returns what is known of a property; the zero value for what is unknown.
func (k *kind) key(name string) key {
	if x, ok := common[name]; ok {
		return x
	}
	return k.keys[name]
}

func (k *kind) knows(name string) bool {
	_, ok := common[name]
	if !ok {
		_, ok = k.keys[name]
	}
	return ok
}

// names are the properties worth suggesting, sorted.
func (k *kind) names() []string {
	var out []string
	for name, x := range k.keys {
		if x.dead == "" && !x.readOnly {
			out = append(out, name)
		}
	}
	for name := range common {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func keys(names string) map[string]key {
	out := map[string]key{}
	for _, n := range strings.Fields(names) {
		out[n] = key{}
	}
	return out
}

func with(more map[string]key, names string) map[string]key {
	for n, k := range keys(names) {
		more[n] = k
	}
	return more
}

// shown is a set of read-only properties.
func shown(more map[string]key, names string) map[string]key {
	for _, n := range strings.Fields(names) {
		more[n] = key{readOnly: true}
	}
	return more
}

// workerKeys are those of ajp13. A channel hands what it does not know itself
// to its worker.
var workerKeys = sync.OnceValue(func() map[string]key {
	return shown(with(map[string]key{
		"group":     {multi: true},
		"secretkey": {secret: true},
	}, "tomcatId route routeRedirect lb_factor level graceful max_connections channel connectTimeout prepostTimeout replyTimeout"),
		"groups epCount lb_value errorState errorTime")
})

func channelKind(typ string, own map[string]key) *kind {
	for n, k := range workerKeys() {
		if _, ok := own[n]; !ok && n != "channel" && !k.readOnly {
			own[n] = k
		}
	}
	return &kind{typ: typ, keys: own}
}

const (
	noJVM    = "jkd runs no Java in its processes; run the container as a process of its own"
	internal = "mod_jk2 needed it inside, jkd does not"
)

// kinds are all types of mod_jk2 by their names, those of 2.0.2 included. Like
// the other tables here they are made when a file is read.
var kinds = sync.OnceValue(func() map[string]*kind {
	return map[string]*kind{
		"config": {typ: "config", single: true, keys: map[string]key{
			"file":     {dead: "has no effect in the file itself"},
			"debugEnv": {dead: "has no effect"},
			"save":     {dead: "has no effect: jkd writes no configuration files"},
		}},
		"logger.apache2": {typ: "logger.apache2", single: true, keys: keys("level")},
		"logger.file":    {typ: "logger.file", keys: with(map[string]key{"timeFormat": {dead: "has no effect, as in mod_jk2"}}, "level file")},
		"logger.win32":   {typ: "logger.win32", foreign: "there is no such log on this system"},
		"workerEnv": {typ: "workerEnv", single: true, keys: keys("logger timing sslEnable httpsIndicator certsIndicator cipherIndicator sessionIndicator" +
			" keySizeIndicator forwardKeySize forwardURICompat forwardURICompatUnparsed forwardURIEscaped noRecoveryIfRequestSent noRecoveryIfHeaderSent")},
		"uriMap": {typ: "uriMap", single: true, any: true},
		"uri": {typ: "uri", any: true, keys: shown(with(map[string]key{
			"alias": {multi: true},
			"path":  {dead: "has no effect: the section's name says it"},
			"uri":   {dead: "has no effect: the section's name says it"},
			"vhost": {dead: "has no effect: the section's name says it"},
		}, "group worker context servlet inheritGlobals timing"), "host match_type aliases prefix suffix")},
		"shm": {typ: "shm", single: true, keys: with(map[string]key{
			"size":               {dead: "is not needed: the size follows from slots"},
			"resetEndpointStats": {dead: "has no effect at the start, when all counters are zero"},
		}, "file slots useMemory")},
		"channel.socket": channelKind("channel.socket", keys("host port timeout keepalive nodelay")),
		"channel.apr":    channelKind("channel.apr", keys("host port timeout keepalive nodelay")),
		"channel.un":     channelKind("channel.un", with(map[string]key{"soLinger": {dead: "has no effect, as in mod_jk2"}}, "file listen")),
		"channel.jni":    {typ: "channel.jni", foreign: noJVM, refuse: true},
		"ajp13":          {typ: "ajp13", keys: workerKeys()},
		"lb": {typ: "lb", keys: with(map[string]key{
			"worker":   {multi: true},
			"timeout":  {dead: "has no effect, as in mod_jk2"},
			"attempts": {dead: "has no effect, as in mod_jk2: each worker is tried"},
		}, "stickySession recovery noWorkerCode noWorkerMsg noErrorHeader hwBalanceErr")},
		"status":           {typ: "status", keys: keys("styleMode stylePath")},
		"run":              {typ: "run", foreign: "it only ever answered 500"},
		"endpoint":         {typ: "endpoint", foreign: internal},
		"handler.response": {typ: "handler.response", foreign: internal},
		"handler.logon":    {typ: "handler.logon", foreign: internal},
		"threadMutex":      {typ: "threadMutex", foreign: internal},
		"procMutex":        {typ: "procMutex", foreign: internal},
		"signal":           {typ: "signal", foreign: internal},
		"user":             {typ: "user", foreign: internal},
		"vm":               {typ: "vm", foreign: noJVM, refuse: true},
		"worker.jni":       {typ: "worker.jni", foreign: noJVM, refuse: true},
	}
})

// aliases are other names of kinds.
var aliases = map[string]string{"logger": "logger.apache2", "uriEnv": "uri"}

// kindNames are those worth suggesting, sorted.
func kindNames() []string {
	out := []string{"logger"}
	for name, k := range kinds() {
		if k.foreign == "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func kindOf(typ string) *kind {
	if now, ok := aliases[typ]; ok {
		typ = now
	}
	return kinds()[typ]
}

// object finds the component that a section's name stands for, or makes it.
func (o *objects) object(at conf.Place, name string) *component {
	typ, local, colon := strings.Cut(name, ":")
	key := "[" + name + "]"
	if typ == "disabled" {
		o.Info(at, key, "is switched off")
		return nil
	}
	k := kindOf(typ)
	switch {
	case name == "":
		o.Fail(at, key, "the section has no name")
		return nil
	case k == nil:
		o.Fail(at, key, "unknown kind of component%s", conf.DidYouMean(typ, kindNames()))
		return nil
	case k.single && local != "":
		o.Warn(at, key, "there is one %s only: read as [%s:]", typ, typ)
		local = ""
	case k.typ == "lb" && local == "":
		o.Warn(at, key, "names no balancer: read as [%s]", defaultLB)
		_, local, _ = strings.Cut(defaultLB, ":")
	case !colon && !k.single && k.foreign == "":
		o.Info(at, key, "is read as [%s:]", typ)
	}
	return o.make(at, k, local)
}

func (o *objects) make(at conf.Place, k *kind, local string) *component {
	c := &component{kind: k, local: local, at: at, props: map[string]*property{}}
	return o.enter(c)
}

// enter returns the component of that name that is there already, or c.
func (o *objects) enter(c *component) *component {
	id := c.name()
	if c.location {
		id = locationID(c.vhost, c.local)
	}
	if old := o.byName[id]; old != nil {
		return old
	}
	o.byName[id] = c
	o.order = append(o.order, c)
	return c
}
