package connector

import (
	"io"
	"os"
)

// Field is one header field: the bytes of its name and value, without the
// colon, the white space around the value and the line end.
type Field struct {
	Name, Value []byte
}

// Request is one HTTP request as a connector may see it. All byte slices
// belong to the front and are valid until [Worker.Service] returns; nothing
// may write to them. The front has checked all of it: the method and the field
// names are tokens, no value contains CR, LF or NUL, every percent escape of
// Path is well formed and none is %00.
type Request struct {
	Method   []byte // case-sensitive, as received
	Protocol []byte // "HTTP/1.0" or "HTTP/1.1"

	// Path is the path part of the request target byte for byte as the client
	// encoded it. It begins with '/' or is "*".
	Path []byte
	// MatchPath is Path prepared for mapping: see [CleanPath].
	MatchPath []byte
	// Query is what follows the first '?'; HasQuery tells an empty query from
	// none.
	Query    []byte
	HasQuery bool

	ServerName []byte // host without port and brackets
	ServerPort int
	RemoteAddr []byte // numeric client address, no brackets, no zone; or UnixAddr
	RemotePort []byte // decimal
	LocalAddr  []byte // numeric address the client connected to; or UnixAddr
	Secure     bool   // the client's connection is TLS
	TLS        *TLS   // nil without TLS
	RemoteUser []byte // the user the front has authenticated, nil for none
	AuthType   []byte // and how, "Basic" for example; nil for none
	ID         []byte // names the request in logs (UNIQUE_ID), nil for none

	// Thread is the place of the request's slot in its process, for logs.
	Thread int
	// VHost is the virtual host the request is for: 0 for the main server,
	// else its place in the configuration, counted from 1.
	VHost int
	// Handler is SetHandler of the request's path, "" for none.
	// "jakarta-servlet" gives a request that no rule maps to the worker that a
	// variable names (JkWorkerIndicator).
	Handler string
	// Locations are the sections [location] that the request is in and that say
	// something of files or redirects, by their place in the configuration and in the order
	// in which they apply.
	Locations []int
	// Directories are the sections [directory] and [files] that say something of
	// errors or of the answer's header, by their place in the configuration, of
	// the file that was looked for last. The connector of files sets it; who has
	// set it, made it.
	Directories []int
	// Env is the request's variables (SetEnv). Nil is empty.
	Env *Env
	// Notes takes what the connector wants to say in the access log; nil
	// takes nothing.
	Notes *Notes

	// Fields are the end-to-end header fields in the order received, Host
	// first if it had to be made from an absolute target. Hop-by-hop fields,
	// Expect and Content-Length are not among them.
	Fields []Field

	// Upgrade is the protocols that the client would rather go on with, as its
	// field Upgrade lists them; nil if there is none, or if the request is not a
	// GET of HTTP/1.1 without a body.
	Upgrade []byte

	// ContentLength is the length of the body in bytes, 0 for none, -1 for a
	// body of unknown length (chunked).
	ContentLength int64
	// Body yields the request body; it is never nil. Read returns io.EOF at
	// its end and a *ClientError when the client broke off, was too slow, or
	// sent bad chunks.
	Body io.Reader
}

// TLS is what is known of an encrypted connection, in the words that SSL_*
// variables have for it. Empty fields are not known.
type TLS struct {
	Protocol   string // SSL_PROTOCOL, "TLSv1.3"
	Cipher     string // SSL_CIPHER, in OpenSSL's spelling
	SessionID  string // SSL_SESSION_ID
	KeySize    int    // SSL_CIPHER_USEKEYSIZE, bits
	ClientCert string // SSL_CLIENT_CERT, PEM
	Chain      []string
}

// ResponseWriter takes one answer. It is used by one goroutine. Every method
// may return a *[ClientError]: the client is gone, and the answer with it.
type ResponseWriter interface {
	// Start begins the answer. It must be called exactly once, with a status
	// of 200..999 (informational answers are not passed on), and copies what
	// it needs from fields. The front drops hop-by-hop fields and decides the
	// framing; a Content-Length among the fields is binding: fewer bytes cut
	// the client's connection, more are an error.
	Start(status int, fields []Field) error
	// Append adds p to the body. p must stay unchanged until the next Flush
	// or Finish returns: large pieces go to the kernel from where they lie.
	// What an answer without a body (HEAD, 204, 304) is given is dropped.
	Append(p []byte) error
	// Buffered is the number of body bytes appended and not yet flushed, plus
	// one if the head waits to be sent.
	Buffered() int
	// Flush sends everything given so far to the client.
	Flush() error
	// Finish ends the answer and sends what is left of it. Service calls it
	// once, when the answer is complete.
	Finish() error
	// Started tells whether Start has been called.
	Started() bool
}

// FileSender is a ResponseWriter that can send files without having them in
// memory. It is worth asking for one when a piece is large.
type FileSender interface {
	ResponseWriter
	// SendFile adds n bytes of f, a regular file, from offset on to the body,
	// behind what was given before, and returns when they are on their way. The
	// answer must have a Content-Length. A file that ends before cuts the
	// client's connection (ErrBodyLength). errors.ErrUnsupported means that
	// nothing was sent and that it has to go through Append.
	SendFile(f *os.File, offset, n int64) error
}

// Worker is one named back end, or several behind one name. Its methods may
// be called concurrently under an MPM that runs threads.
type Worker interface {
	// Name is the worker's name in the configuration.
	Name() string
	// Service serves r and returns nil after w.Finish has succeeded. Otherwise
	// it returns an *[Error]; if w.Started() the answer is then broken off,
	// else the front writes an error page; or a *[Redirect], and w is not
	// started. It does not keep r or w.
	Service(r *Request, w ResponseWriter) error
}

// Connector maps requests to workers.
type Connector interface {
	// Match returns the worker for a request, or nil when none is mounted
	// there. It does not keep r.
	Match(r *Request) Worker
	// Close closes all idle connections; it is called when the process ends.
	Close() error
}
