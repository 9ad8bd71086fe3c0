package status

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"sync"
)

//go:embed page.html
var pageText string

//go:embed style.css
var pageStyle string

//go:embed page.js
var pageScript string

// ContentSecurityPolicy is what the page of [WriteHTML] must be allowed, and no
// more: its own style and script, and asking its own server again.
var ContentSecurityPolicy = sync.OnceValue(func() string {
	return "default-src 'none'; style-src " + sourceHash(pageStyle) + "; script-src " + sourceHash(pageScript) +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTMLOptions are what the page was asked for.
type HTMLOptions struct {
	// Refresh is the number of seconds that the response's own Refresh field
	// says; 0 if it has none. The script then takes it over: it asks for the
	// page without the field and replaces what has changed.
	Refresh int
	// NoTable writes the slots as text (?notable).
	NoTable bool
}

// pageTemplate is parsed when the first page is asked for: a child that is
// never asked does without.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(pageStyle) },
		"script": func() template.JS { return template.JS(pageScript) },
	}).Parse(pageText))
})

// WriteHTML writes the page: one document that loads nothing else. Send it with
// [ContentSecurityPolicy]. After an error, what was written is not a page.
func WriteHTML(w io.Writer, s *Status, o HTMLOptions) error {
	return pageTemplate().Execute(w, newPage(s, o))
}
