package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
)

const null = "<null>"

// echo answers with all that the container was told: lines of name=value, the
// values with % escapes where they aren't plain text. Header lines begin with
// "header.", attributes with "attribute.". Of the secret only the length is
// shown.
func echo(a *answer, r *request) error {
	sum, n, err := digest(&a.c.body)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	line := func(name string, value []byte) {
		if value == nil {
			b.WriteString(name + "=" + null + "\n")
			return
		}
		b.WriteString(name + "=" + escape(value) + "\n")
	}
	pair := func(name string) []byte {
		for _, x := range r.attrs {
			if x.Name() == name {
				return x.value
			}
		}
		return nil
	}
	line("method", []byte(r.method))
	line("uri", r.uri)
	line("query", r.query)
	line("protocol", r.protocol)
	fmt.Fprintf(&b, "scheme=%s\nsecure=%t\n", map[bool]string{false: "http", true: "https"}[r.secure], r.secure)
	line("serverName", r.serverName)
	fmt.Fprintf(&b, "serverPort=%d\n", r.serverPort)
	line("remoteAddr", r.remoteAddr)
	line("remoteHost", r.remoteHost)
	line("remotePort", pair("AJP_REMOTE_PORT"))
	line("localAddr", pair("AJP_LOCAL_ADDR"))
	line("remoteUser", pair("remote_user"))
	line("authType", pair("auth_type"))
	line("contentType", r.header(headerContentType))
	fmt.Fprintf(&b, "contentLength=%d\n", r.contentLength)
	for _, h := range r.headers {
		line("header."+escape([]byte(h.Name())), h.value)
	}
	for _, x := range r.attrs {
		name := "attribute." + escape([]byte(x.Name()))
		switch x.code {
		case attrSecret:
			fmt.Fprintf(&b, "%s=(%d bytes, not shown)\n", name, len(x.value))
		case attrSSLKeySize:
			fmt.Fprintf(&b, "%s=%d\n", name, x.num)
		default:
			line(name, x.value)
		}
	}
	fmt.Fprintf(&b, "body.length=%d\nbody.sha256=%s\n", n, sum)
	return a.text(200, typeText, b.Bytes())
}

// upload reads the body and answers with its length and hash; 400 if more or
// fewer bytes came than were announced.
func upload(a *answer, r *request) error {
	sum, n, err := digest(&a.c.body)
	if err != nil {
		return err
	}
	status, text := 200, fmt.Sprintf("body.length=%d\nbody.sha256=%s\n", n, sum)
	if !a.c.body.whole() {
		status, text = 400, text+"announced="+strconv.FormatInt(r.contentLength, 10)+"\n"
	}
	return a.text(status, typeText, []byte(text))
}

// digest reads a whole body.
func digest(b *body) (sum string, n int64, err error) {
	h := sha256.New()
	for {
		p, err := b.next()
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), b.read, nil
		}
		if err != nil {
			return "", 0, err
		}
		h.Write(p)
	}
}
