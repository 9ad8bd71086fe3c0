package jk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseInt reads a whole number with an optional k or m (powers of 1024) and
// nothing behind it.
func parseInt(s string) (int64, error) {
	digits, factor := s, int64(1)
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			digits, factor = s[:len(s)-1], 1<<10
		case 'm', 'M':
			digits, factor = s[:len(s)-1], 1<<20
		}
	}
	bare := strings.TrimPrefix(digits, "-")
	if bare == "" || strings.Trim(bare, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/factor || n < math.MinInt64/factor {
		return 0, fmt.Errorf("%s is too large", s)
	}
	return n * factor, nil
}

// parseBool reads mod_jk's truth values: on and off, or a word or number whose
// first letter says it.
func parseBool(s string) (bool, error) {
	switch {
	case strings.EqualFold(s, "off"):
		return false, nil
	case strings.EqualFold(s, "on"):
		return true, nil
	case s == "":
	case strings.IndexByte("fFnN0", s[0]) >= 0:
		return false, nil
	case strings.IndexByte("tTyY1", s[0]) >= 0:
		return true, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

// split separates a list at blanks and commas.
func split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
}

// FailStatus is one code of fail_on_status.
type FailStatus struct {
	Code int
	// Soft (written with a minus) means that the request fails here but the
	// worker's state does not change.
	Soft bool
}

// parseFailStatus reads a list of codes. odd is what is to be said of those
// that are legal but cannot be meant; codes that no answer has are left out.
func parseFailStatus(s string) (out []FailStatus, odd []string, err error) {
	for _, word := range split(s) {
		digits, soft := strings.CutPrefix(word, "-")
		n, err := strconv.ParseUint(digits, 10, 31)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%q is not an HTTP status", word)
		case n < 200 || n > 999:
			odd = append(odd, fmt.Sprintf("no answer has the status %d", n))
			continue
		case n == 200:
			odd = append(odd, "with 200 among the codes every good answer is a failure")
		}
		out = append(out, FailStatus{Code: int(n), Soft: soft})
	}
	return out, odd, nil
}
