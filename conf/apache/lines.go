package apache

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line in bytes, those it is continued by included.
const MaxLine = 8192

// blanks separate words and are removed from both ends of a line.
const blanks = " \t\r\v\f"

// lines calls yield for each line that says something, with the number it
// begins at: a backslash at the end of a line continues it on the next one, of
// a comment too. fault is called for lines that nobody can read.
func lines(data []byte, yield func(line int, text string), fault func(line int, text string)) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		fault(1, "the file is UTF-16; save it as UTF-8")
		return
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var joined []byte
	number, begin, long := 0, 0, false
	flush := func() {
		text := bytes.Trim(joined, blanks)
		switch {
		case long:
			fault(begin, fmt.Sprintf("the line is longer than %d bytes", MaxLine))
		case len(text) == 0 || text[0] == '#':
		default:
			if why := unreadable(text); why != "" {
				fault(begin, why)
			} else {
				yield(begin, string(text))
			}
		}
		joined, begin, long = joined[:0], 0, false
	}
	for raw := range bytes.Lines(data) {
		number++
		if begin == 0 {
			begin = number
		}
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
		raw, continued := bytes.CutSuffix(raw, []byte(`\`))
		if long = long || len(joined)+len(raw) > MaxLine; !long {
			joined = append(joined, raw...)
		}
		if !continued {
			flush()
		}
	}
	flush()
}

// unreadable says why a line is refused, "" if it is not.
func unreadable(text []byte) string {
	if !utf8.Valid(text) {
		return "the line is not UTF-8 text"
	}
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Sprintf("the line contains the control byte 0x%02x", c)
		}
	}
	return ""
}

// cutWord separates the first word from what follows.
func cutWord(text string) (word, rest string) {
	i := strings.IndexAny(text, blanks)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.Trim(text[i:], blanks)
}

// Words splits arguments as Apache does: at blanks, except within single or
// double quotes, where a backslash takes the meaning of such a quote and of a
// backslash behind it. Unlike there, a quote that is never closed is an error.
func Words(s string) ([]string, error) {
	var out []string
	for s = strings.TrimLeft(s, blanks); s != ""; s = strings.TrimLeft(s, blanks) {
		quote := s[0]
		if quote != '"' && quote != '\'' {
			word, rest := cutWord(s)
			out, s = append(out, word), rest
			continue
		}
		var b strings.Builder
		i := 1
		for ; i < len(s) && s[i] != quote; i++ {
			if s[i] == '\\' && i+1 < len(s) && (s[i+1] == quote || s[i+1] == '\\') {
				i++
			}
			b.WriteByte(s[i])
		}
		if i == len(s) {
			return nil, fmt.Errorf("the quote %c is never closed", quote)
		}
		out, s = append(out, b.String()), s[i+1:]
	}
	return out, nil
}
