package status

import (
	"errors"
	"fmt"
	"strings"

	"jkd/connector"
)

// Field is a header field of an answer.
type Field = connector.PageField

// Output is an answer, also for HEAD, where its body must be left out.
type Output connector.Page

const (
	textType = "text/plain; charset=utf-8"
	htmlType = "text/html; charset=utf-8"
	jsonType = "application/json"
)

// Serve answers a request. model is called for what is to be shown, after the
// changes. It may be called concurrently.
func Serve(in Input, model func() *Model, control Control) Output {
	if in.Method != "GET" && in.Method != "HEAD" && in.Method != "POST" {
		out := answer(405, textType, []byte("Method Not Allowed\n"))
		out.Fields = append(out.Fields, Field{Name: "Allow", Value: "GET, HEAD, POST"})
		return out
	}
	a, err := parse(&in)
	if err != nil {
		return answer(400, textType, []byte(err.Error()+"\n"))
	}
	if a.action.changes() {
		if err := mayChange(&in, &a); err != nil {
			return answer(403, textType, []byte(err.Error()+"\n"))
		}
		if err := change(&a, control); err != nil {
			return failed(&a, err)
		}
	}
	m := model()
	switch a.action {
	case list, dump, query:
		return answer(200, textType, text(m, a.action, a.arg))
	case get:
		name, attribute, ok := strings.Cut(a.arg, "|")
		value, found := m.value(name, attribute)
		if !ok || !found {
			return answer(404, textType, []byte("there is no "+printable(a.arg)+"\n"))
		}
		return answer(200, textType, []byte("OK|"+name+"|"+attribute+value))
	case set:
		if !a.json && in.Method != "POST" { // a form gets the page
			return answer(200, textType, []byte("OK|"+printable(a.arg)))
		}
	}
	if a.json {
		return answer(200, jsonType, document(m))
	}
	out := answer(200, htmlType, page(m, &in, &a))
	out.Fields[len(out.Fields)-1].Value = policy(in.CSS)
	return out
}

func answer(status int, contentType string, body []byte) Output {
	return Output{Status: status, ContentType: contentType, Body: body, Fields: []Field{
		{Name: "Cache-Control", Value: "no-store"},
		{Name: "X-Content-Type-Options", Value: "nosniff"},
		{Name: "X-Frame-Options", Value: "DENY"},
		{Name: "Referrer-Policy", Value: "same-origin"},
		{Name: "Content-Security-Policy", Value: policy("")},
	}}
}

func failed(a *asked, err error) Output {
	return answer(400, textType, []byte(fmt.Sprintf("%s=%s: %v\n", a.action, printable(a.arg), err)))
}

// change does what the action is about.
func change(a *asked, c Control) error {
	switch a.action {
	case set:
		parts := strings.SplitN(a.arg, "|", 3)
		if len(parts) != 3 {
			return errors.New("is not NAME|ATTR|VALUE")
		}
		return c.Set(parts[0], parts[1], parts[2])
	case invoke:
		name, method, ok := strings.Cut(a.arg, "|")
		if !ok {
			return errors.New("is not NAME|METHOD")
		}
		return c.Invoke(name, method)
	case reload:
		return c.Reload()
	case reset:
		return c.Reset()
	}
	return nil
}

// value finds an attribute of a component. What all components have may be
// asked for too.
func (m *Model) value(name, attribute string) (string, bool) {
	for i := range m.Components {
		c := &m.Components[i]
		if c.Name != name {
			continue
		}
		for _, x := range c.all() {
			if x.Name == attribute {
				return x.Value, true
			}
		}
	}
	return "", false
}

// printable is text that may be part of a plain answer.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
