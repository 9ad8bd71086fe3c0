package jk2

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseEdit(t *testing.T) {
	for _, text := range []string{"a|b|c", "lb:lb|noWorkerMsg|a|b = c", "uri:/x/*|group|lb:a b", "é|x|ü"} {
		e, err := ParseEdit(text)
		if err != nil || e.String() != text {
			t.Errorf("%q: %v, %v", text, e, err)
		}
	}
	for _, text := range []string{"", "a", "a|b", "a||c", "|b|c", "a|b|", "a|b|c\nd|e|f", "a|b|\x00", strings.Repeat("x", longestEdit+1) + "|b|c"} {
		if e, err := ParseEdit(text); err == nil {
			t.Errorf("%q: %v", text, e)
		}
	}
}

func edits(t *testing.T, lines ...string) []Edit {
	t.Helper()
	var out []Edit
	for _, l := range lines {
		e, err := ParseEdit(l)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		name             string
		given, all, seen string // blank-separated
	}{
		{"none is published", "a|x|1 a|y|2", "a|x|1 a|y|2", ""},
		{"the later value", "a|x|1 a|x|2", "a|x|2", ""},
		{"published", "a|x|1 b|x|2 a|ver|1", "a|x|1 b|x|2 a|ver|1", "a|x|1 a|ver|1"},
		{"after that", "a|x|1 a|ver|1 a|x|2", "a|x|1 a|ver|1 a|x|2", "a|x|1 a|ver|1"},
		{"and after that", "a|x|1 a|ver|1 a|x|2 a|x|3 a|ver|2", "a|x|3 a|ver|2", "a|x|3 a|ver|2"},
		{"others keep theirs", "b|x|1 a|x|1 b|ver|1 a|ver|1 a|ver|2", "b|x|1 a|x|1 b|ver|1 a|ver|2", "b|x|1 a|x|1 b|ver|1 a|ver|2"},
		{"ver first", "a|ver|1 a|x|1", "a|ver|1 a|x|1", "a|ver|1"},
	} {
		var all []Edit
		for _, e := range edits(t, strings.Fields(tt.given)...) {
			all = mergedEdits(all, e)
		}
		if want := edits(t, strings.Fields(tt.all)...); !reflect.DeepEqual(all, want) {
			t.Errorf("%s: %v, want %v", tt.name, all, want)
		}
		if got, want := published(all), edits(t, strings.Fields(tt.seen)...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: published %v, want %v", tt.name, got, want)
		}
		if back := parseEdits(formatEdits(all)); !reflect.DeepEqual(back, all) {
			t.Errorf("%s: %v came back as %v", tt.name, all, back)
		}
	}
}

// Whatever is on the board, what is read is bounded and comes back as it is.
func FuzzEdits(f *testing.F) {
	f.Add([]byte("a|x|1\na|ver|2\n"))
	f.Add([]byte("a|x\n|||\n\n\xff|\xff|\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list := parseEdits(data)
		if len(list) > mostEdits {
			t.Error(len(list))
		}
		if back := parseEdits(formatEdits(list)); len(list) > 0 && !reflect.DeepEqual(back, list) {
			t.Errorf("%v came back as %v", list, back)
		}
		var all []Edit
		for _, e := range list[:min(len(list), 50)] {
			all = mergedEdits(all, e)
		}
		published(all)
	})
}
