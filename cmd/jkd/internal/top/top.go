//go:build unix

package top

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"jkd/cmd/jkd/internal/status"
)

// DefaultInterval is the pause between two frames where none is asked for.
const DefaultInterval = time.Second

// Options are what jkd -top needs.
type Options struct {
	// Fetch asks the server. note is to be shown below.
	Fetch func() (s *status.Status, note string, err error)
	// In and Out are the terminal. Frames are plain text, one after the other,
	// if one of them is none, or if TERM says that it can do nothing.
	In, Out *os.File
	// Interval is the pause between two frames; 0: DefaultInterval.
	Interval time.Duration
	// Frames is how many there are; 0: until a key ends it, or one of plain
	// text.
	Frames int
	// Getenv is os.Getenv: TERM, NO_COLOR and the locale; nil: there is
	// nothing set.
	Getenv func(string) string
}

// Run shows the server until the user has enough. Its error is why the server
// could not be asked the first time, or why the terminal does not do.
func Run(o Options) error {
	if o.Interval == 0 {
		o.Interval = DefaultInterval
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	first, note, err := o.Fetch()
	if err != nil {
		return err
	}
	v := View{Interval: o.Interval, Sorts: initialSorts(), Note: note, ASCII: !utf8Locale(o.Getenv)}
	live := term.IsTerminal(int(o.In.Fd())) && term.IsTerminal(int(o.Out.Fd()))
	if name := o.Getenv("TERM"); !live || name == "" || name == "dumb" {
		return plain(o, first, v)
	}
	return interactive(o, first, v)
}

// utf8Locale tells whether the terminal shows more than ASCII, by the first
// variable that is set, as setlocale(3) goes through them.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if s := strings.ToLower(getenv(name)); s != "" {
			return strings.Contains(s, "utf-8") || strings.Contains(s, "utf8")
		}
	}
	return false
}

// plain writes frames as text, all tables below one another.
func plain(o Options, s *status.Status, v View) error {
	var prev *status.Status
	for n := 1; ; n++ {
		if err := WriteFrame(o.Out, s, prev, v); err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		if n >= max(o.Frames, 1) {
			return nil
		}
		time.Sleep(o.Interval)
		next, note, err := o.Fetch()
		if err != nil {
			return err
		}
		prev, s, v.Note = s, next, note
	}
}

// WriteFrame writes a frame with all tables as plain text, and an empty line.
func WriteFrame(w io.Writer, s, prev *status.Status, v View) error {
	var b strings.Builder
	v.Width, v.Height, v.Help = 0, 0, false
	note := v.Note
	v.Note = ""
	r := compare(s, prev)
	head := []Line{title(s, &v), load(s, &r), slotLine(s)}
	head = append(head, chart(s.History, &v)...)
	head = append(head, board(s.Slots, &v)...)
	for _, l := range append(head, sick(s)...) {
		fmt.Fprintln(&b, l)
	}
	for v.Table = Slots; v.Table < numTables; v.Table++ {
		list := rows(s, &r, &v)
		fmt.Fprintf(&b, "\n%s: %d\n", v.Table, len(list))
		if len(list) == 0 {
			continue
		}
		for _, l := range table(list, list, &v) {
			fmt.Fprintln(&b, l)
		}
	}
	if note != "" {
		fmt.Fprintf(&b, "\n%s\n", clean(note))
	}
	fmt.Fprintln(&b)
	_, err := io.WriteString(w, b.String())
	return err
}
