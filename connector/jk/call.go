package jk

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/forwarduri"
	"jkd/connector/jk/balance"
)

// call is what one request needs besides a connection. It is kept and used
// again.
type call struct {
	fwd  ajp.Forward
	req  ajp.Request
	base connector.Request // the request with what overrides it
	tls  connector.TLS
	out  filter
	attr []ajp.Attribute
	path []byte // backing of the path as JkOptions wants it

	log      *zerolog.Logger           // of the site, and tells the thread
	logs     map[*site]*zerolog.Logger // those of the sites there were requests for
	rule     *Extensions
	reply    time.Duration // reply timeout that overrides the worker's
	replySet bool
	reuse    bool   // false: JkOptions +DisableReuse
	traffic  uint64 // bytes exchanged with back ends
	failover bool   // the last attempt leaves the request fit for another back end

	// What a balancer needs.
	members                 []balance.Member
	ids                     balance.IDs
	cookies                 [][]byte
	cookie                  []byte // backing of the balancer's own cookie
	route                   string // sent with the request
	stateless, ignoreSticky bool
	noted                   bool // the notes of the first member are made
}

// calls keeps calls between requests.
type calls struct{ free sync.Pool }

// serve has f serve a request of the worker called name, of the type kind.
func (p *calls) serve(name string, kind WorkerType, s *site, x *Extensions, r *connector.Request, w connector.ResponseWriter, f func(*call) *connector.Error) error {
	c, _ := p.free.Get().(*call)
	if c == nil {
		c = &call{logs: make(map[*site]*zerolog.Logger, 1)}
	}
	c.reset(s, x, r, w)
	var begin time.Time
	if r.Notes.Wanted() {
		begin = time.Now()
		c.note("JK_WORKER_NAME", name)
		c.note("JK_WORKER_TYPE", kind.String())
		if c.route != "" {
			c.note("JK_WORKER_ROUTE", c.route)
		}
	}
	var err *connector.Error
	if kind != Status {
		err = c.forward(name, s.form)
	}
	if err == nil {
		err = f(c)
	}
	if !begin.IsZero() {
		c.note("JK_REQUEST_DURATION", seconds(time.Since(begin)))
	}
	c.release()
	p.free.Put(c)
	if err != nil {
		if !err.Own {
			s.log.Info().Int("thread", r.Thread).Str("worker", name).Int("status", err.Status).AnErr("cause", err).Msgf("Service error=%d for worker=%s", err.Status, name)
		}
		return err // not a nil *connector.Error in an error
	}
	return nil
}

// threadHook adds to a line about a request who serves it.
type threadHook struct{ c *call }

// Run implements zerolog.Hook.
func (h threadHook) Run(e *zerolog.Event, _ zerolog.Level, _ string) { e.Int("thread", h.c.req.Thread) }

// site is the Jk directives of one server, main or virtual, as a request needs
// them.
type site struct {
	c *conf.JkServer
	// log takes what is said of its requests.
	log *zerolog.Logger
	// plain: none of the options and variables changes what is forwarded but,
	// maybe, form.
	plain bool
	// form is what of the path is forwarded. Without an option it is what
	// mod_jk does with ForwardURICompatUnparsed.
	form  conf.ForwardURI
	named namedTargets
}

func newSite(c *conf.JkServer, log *zerolog.Logger) *site {
	o := c.Options
	s := &site{c: c, log: log, plain: !o.ForwardLocalAddress && len(c.EnvVars) == 0 && c.ExtractSSL, form: conf.ForwardURICompatUnparsed}
	if o.ForwardURISet {
		s.form = o.ForwardURI
	}
	return s
}

// reset prepares for a request. What configuration and variables put in the
// place of the connection's own facts goes into a copy; the request itself is
// the front's.
func (c *call) reset(s *site, x *Extensions, r *connector.Request, w connector.ResponseWriter) {
	o := &s.c.Options
	if c.log = c.logs[s]; c.log == nil {
		log := s.log.Hook(threadHook{c})
		c.log, c.logs[s] = &log, &log
	}
	c.req = ajp.Request{Request: r, ForwardKeySize: o.ForwardKeySize, ForwardChain: o.ForwardSSLCertChain}
	c.rule, c.reply, c.replySet, c.reuse = x, x.ReplyTimeout, x.ReplyTimeoutSet, !o.DisableReuse
	c.stateless, c.ignoreSticky = x.Stateless, x.StickyIgnore
	c.route, c.traffic, c.noted = "", 0, false
	c.out = filter{
		w: w, fields: c.out.fields[:0], text: c.out.text[:0], serverErrors: x.UseServerErrors,
		flushPackets: o.FlushPackets, flushHeader: o.FlushHeader, isHead: string(r.Method) == "HEAD",
	}
	if !s.plain || r.Env.Len() > 0 {
		c.override(s, r)
	}
}

// release drops what must not be kept alive between requests.
func (c *call) release() {
	c.req.Request, c.base, c.out.w, c.rule = nil, connector.Request{}, nil, nil
	c.ids, c.out.fail = balance.IDs{}, nil
	clear(c.cookies)
}

// own returns the request as the container is told of it, which may be changed.
func (c *call) own() *connector.Request {
	if c.req.Request != &c.base {
		c.base = *c.req.Request
		c.req.Request = &c.base
	}
	return &c.base
}

