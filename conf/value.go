package conf

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseInt reads a decimal number and nothing else: what C's atoi would cut
// short ("10abc", "1 000", "0x10") is an error.
func parseInt(s string) (int64, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is too large", s)
	}
	return n, nil
}

// splitUnit separates the leading number from the letters after it.
func splitUnit(s string) (number, unit string) {
	i := len(s)
	for i > 0 && (s[i-1] < '0' || s[i-1] > '9') {
		i--
	}
	return s[:i], strings.ToLower(s[i:])
}

// parseSize reads a number of bytes with an optional k, m or g (powers of
// 1024).
func parseSize(s string) (int64, error) {
	number, unit := splitUnit(s)
	var factor int64
	switch unit {
	case "":
		factor = 1
	case "k":
		factor = 1 << 10
	case "m":
		factor = 1 << 20
	case "g":
		factor = 1 << 30
	default:
		return 0, fmt.Errorf("%q is not a size: a whole number of bytes, or one followed by k, m or g", s)
	}
	n, err := parseInt(number)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return 0, fmt.Errorf("%s is too large", s)
	}
	return n * factor, nil
}

// maxTime bounds times so that sums of a few never overflow.
const maxTime = math.MaxInt32 * time.Second

// parseTime reads a time: a whole number with one of Apache's suffixes ms, s,
// mi or min, h; a bare number counts in unit.
func parseTime(s string, unit time.Duration) (time.Duration, error) {
	number, suffix := splitUnit(s)
	switch suffix {
	case "":
	case "ms":
		unit = time.Millisecond
	case "s":
		unit = time.Second
	case "mi", "min":
		unit = time.Minute
	case "h":
		unit = time.Hour
	case "m":
		return 0, fmt.Errorf("%q may mean minutes or milliseconds: write min or ms", s)
	default:
		return 0, fmt.Errorf("%q is not a time: a whole number, or one followed by ms, s, min or h", s)
	}
	n, err := parseInt(number)
	if err != nil {
		return 0, err
	}
	if n > int64(maxTime/unit) || n < -int64(maxTime/unit) {
		return 0, fmt.Errorf("%s is too large", s)
	}
	return time.Duration(n) * unit, nil
}

func parseFlag(s string) (bool, error) {
	switch {
	case strings.EqualFold(s, "on"):
		return true, nil
	case strings.EqualFold(s, "off"):
		return false, nil
	}
	return false, fmt.Errorf("%q is neither On nor Off", s)
}

// unquote returns a value that is one argument: as written, or without the
// quotes when it is quoted as a whole.
func unquote(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, nil
	}
	word, rest, err := nextWord(s)
	if err != nil {
		return "", err
	}
	if rest != "" {
		return "", fmt.Errorf("text follows the closing quote: %s", Printable(rest))
	}
	return word, nil
}

// words splits a value into arguments as Apache does: at blanks, except within
// single or double quotes.
func words(s string) ([]string, error) {
	var out []string
	for s != "" {
		word, rest, err := nextWord(s)
		if err != nil {
			return nil, err
		}
		out, s = append(out, word), rest
	}
	return out, nil
}

// nextWord returns the first argument of s and the text after it. Within
// quotes a backslash takes the meaning of a quote or backslash after it.
func nextWord(s string) (word, rest string, err error) {
	quote := s[0]
	if quote != '"' && quote != '\'' {
		i := strings.IndexAny(s, " \t")
		if i < 0 {
			return s, "", nil
		}
		return s[:i], strings.TrimLeft(s[i:], " \t"), nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			rest = s[i+1:]
			if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return "", "", fmt.Errorf("text follows the closing quote: %s", Printable(rest))
			}
			return b.String(), strings.TrimLeft(rest, " \t"), nil
		case c == '\\' && i+1 < len(s) && (s[i+1] == quote || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("the quote is never closed")
}
