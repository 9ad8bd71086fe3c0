package httpd

import (
	"html"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"jkd/connector"
)

// reason is the standard phrase of a status. A container's own phrase is not
// used: current ones send the number again.
func reason(status int) string {
	if p := fasthttp.StatusMessage(status); p != "Unknown Status Code" {
		return p
	}
	return "Status"
}

// errorBody is a small plain page. detail may be empty.
func errorBody(b []byte, status int, detail string) []byte {
	title := strconv.Itoa(status) + " " + reason(status)
	b = append(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"...)
	b = append(b, title...)
	b = append(b, "</title></head>\n<body><h1>"...)
	b = append(b, reason(status)...)
	b = append(b, "</h1>\n<p>"...)
	b = append(b, explain(status)...)
	b = append(b, "</p>\n"...)
	if detail != "" {
		b = append(b, "<p>"...)
		b = append(b, html.EscapeString(detail)...)
		b = append(b, "</p>\n"...)
	}
	b = append(b, "</body></html>\n"...)
	return b
}

// explain says what a status means to the person who sees it. It names nothing
// of the inside.
func explain(status int) string {
	switch status {
	case 301, 302, 303, 307, 308:
		return "What was here is at another address."
	case 400:
		return "Your client sent a request that this server could not understand."
	case 401:
		return "This address is for people who have logged in."
	case 403:
		return "You may not see this address."
	case 404:
		return "Nothing is mapped to this address on this server."
	case 405:
		return "This address does not take requests of this kind."
	case 408:
		return "The request did not arrive in time."
	case 410:
		return "What was here is gone for good."
	case 412:
		return "What this address has does not meet the conditions of the request."
	case 413:
		return "The request is larger than this server accepts."
	case 414:
		return "The address is longer than this server accepts."
	case 416:
		return "What this address has does not reach as far as the request asks."
	case 417:
		return "The expectation of the request cannot be met."
	case 500:
		return "This server's configuration does not allow it to serve this address."
	case 501:
		return "The request uses a feature that this server does not have."
	case 502:
		return "The application behind this server gave no valid answer."
	case 503:
		return "The application behind this server is not available at the moment. Please try again later."
	case 504:
		return "The application behind this server did not answer in time."
	case 505:
		return "This server speaks HTTP/1.0 and HTTP/1.1."
	}
	return "The request could not be served."
}

var errorFields = []connector.Field{
	{Name: []byte("Content-Type"), Value: []byte("text/html; charset=utf-8")},
}

// ofPage tells the fields that describe the page an answer came with.
// Content-Range with an error is about what was asked for.
func ofPage(name []byte) bool {
	const prefix = "content-"
	if connector.EqualFold(name, "content-range") {
		return false
	}
	if len(name) > len(prefix) && connector.EqualFold(name[:len(prefix)], prefix) {
		return true
	}
	return connector.EqualFold(name, "etag") || connector.EqualFold(name, "last-modified") || connector.EqualFold(name, "accept-ranges")
}

// dateCache keeps the Date field of the current second.
type dateCache struct {
	p atomic.Pointer[dateLine]
}

type dateLine struct {
	sec  int64
	line []byte
}

func (d *dateCache) appendTo(b []byte, now time.Time) []byte {
	sec := now.Unix()
	l := d.p.Load()
	if l == nil || l.sec != sec {
		l = &dateLine{sec: sec, line: now.UTC().AppendFormat(nil, "Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n")}
		d.p.Store(l)
	}
	return append(b, l.line...)
}
