package files

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// private tells whether name, as it would be opened, is a directory of a web
// application that is not for clients, or is in one: WEB-INF or META-INF. Some
// file systems take other spellings for the same name: in other cases, with
// dots, blanks or a stream's name behind it, in letters of other widths, with
// characters that nobody sees.
func private(name string) bool {
	for element := range strings.FieldsFuncSeq(name, isSeparator) {
		stream, _, _ := strings.Cut(element, ":")
		for _, e := range []string{plainly(element), plainly(stream)} {
			if strings.EqualFold(e, "WEB-INF") || strings.EqualFold(e, "META-INF") {
				return true
			}
		}
	}
	return false
}

// isSource tells whether name is, in any spelling, that of a JSP, which is for
// the container to read.
func isSource(name string) bool {
	name = strings.TrimRightFunc(name, isSeparator)
	name = name[strings.LastIndexFunc(name, isSeparator)+1:]
	stream, _, _ := strings.Cut(name, ":")
	for _, e := range []string{plainly(name), plainly(stream)} {
		if hasSuffixFold(e, ".jsp") || hasSuffixFold(e, ".jspx") || hasSuffixFold(e, ".jspf") {
			return true
		}
	}
	return false
}

func isSeparator(c rune) bool { return c == '/' || c == '\\' }

// plainly is the name that other spellings of an element mean.
func plainly(element string) string {
	element = strings.TrimRight(element, ". ")
	for i := 0; i < len(element); i++ {
		if element[i] >= utf8.RuneSelf {
			return strings.Map(narrow, element)
		}
	}
	return element
}

// narrow maps letters of full width to those of ASCII, and characters that are
// not seen to none.
func narrow(r rune) rune {
	switch {
	case 0xff01 <= r && r <= 0xff5e:
		return r - 0xff01 + '!'
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Variation_Selector):
		return -1
	}
	return r
}

// apaches tells whether an element of name is one of Apache's own files
// (.htaccess, .htpasswd), which are not for clients either.
func apaches(name string) bool {
	for element := range strings.SplitSeq(name, "/") {
		if len(element) >= 3 && strings.EqualFold(element[:3], ".ht") {
			return true
		}
	}
	return false
}

func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// hasEscapedSlash tells whether a path as the client wrote it has a %2F, which
// is no separator and in no file's name.
func hasEscapedSlash(raw []byte) bool {
	return bytes.Contains(raw, []byte("%2F")) || bytes.Contains(raw, []byte("%2f"))
}