// forward puts the path into the form that JkOptions asks for.
func (c *call) forward(worker string, form conf.ForwardURI) *connector.Error {
	if form == conf.ForwardURICompatUnparsed && !forwarduri.Open(c.req.Path) {
		return nil
	}
	path, err := forwarduri.Append(c.path[:0], c.req.Path, form)
	c.path = path
	if err != nil {
		return &connector.Error{Worker: worker, Op: "forward path as " + form.String(), Status: 400, Client: true, Err: err}
	}
	c.own().Path = path
	return nil
}

// override applies the options, the variables and JkEnvVar.
func (c *call) override(s *site, r *connector.Request) {
	b := c.own()
	o, in, env := &s.c.Options, &s.c.Indicators, r.Env
	if o.ForwardLocalAddress {
		b.RemoteAddr, b.RemotePort = b.LocalAddr, []byte("0")
	}
	c.tlsFacts(s, env)
	text := func(dst *[]byte, name string) {
		if v, ok := env.Get(name); ok {
			*dst = []byte(v)
		}
	}
	text(&b.RemoteAddr, in.RemoteAddr)
	text(&b.RemotePort, in.RemotePort)
	text(&b.RemoteUser, in.RemoteUser)
	text(&b.AuthType, in.AuthType)
	text(&b.ServerName, in.LocalName)
	text(&b.LocalAddr, in.LocalAddr)
	if v, ok := env.Get(in.RemoteHost); ok {
		c.req.RemoteHost = v
	}
	if v, ok := env.Get(in.LocalPort); ok {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 && n <= 65535 {
			b.ServerPort = n
		}
	}
	if _, ok := env.Get(in.IgnoreCL); ok && b.ContentLength > 0 {
		b.ContentLength = -1
	}
	if v, ok := env.Get("JK_REPLY_TIMEOUT"); ok {
		if n, err := strconv.ParseInt(v, 10, 32); err == nil && n >= 0 {
			c.reply, c.replySet = time.Duration(n)*time.Millisecond, true
		}
	}
	c.ignoreSticky = flagVar(env, "JK_STICKY_IGNORE", c.ignoreSticky)
	c.stateless = flagVar(env, "JK_STATELESS", c.stateless)
	if v, _ := env.Get("JK_ROUTE"); v != "" {
		c.route, c.req.Route = v, v
	}
	c.attr = c.attr[:0]
	for _, e := range s.c.EnvVars {
		v, ok := env.Get(e.Name)
		if !ok && e.HasDefault {
			v, ok = e.Default, true
		}
		if ok {
			c.attr = append(c.attr, ajp.Attribute{Name: e.Name, Value: v})
		}
	}
	c.req.Attributes = c.attr
}

// flagVar reads a variable that is on when it is empty or a number other than
// 0, and otherwise leaves the rule's setting alone.
func flagVar(env *connector.Env, name string, was bool) bool {
	v, ok := env.Get(name)
	switch {
	case !ok:
		return was
	case v == "":
		return true
	}
	n, err := strconv.Atoi(v)
	return err != nil && was || err == nil && n != 0
}

// tlsFacts takes what is known of the client's encryption from variables where
// they are set, for a front that has another one before it, or from the
// connection. With JkExtractSSL Off nothing is known.
func (c *call) tlsFacts(s *site, env *connector.Env) {
	b, in := &c.base, &s.c.Indicators
	if !s.c.ExtractSSL {
		b.Secure, b.TLS = false, nil
		return
	}
	if v, ok := env.Get(in.HTTPS); ok {
		b.Secure = strings.EqualFold(v, "on")
	}
	if !b.Secure || env.Len() == 0 {
		return
	}
	c.tls = connector.TLS{}
	if b.TLS != nil {
		c.tls = *b.TLS
	}
	text := func(dst *string, name string) {
		if v, ok := env.Get(name); ok {
			*dst = v
		}
	}
	text(&c.tls.Protocol, in.SSLProtocol)
	text(&c.tls.Cipher, in.Cipher)
	text(&c.tls.SessionID, in.Session)
	text(&c.tls.ClientCert, in.Certs)
	if v, ok := env.Get(in.KeySize); ok {
		c.tls.KeySize, _ = strconv.Atoi(v)
	}
	if s.c.Options.ForwardSSLCertChain {
		env.Each(func(name, value string) {
			if len(name) > len(in.CertChainPrefix) && strings.EqualFold(name[:len(in.CertChainPrefix)], in.CertChainPrefix) {
				c.tls.Chain = append(c.tls.Chain, value)
			}
		})
	}
	b.TLS = &c.tls
}

// replyTimeout is how long to wait for a packet of the answer: what the
// request or its rule says, else the worker's own.
func (c *call) replyTimeout(own time.Duration) time.Duration {
	if c.replySet {
		return c.reply
	}
	return own
}

// failOnStatus is the rule's list, or the worker's own.
func (c *call) failOnStatus(own []FailStatus) []FailStatus {
	if len(c.rule.FailOnStatus) > 0 {
		return c.rule.FailOnStatus
	}
	return own
}

// note keeps a note for the access log.
func (c *call) note(name, value string) {
	if n := c.req.Notes; n.Wanted() {
		n.Set(name, value)
	}
}
