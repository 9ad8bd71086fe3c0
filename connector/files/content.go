package files

import (
	"strings"

	"jkd/conf"
)

// content is what an answer says of a file's content.
type content struct {
	mime   string // Content-Type, "" for none
	coding string // Content-Encoding, "" for none
	varies bool   // there are others for clients that accept other codings
}

// none is what ForceType and DefaultType call no type.
const none = "none"

// content tells what is in a file by its name, as Apache's mod_mime does: each
// extension may say something, the last one that does counts, and one that is
// unknown takes back what those before it have said.
func (r *rules) content(name string) (c content) {
	charset := ""
	_, extensions, more := strings.Cut(strings.TrimLeft(name, "."), ".")
	for more {
		var ext string
		ext, extensions, more = strings.Cut(extensions, ".")
		if !r.extension(strings.ToLower(ext), &c, &charset) {
			c, charset = content{}, ""
		}
	}
	forced, defaults, fallback := none, "", unknownType
	for _, t := range r.types {
		if t.Force != "" {
			forced = t.Force
		}
		if t.Default != "" {
			fallback = t.Default
		}
		if t.DefaultCharset != "" {
			defaults = t.DefaultCharset
		}
	}
	switch {
	case forced != none:
		c.mime = forced
	case c.mime == "":
		c.mime = fallback
	}
	if charset == "" && defaults != conf.NoCharset && (c.mime == "text/plain" || c.mime == "text/html") {
		charset = defaults
	}
	switch {
	case c.mime == none:
		c.mime = ""
	case charset != "" && !strings.Contains(c.mime, "charset="):
		c.mime += "; charset=" + charset
	}
	return c
}

// extension adds what an extension, in lower case, says. It returns false if
// that is nothing.
func (r *rules) extension(ext string, c *content, charset *string) (known bool) {
	mime := types[ext]
	for _, t := range r.types {
		if m := t.Types[ext]; m != "" {
			mime = m
		}
		if s := t.Charsets[ext]; s != "" {
			*charset, known = s, true
		}
		if e := t.Codings[ext]; e != "" {
			c.coding, known = e, true
		}
	}
	if mime != "" {
		c.mime, known = mime, true
	}
	return known
}
