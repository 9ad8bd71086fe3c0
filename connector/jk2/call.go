package jk2

import (
	"strconv"
	"strings"
	"sync"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/forwarduri"
)

// call is what one request needs besides an endpoint. It is kept and used
// again.
type call struct {
	fwd  ajp.Forward
	req  ajp.Request
	base connector.Request // the request with what variables say of its encryption
	tls  connector.TLS
	path []byte // in the form that workerEnv asks for

	received int64 // when it came, in microseconds since 1970; 0: nobody wants times
	cookies  [][]byte
}

// calls keeps calls between requests.
type calls struct{ free sync.Pool }

func (p *calls) get() *call {
	if c, ok := p.free.Get().(*call); ok {
		return c
	}
	return new(call)
}

func (p *calls) put(c *call) {
	c.req.Request, c.base, c.tls = nil, connector.Request{}, connector.TLS{}
	clear(c.cookies)
	p.free.Put(c)
}

// begin makes the packets of a request, made out to nobody yet: one that fits
// none is not the fault of any worker, and a client that is slow to send its
// body must not keep an endpoint from others.
func (c *call) begin(name string, env *WorkerEnv, r *connector.Request) *connector.Error {
	c.req = ajp.Request{Request: r, ForwardKeySize: env.ForwardKeySize}
	if r.Env.Len() > 0 {
		c.indicators(env, r)
	}
	if err := c.forward(name, env.ForwardURI); err != nil {
		return err
	}
	if err := c.fwd.Encode(&c.req, packet); err != nil {
		return ajp.RequestError(name, err)
	}
	return nil
}

// indicators takes what variables say of the client's encryption, for a front
// that has another one before it.
func (c *call) indicators(env *WorkerEnv, r *connector.Request) {
	https, ok := r.Env.Get(env.HTTPSIndicator)
	if !ok {
		return
	}
	c.own()
	if c.base.Secure = strings.EqualFold(https, "on"); !c.base.Secure {
		c.base.TLS = nil
		return
	}
	c.tls = connector.TLS{}
	if r.TLS != nil {
		c.tls = *r.TLS
	}
	text := func(dst *string, name string) {
		if v, ok := r.Env.Get(name); ok {
			*dst = v
		}
	}
	text(&c.tls.ClientCert, env.CertsIndicator)
	text(&c.tls.Cipher, env.CipherIndicator)
	text(&c.tls.SessionID, env.SessionIndicator)
	if v, ok := r.Env.Get(env.KeySizeIndicator); ok {
		c.tls.KeySize, _ = strconv.Atoi(v)
	}
	c.base.TLS = &c.tls
}

// own returns the request as the container is told of it, which may be changed.
func (c *call) own() *connector.Request {
	if c.req.Request != &c.base {
		c.base = *c.req.Request
		c.req.Request = &c.base
	}
	return &c.base
}

// forwardForms are the forms in the words of JkOptions.
var forwardForms = map[ForwardURI]conf.ForwardURI{
	ForwardURICompatUnparsed: conf.ForwardURICompatUnparsed, ForwardURICompat: conf.ForwardURICompat, ForwardURIEscaped: conf.ForwardURIEscaped,
}

// forward puts the path into the form that workerEnv asks for.
func (c *call) forward(name string, form ForwardURI) *connector.Error {
	if form == ForwardURICompatUnparsed && !forwarduri.Open(c.req.Path) {
		return nil
	}
	var err error
	if c.path, err = forwarduri.Append(c.path[:0], c.req.Path, forwardForms[form]); err != nil {
		return &connector.Error{Worker: name, Op: "forward path as " + form.String(), Status: 400, Client: true, Err: err}
	}
	c.own().Path = c.path
	return nil
}
