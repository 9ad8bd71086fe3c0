package jk

import "strings"

// refused tells of an answer after which the container closes the connection.
//
// With 403 it is how Tomcat turns away a request before any application sees
// it: the secret is not the one it wants, or a request attribute is not among
// those it allows (allowedRequestAttributesPattern). An application's own 403
// leaves the connection open. Tomcat 10.1.60 sends a page with it, others may
// not. A front end sees only 403 for everything, so the log tells what to look
// at, once for each worker and process as a warning: the names of what was
// sent, never the secret.
func (w *worker) refused(c *pooled, q *call) {
	if c.Status() != 403 {
		q.log.Warn().Str("worker", w.name).Str("address", c.addr).Int("status", c.Status()).Msg("Reuse is set to false by tomcat, closing the connection")
		return
	}
	ev := q.log.Debug()
	if !w.hinted.Swap(true) {
		ev = q.log.Warn()
	}
	names := q.req.AttributeNames()
	secret := "has no secret"
	if q.req.Secret != "" {
		secret = "has a secret, which may not be the container's"
	}
	ev.Str("worker", w.name).Str("address", c.addr).Bytes("path", q.req.Path).Strs("attributes", names).
		Msgf("the container answers 403 and closes the connection (Reuse is set to false): it refuses the secret or a request attribute. "+
			"This worker %s (worker.%s.secret here, secret there); attributes sent: %s (allowedRequestAttributesPattern there)",
			secret, w.name, strings.Join(names, ", "))
}

// texts are byte strings as strings.
func texts(b [][]byte) []string {
	out := make([]string, len(b))
	for i := range b {
		out[i] = string(b[i])
	}
	return out
}
