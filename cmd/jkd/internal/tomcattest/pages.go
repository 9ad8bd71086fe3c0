package tomcattest

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// PageSize is the size of /test/test.jsp in bytes.
const PageSize = 113698

// Echo is what /test/echo.jsp says of the request it got.
type Echo struct {
	// Values holds method, uri, contextPath, servletPath, pathInfo, query,
	// protocol, scheme, secure, serverName, serverPort, remoteAddr,
	// remotePort, localAddr, remoteUser, authType, contentType, contentLength,
	// body.length and body.sha256. A null of the container is "<null>".
	Values map[string]string
	// Headers are all fields, names in lower case, values in order.
	Headers map[string][]string
	// Attributes are the request attributes that the container shows.
	Attributes map[string]string
}

// ParseEcho reads an answer of /test/echo.jsp.
func ParseEcho(body string) Echo {
	e := Echo{map[string]string{}, map[string][]string{}, map[string]string{}}
	s := bufio.NewScanner(strings.NewReader(body))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		name, value, _ := strings.Cut(s.Text(), "=")
		value, _ = url.QueryUnescape(value)
		if h, ok := strings.CutPrefix(name, "header."); ok {
			h = strings.ToLower(h)
			e.Headers[h] = append(e.Headers[h], value)
		} else if a, ok := strings.CutPrefix(name, "attribute."); ok {
			e.Attributes[a] = value
		} else {
			e.Values[name] = value
		}
	}
	return e
}

// Node is what /test/node/* answers.
type Node struct {
	Name    string // [Options.JVMRoute] of the container
	Session string // id, "-" without one
	Visits  int    // requests of the session, this one included
}

// ParseNode reads an answer of /test/node/*.
func ParseNode(body string) (n Node, err error) {
	_, err = fmt.Sscanf(body, "node=%s session=%s visits=%d", &n.Name, &n.Session, &n.Visits)
	return n, err
}

// NodeState is what /test/node/* answers to a command.
type NodeState struct {
	Waiting int // requests that wait at the gate
	Runs    int // requests that have come since the start, with the id=X of the command if it has one
}

// ParseNodeState reads an answer of /test/node/*?cmd=state.
func ParseNodeState(body string) (s NodeState, err error) {
	_, err = fmt.Sscanf(body, "waiting=%d runs=%d", &s.Waiting, &s.Runs)
	return s, err
}

// BigBody is the content of /test/big.jsp?bytes=n. Byte i is i mod 251: a
// prime, so that no buffer size can hide a piece that was lost, doubled or
// swapped.
func BigBody(n int64) io.Reader { return &bigBody{left: n} }

const period = 251

// pattern is what a big body repeats; long enough to be copied in large pieces
// from any place within its first period.
var pattern = func() []byte {
	p := make([]byte, 257*period)
	for i := range p {
		p[i] = byte(i % period)
	}
	return p
}()

type bigBody struct{ at, left int64 }

func (b *bigBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), b.left)]
	n := copy(p, pattern[b.at%period:])
	b.at += int64(n)
	b.left -= int64(n)
	return n, nil
}
