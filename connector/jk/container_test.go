package jk

import "strings"

// container is how a servlet container reads the path of a request, written
// down from Tomcat's steps and not from ours: parameters go first, then
// escapes are decoded once, then slashes are folded and dots resolved.
type container struct {
	name string
	// solidus is what happens to an escaped slash, backslash to a backslash,
	// escaped or not: 'r' the request is refused, 'p' it stays as it is, 'd'
	// it becomes a slash.
	solidus, backslash byte
}

// containers are Tomcat as it comes, with encodedSolidusHandling passthrough,
// and with all that can be made of slashes.
var containers = []container{
	{"default", 'r', 'r'},
	{"passthrough", 'p', 'r'},
	{"backslash kept", 'p', 'p'},
	{"decode", 'd', 'r'},
	{"backslash", 'r', 'd'},
	{"decode and backslash", 'd', 'd'},
}

// resolve returns the path a servlet is looked up by, and whether the request
// is accepted.
func (c container) resolve(path string) (string, bool) {
	if !strings.HasPrefix(path, "/") {
		return "", false
	}
	var plain strings.Builder
	for i, seg := range strings.Split(path, "/") {
		if i > 0 {
			plain.WriteByte('/')
		}
		name, _, _ := strings.Cut(seg, ";")
		plain.WriteString(name)
	}
	var out strings.Builder
	for s := plain.String(); s != ""; {
		b := s[0]
		s = s[1:]
		if b == '%' {
			if len(s) < 2 {
				return "", false
			}
			hi, lo := strings.IndexByte("0123456789ABCDEF", upper(s[0])), strings.IndexByte("0123456789ABCDEF", upper(s[1]))
			if hi < 0 || lo < 0 {
				return "", false
			}
			b = byte(hi<<4 | lo)
			if b == '/' {
				switch c.solidus {
				case 'r':
					return "", false
				case 'p':
					out.WriteString("%" + s[:2])
					s = s[2:]
					continue
				}
			}
			s = s[2:]
		}
		if b == '\\' {
			switch c.backslash {
			case 'r':
				return "", false
			case 'd':
				b = '/'
			}
		}
		if b == 0 {
			return "", false
		}
		out.WriteByte(b)
	}
	p := out.String()
	for strings.Contains(p, "//") {
		p = strings.ReplaceAll(p, "//", "/")
	}
	if strings.HasSuffix(p, "/.") || strings.HasSuffix(p, "/..") {
		p += "/"
	}
	for strings.Contains(p, "/./") {
		p = strings.Replace(p, "/./", "/", 1)
	}
	for {
		i := strings.Index(p, "/../")
		if i < 0 {
			return p, true
		}
		if i == 0 {
			return "", false
		}
		p = p[:strings.LastIndexByte(p[:i], '/')] + p[i+3:]
	}
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		b -= 0x20
	}
	return b
}
