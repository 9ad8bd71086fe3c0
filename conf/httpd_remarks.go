package conf

import (
	"fmt"

	"jkd/conf/apache"
)

// line is the number that the configuration keeps of a place.
func (h *httpd) line(at apache.Place) int { return h.files[at.File]<<fileShift | at.Line }

func (h *httpd) fail(d *apache.Directive, format string, args ...any) {
	h.p.errs = append(h.p.errs, &Error{File: h.p.file, Line: h.line(d.Place), Key: d.Title(), Msg: fmt.Sprintf(format, args...)})
}

// warn and info do not say twice of a directive what a virtual host with two
// addresses brings about.
func (h *httpd) warn(d *apache.Directive, format string, args ...any) {
	h.say(Warn, d, format, args...)
}
func (h *httpd) info(d *apache.Directive, format string, args ...any) {
	h.say(Info, d, format, args...)
}

func (h *httpd) say(s Severity, d *apache.Directive, format string, args ...any) {
	w := Warning{Severity: s, File: h.p.file, Line: h.line(d.Place), Key: d.Title(), Msg: fmt.Sprintf(format, args...)}
	if text := fmt.Sprint(w.Line, w.Key, w.Msg); !h.said[text] {
		h.said[text] = true
		h.p.warnings = append(h.p.warnings, w)
	}
}

// once is warn or info for what is enough to be said once of all the file.
func (h *httpd) once(s Severity, key string, d *apache.Directive, format string, args ...any) {
	if !h.said[key] {
		h.said[key] = true
		h.say(s, d, format, args...)
	}
}

// note says once of each directive that it does nothing; later of how many
// lines that is true.
func (h *httpd) note(n noted, d *apache.Directive) {
	line := fmt.Sprint(n.name, h.line(d.Place))
	if h.said[line] {
		return
	}
	h.said[line] = true
	if at, again := h.noted[n.name]; again {
		at.more++
		return
	}
	h.noted[n.name] = &notedAt{index: len(h.p.warnings)}
	h.say(n.severity, d, "%s", n.text)
}

// notedAt is the remark about a directive, and how many more lines have it.
type notedAt struct{ index, more int }

func (h *httpd) countNotes() {
	for _, at := range h.noted {
		switch {
		case at.more == 1:
			h.p.warnings[at.index].Msg += " (and in one more line)"
		case at.more > 1:
			h.p.warnings[at.index].Msg += fmt.Sprintf(" (and in %d more lines)", at.more)
		}
	}
}
