package httpd

import (
	"bytes"
	"io"
	"strings"
	"time"

	"jkd/cmd/jkd/internal/logformat"
	"jkd/connector"
)

// AccessLog writes a line a request (CustomLog). It may be used concurrently:
// every line is one write to a file opened for appending, so lines of several
// processes don't mix.
type AccessLog struct {
	W      io.Writer
	Format *logformat.Format
	// Env is a variable without which a request is not logged, or "!" and one
	// with which it isn't; "" logs all.
	Env string
	// Mapped leaves out what no worker was asked for (JkRequestLogFormat).
	Mapped bool
	// Stamp appends the time of the line before it; nil for none.
	Stamp func(b []byte, t time.Time) []byte
}

// logs tells whether the log wants a request with these variables; mapped,
// whether a worker was asked.
func (l *AccessLog) logs(env *connector.Env, mapped bool) bool {
	switch {
	case l.Mapped && !mapped:
		return false
	case l.Env == "":
		return true
	}
	name, absent := strings.CutPrefix(l.Env, "!")
	_, set := env.Get(name)
	return set != absent
}

// needs is what the logs of all sites want to know. Which site a request is
// for shows when its head has been read, and not before that it is one.
func needs(sites []Site) (n logformat.Needs) {
	for i := range sites {
		for _, l := range sites[i].Logs {
			n = n.Or(l.Format.Needs())
		}
	}
	return n
}

// log writes the access log lines of a request that is over.
func (ss *session) log(end time.Time) {
	x := &ss.x
	if x.VHost >= len(ss.s.o.Sites) {
		return
	}
	site := &ss.s.o.Sites[x.VHost]
	if len(site.Logs) == 0 {
		return
	}
	e := &ss.entry
	e.Request, e.RequestField, e.ResponseField = &x.Request, ss.requestField, ss.responseField
	e.Method, e.Target, e.Protocol = x.Method, nil, nil
	if ss.h.seen && len(x.raw) >= ss.h.proto.to {
		// An ErrorDocument has made another one of x.Method.
		e.Method, e.Target, e.Protocol = ss.h.method.of(x.raw), ss.h.target.of(x.raw), ss.h.proto.of(x.raw)
	}
	e.Server, e.LocalPort = site.Name, ss.localPort
	e.Status, e.Body, e.In, e.Out = ss.w.status, ss.w.out, ss.in.taken()-ss.before, ss.w.wire
	e.Start, e.FirstByte, e.End = ss.start, ss.w.first, end
	e.Earlier, e.PID = max(ss.served-1, 0), ss.s.pid
	e.Aborted, e.Kept = ss.w.err != nil, ss.w.err == nil && ss.w.keep
	for i := range site.Logs {
		l := &site.Logs[i]
		if !l.logs(x.Env, x.mapped) {
			continue
		}
		b := ss.logLine[:0]
		if l.Stamp != nil {
			b = l.Stamp(b, end)
		}
		ss.logLine = append(l.Format.Append(b, e), '\n')
		_, _ = l.W.Write(ss.logLine)
	}
	if cap(ss.logLine) > logformat.MaxLine {
		ss.logLine = nil // it was a rare one
	}
}

// findRequestField finds a field of the request as it was received, hop-by-hop
// fields included. Of several the first is returned.
func (ss *session) findRequestField(name string) []byte {
	for i, n := range ss.h.names {
		if v := ss.h.values[i]; v.to <= len(ss.x.raw) && connector.EqualFold(n.of(ss.x.raw), name) {
			return v.of(ss.x.raw)
		}
	}
	return nil
}

// findResponseField finds a field of the head that was sent.
func (ss *session) findResponseField(name string) []byte {
	return fieldOf(ss.w.sentHead, name)
}

// fieldOf finds a field in a head that the front has made.
func fieldOf(head []byte, name string) []byte {
	for i := 0; i < len(head); {
		line := head[i:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		i += len(line)
		if len(line) < len(name)+4 || line[len(name)] != ':' || !connector.EqualFold(line[:len(name)], name) {
			continue
		}
		return line[len(name)+2 : len(line)-2 : len(line)-2]
	}
	return nil
}
