package jk2

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Edit is one new value that was given on the status page (set=). It holds for
// the process that took it at once. The others follow when the component's ver
// is edited as well, as in mod_jk2.
type Edit struct{ Component, Property, Value string }

const (
	editSeparator = "|"
	// mostEdits bounds how many are kept.
	mostEdits = 1000
	// longestEdit bounds each part, in bytes.
	longestEdit = 1023
)

// ParseEdit reads "NAME|ATTR|VALUE".
func ParseEdit(text string) (Edit, error) {
	parts := strings.SplitN(text, editSeparator, 3)
	if len(parts) < 3 {
		return Edit{}, errors.New("is not NAME|ATTR|VALUE")
	}
	e := Edit{parts[0], parts[1], parts[2]}
	for _, p := range parts {
		switch {
		case p == "":
			return Edit{}, errors.New("has an empty part")
		case len(p) > longestEdit:
			return Edit{}, fmt.Errorf("has a part of more than %d bytes", longestEdit)
		case strings.IndexFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0:
			return Edit{}, errors.New("has a control character")
		}
	}
	return e, nil
}

// String returns the form that ParseEdit reads.
func (e Edit) String() string {
	return e.Component + editSeparator + e.Property + editSeparator + e.Value
}

// parseEdits reads what is on the board, leaving out what is none.
func parseEdits(data []byte) []Edit {
	var out []Edit
	for line := range strings.Lines(string(data)) {
		if e, err := ParseEdit(strings.TrimSuffix(line, "\n")); err == nil && len(out) < mostEdits {
			out = append(out, e)
		}
	}
	return out
}

func formatEdits(edits []Edit) []byte {
	var out []byte
	for _, e := range edits {
		out = append(append(out, e.String()...), '\n')
	}
	return out
}

// merged is edits with e behind them, which takes the place of an older one that
// says nothing any more: of one that was not published, or, if e publishes, of
// all that a later one has overtaken.
func mergedEdits(edits []Edit, e Edit) []Edit {
	at := -1 // the last edit of ver
	for i, o := range edits {
		if o.Component == e.Component && o.Property == verProperty {
			at = i
		}
	}
	last := map[string]int{}
	for i, o := range edits {
		if o.Component == e.Component {
			last[o.Property] = i
		}
	}
	var out []Edit
	for i, o := range edits {
		switch {
		case o.Component != e.Component:
		case o.Property == e.Property && (i > at || e.Property == verProperty):
			continue
		case e.Property == verProperty && i < last[o.Property]:
			continue
		}
		out = append(out, o)
	}
	return append(out, e)
}

// published are the edits that all processes obey: of each component those up
// to its last edit of ver.
func published(edits []Edit) []Edit {
	last := map[string]int{}
	for i, e := range edits {
		if e.Property == verProperty {
			last[e.Component] = i
		}
	}
	var out []Edit
	for i, e := range edits {
		if at, ok := last[e.Component]; ok && i <= at {
			out = append(out, e)
		}
	}
	return out
}

const verProperty = "ver"

// without leaves out the edits of components that a reload from old to next has
// read again: what the file says now is newer.
func without(edits []Edit, old, next *Setup) []Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return old.changed(next, e.Component) })
}
