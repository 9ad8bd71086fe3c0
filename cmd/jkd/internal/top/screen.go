//go:build unix

package top

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// screen is a terminal in raw mode, with the screen that it keeps for programs
// like this one. What is sent to it are sequences of ECMA-48 and xterm's for
// that other screen, which terminals without one ignore.
type screen struct {
	in, out *os.File
	colors  bool
	before  *term.State // nil: it is as we found it
}

const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J" // other screen, no cursor, no wrapping
	leave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// styles are SGR parameters.
var styles = [numStyles]string{Plain: "0", Dim: "2", Bold: "1", Head: "7", Good: "32", Warm: "33", Bad: "1;31"}

// bare are those without colours.
var bare = [numStyles]string{Plain: "0", Dim: "0", Bold: "1", Head: "7", Good: "0", Warm: "1", Bad: "7"}

// open takes the terminal.
func (s *screen) open() (err error) {
	if s.before != nil {
		return nil
	}
	before, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	s.before = before
	_, err = s.out.WriteString(enter)
	return err
}

// close gives it back as it was.
func (s *screen) close() {
	if s.before == nil {
		return
	}
	_, _ = s.out.WriteString(leave)
	_ = term.Restore(int(s.in.Fd()), s.before)
	s.before = nil
}

// size is the terminal's now; where it doesn't tell, the usual one.
func (s *screen) size() (width, height int) {
	w, h, err := term.GetSize(int(s.out.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// draw shows lines, in one write, over what was there: nothing flickers.
func (s *screen) draw(lines []Line, height int) error {
	_, err := s.out.WriteString(paint(lines, height, s.colors))
	return err
}

// paint makes what draw sends.
func paint(lines []Line, height int, colors bool) string {
	sgr := &bare
	if colors {
		sgr = &styles
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		for _, span := range l {
			if sgr[span.Style] == "0" {
				b.WriteString(span.Text)
				continue
			}
			b.WriteString("\x1b[" + sgr[span.Style] + "m" + span.Text + "\x1b[0m")
		}
		b.WriteString("\x1b[K")
	}
	if len(lines) < height {
		b.WriteString("\r\n\x1b[J")
	}
	return b.String()
}
