//go:build unix

package main_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// containers are scripted containers that tell which of them a request has
// reached, and what of it. What they answer is up to the request's query:
//
//	status=N   that status instead of 200
//	empty=1    no body
//	silent=1   no answer, until the front closes the connection
//	broken=1   the connection is closed instead of an answer
//	nolength=1 no Content-Length
//	field=F    a header field, "Name: value"; may be repeated
type containers struct {
	t      *testing.T
	byName map[string]*ajptest.Container

	mu       sync.Mutex
	arrivals []arrival
	faulty   []string
}

// arrival is one request that reached a container.
type arrival struct {
	container string
	request   *ajptest.Request
	body      string
}

func newContainers(t *testing.T, names ...string) *containers {
	t.Helper()
	c := &containers{t: t, byName: map[string]*ajptest.Container{}}
	for _, name := range names {
		o := ajptest.Options{PacketSize: ajptest.MaxPacketSize, OnError: func(err error) { c.fault(name, err) }}
		c.byName[name] = ajptest.NewOptions(t, "tcp", o, func(e *ajptest.Exchange) { c.serve(name, e) })
	}
	return c
}

func (c *containers) serve(name string, e *ajptest.Exchange) {
	body, err := e.Body()
	if err != nil {
		return
	}
	c.mu.Lock()
	c.arrivals = append(c.arrivals, arrival{name, e.Request, string(body)})
	c.mu.Unlock()
	query, _ := e.Request.Query()
	v, _ := url.ParseQuery(query)
	switch {
	case v.Has("silent"):
		e.Hold()
		e.Close()
		return
	case v.Has("broken"):
		e.Close()
		return
	}
	status := 200
	if n, err := strconv.Atoi(v.Get("status")); err == nil {
		status = n
	}
	text := "from " + name + "\n"
	if v.Has("empty") {
		text = ""
	}
	fields := []ajptest.Header{ajptest.H("Content-Type", "text/plain"), ajptest.S("X-Container", name)}
	for _, f := range v["field"] {
		name, value, _ := strings.Cut(f, ": ")
		fields = append(fields, ajptest.H(name, value))
	}
	if v.Has("nolength") {
		e.Send(ajptest.SendHeaders(status, strconv.Itoa(status), fields...), ajptest.Chunks([]byte(text), ajptest.DefaultPacketSize), ajptest.End(true))
		return
	}
	e.Respond(status, text, fields...)
}

// fault keeps what a front did wrong.
func (c *containers) fault(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := err.Error()
	if i := strings.LastIndex(text, "offset"); i >= 0 { // not the connection's number
		text = text[i:]
	}
	c.faulty = append(c.faulty, name+": "+text)
}

// faults returns what fronts did wrong since the last call, "" for nothing.
func (c *containers) faults() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := strings.Join(c.faulty, "; ")
	c.faulty = nil
	return f
}

// take returns what has arrived since the last call.
func (c *containers) take() []arrival {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.arrivals
	c.arrivals = nil
	return a
}

// count is the number of requests that each container got since the last call
// of take.
func (c *containers) count() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := map[string]int{}
	for _, a := range c.arrivals {
		n[a.container]++
	}
	return n
}

// properties replaces @NAME@ by the port of the container of that name.
func (c *containers) properties(text string) string {
	for name, k := range c.byName {
		text = strings.ReplaceAll(text, "@"+name+"@", strconv.Itoa(k.Port()))
	}
	return text
}

// deadPort is a port that refuses connections until the test ends: it is
// bound, but nobody listens.
func deadPort(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	syscall.CloseOnExec(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return sa.(*syscall.SockaddrInet4).Port
}

// attribute returns the values of a request attribute by its name in the
// table, or its own.
func attribute(r *ajptest.Request, name string) string {
	i := slices.IndexFunc(r.Attributes, func(a ajptest.Attribute) bool { return a.Name == name })
	if i < 0 {
		return ""
	}
	if a := r.Attributes[i]; a.Code == ajptest.AttrSSLKeySize {
		return fmt.Sprint(a.Int)
	}
	return r.Attributes[i].Value
}
