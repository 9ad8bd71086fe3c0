// Package httpd is the HTTP/1 front: it serves one accepted connection, turns
// each request on it into a connector.Request, and puts the worker's answer
// back into HTTP.
//
// A request head is read twice on purpose. scanHead holds it to the letter of
// the grammar and to the Limit directives, and finds the fields; fasthttp's
// parser then reads the same bytes and decides the framing. What either of
// them refuses is refused, so there are never two readings of one request.
// Chunked bodies are read here: fasthttp's reader lets bare line feeds and
// folded lines pass in trailers.
//
// fasthttp's own server loop is not used: it sends 100 Continue before the
// container has asked for the body, knows no slot to report to, cannot wait
// for the next request and for an order to leave at once, and copies an answer
// through its buffers where the pieces can go to the kernel from where the
// container put them.
package httpd
