package jk2

import (
	"reflect"
	"strings"
	"testing"

	"jkd/connector/connectortest"
	"jkd/connector/jk2/board"
)

// put makes edits on a board, one after the other, as a child does.
func put(t *testing.T, b *board.Board, all []Edit) {
	t.Helper()
	for _, e := range all {
		if err := b.Edit(0, func(old []byte) ([]byte, error) { return formatEdits(mergedEdits(parseEdits(old), e)), nil }); err != nil {
			t.Fatal(err)
		}
	}
}

func mustInherit(t *testing.T, s *Setup, to, from *board.Board) *Inheritance {
	t.Helper()
	i, err := Inherit(s, to, from)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

const inheritText = "[channel.socket:a:1]\nver=1\nlb_factor=1\n[channel.socket:b:2]\nlb_factor=1\nroute=r\n[uri:/x]\ngroup=ajp13:a:1\n"

// The edits of the generation before hold in the next one, unless the file says
// something new.
func TestInherit(t *testing.T) {
	const edited = "ajp13:a:1|lb_factor|7 ajp13:a:1|ver|1 ajp13:b:2|lb_factor|8 ajp13:b:2|route|q ajp13:b:2|ver|3 ajp13:a:1|disabled|1"
	for _, tt := range []struct {
		name, text, want string
		losses           []string
	}{
		{"the same file", inheritText, edited, nil},
		{"another value of what was edited", strings.Replace(inheritText, "route=r", "route=s", 1),
			"ajp13:a:1|lb_factor|7 ajp13:a:1|ver|1 ajp13:b:2|lb_factor|8 ajp13:b:2|ver|3 ajp13:a:1|disabled|1",
			[]string{"ajp13:b:2: the edit of route on the status page: it is now configured differently from before: the configuration counts"}},
		{"gone", strings.Replace(inheritText, "[channel.socket:b:2]\nlb_factor=1\nroute=r\n", "", 1),
			"ajp13:a:1|lb_factor|7 ajp13:a:1|ver|1 ajp13:a:1|disabled|1",
			[]string{
				"ajp13:b:2: the edit of lb_factor on the status page: it is not in the configuration any more",
				"ajp13:b:2: the edit of route on the status page: it is not in the configuration any more",
				"ajp13:b:2: the edit of ver on the status page: it is not in the configuration any more",
			}},
		{"another value of something else", strings.Replace(inheritText, "[uri:/x]", "[uri:/y]", 1), edited, nil},
	} {
		before := setup(t, inheritText)
		old, next := newBoard(t, 2), newBoard(t, 3)
		if i := mustInherit(t, before, old, nil); i != nil {
			t.Error("an inheritance of nobody")
		}
		put(t, old, edits(t, strings.Fields(edited)...))
		now := setup(t, tt.text)
		i := mustInherit(t, now, next, old)
		if got, want := parseEdits(next.Edits(nil)), edits(t, strings.Fields(tt.want)...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
		if got := i.Losses(); !reflect.DeepEqual(got, tt.losses) {
			t.Errorf("%s: losses %q", tt.name, got)
		}
		if next.Token() != old.Token() || next.Generation() == 0 {
			t.Errorf("%s: another token, or generation %d", tt.name, next.Generation())
		}
		// A child of the new generation begins with them.
		c := New(now, Options{Dial: connectortest.Dialers(2), Board: next})
		w := c.state.Load().cfg.workerNamed("ajp13:a:1")
		if w == nil || w.LBFactor != 7 || w.Disabled {
			t.Errorf("%s: %+v", tt.name, w)
		}
		c.Close()

		// What comes later comes once, and does not undo what is edited here.
		generation := next.Generation()
		i.Catch()
		if next.Generation() != generation {
			t.Errorf("%s: announced without a reason", tt.name)
		}
		put(t, next, edits(t, "ajp13:a:1|lb_factor|9"))
		put(t, old, edits(t, "ajp13:a:1|ver|2"))
		i.Catch()
		if next.Generation() != generation+1 {
			t.Errorf("%s: generation %d after %d", tt.name, next.Generation(), generation)
		}
		got := published(parseEdits(next.Edits(nil)))
		last := map[string]string{}
		for _, e := range got {
			last[e.Component+"|"+e.Property] = e.Value
		}
		if last["ajp13:a:1|lb_factor"] != "9" || last["ajp13:a:1|disabled"] != "1" || last["ajp13:a:1|ver"] != "2" {
			t.Errorf("%s: %v", tt.name, got)
		}
		// And once more, to a third generation.
		third := newBoard(t, 1)
		mustInherit(t, now, third, next)
		if got, want := parseEdits(third.Edits(nil)), parseEdits(next.Edits(nil)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: third %v, want %v", tt.name, got, want)
		}
	}
}

// Components that the file counts as new, or of which nobody knows what was
// configured, are as the file says.
func TestInheritLoses(t *testing.T) {
	old := newBoard(t, 2)
	mustInherit(t, setup(t, inheritText), old, nil)
	all := edits(t, "channel.socket:a:1|timeout|5", "channel.socket:a:1|ver|2")
	put(t, old, all)
	next := newBoard(t, 2)
	i := mustInherit(t, setup(t, strings.Replace(inheritText, "ver=1", "ver=2", 1)), next, old)
	if l := i.Losses(); len(next.Edits(nil)) != 0 || len(l) != 2 || !strings.Contains(l[0], "is configured anew") || len(i.Losses()) != 0 || next.Generation() != 0 {
		t.Errorf("%q, %q, %d", next.Edits(nil), l, next.Generation())
	}
	for name, from := range map[string]func(b *board.Board) error{
		"nothing written down": func(*board.Board) error { return nil },
		"nonsense":             func(b *board.Board) error { return b.Begin([]byte("{]")) },
		"null":                 func(b *board.Board) error { return b.Begin([]byte("[null,{}]")) },
	} {
		old, next := newBoard(t, 2), newBoard(t, 2)
		if err := from(old); err != nil {
			t.Fatal(err)
		}
		put(t, old, edits(t, "ajp13:a:1|lb_factor|7", "nobody|x|y", "ajp13:a:1|x|y", "ajp13:a:1|name|y"))
		i := mustInherit(t, setup(t, inheritText), next, old)
		if l := i.Losses(); len(next.Edits(nil)) != 0 && name != "null" || len(l) < 3 {
			t.Errorf("%s: %q, %q", name, next.Edits(nil), l)
		}
	}
	// Edits that do not go with the configuration are left out as a whole.
	old, next = newBoard(t, 2), newBoard(t, 2)
	mustInherit(t, setup(t, inheritText), old, nil)
	put(t, old, edits(t, "ajp13:a:1|lb_factor|many", "ajp13:a:1|ver|2"))
	i = mustInherit(t, setup(t, inheritText), next, old)
	if l := i.Losses(); len(next.Edits(nil)) != 0 || len(l) != 1 || !strings.Contains(l[0], "left out") {
		t.Errorf("%q, %q", next.Edits(nil), l)
	}
	// A file that there is no room for.
	size, err := board.Size(1, 10)
	if err != nil {
		t.Fatal(err)
	}
	small, err := board.Format(make([]byte, size), 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := Inherit(setup(t, inheritText), small, nil); i != nil || err == nil {
		t.Errorf("%v, %v", i, err)
	}
	(*Inheritance)(nil).Catch()
	if (*Inheritance)(nil).Losses() != nil {
		t.Error("losses of nobody")
	}
}

// Whatever is on the board of the generation before, the next one has edits that
// its configuration goes with.
func FuzzInherit(f *testing.F) {
	good, err := setup(f, inheritText).export()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, []byte("ajp13:a:1|lb_factor|7\najp13:a:1|ver|1\n"))
	f.Add(good, []byte("ajp13:a:1|lb_factor|many\najp13:a:1|ver|1\n"))
	f.Add([]byte("[{}]"), []byte("|||\nchannel.socket:a:1|host|x"))
	f.Add([]byte("null"), []byte("lb:lb|sticky|1\nlb:lb|ver|1"))
	f.Fuzz(func(t *testing.T, text, all []byte) {
		old, next := newBoard(t, 1), newBoard(t, 1)
		if old.Begin(text) != nil || old.Edit(0, func([]byte) ([]byte, error) { return all, nil }) != nil {
			return
		}
		s := setup(t, inheritText)
		i := mustInherit(t, s, next, old)
		i.Catch()
		if _, err := s.with(published(parseEdits(next.Edits(nil)))); err != nil {
			t.Error(err)
		}
	})
}
