package httpd

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"jkd/connector"
)

// LogFormat is one of Apache's two access log formats.
type LogFormat uint8

// The formats, by their Apache nicknames.
const (
	Common   LogFormat = iota // host ident user [time] "request" status bytes
	Combined                  // Common and "referer" "user agent"
)

var logFormatNames = [...]string{"common", "combined"}

func (f LogFormat) String() string {
	if int(f) < len(logFormatNames) {
		return logFormatNames[f]
	}
	return fmt.Sprintf("LogFormat(%d)", uint8(f))
}

// AccessLog writes a line a request (CustomLog). It may be used concurrently:
// every line is one write to a file opened for appending, so lines of several
// processes don't mix.
type AccessLog struct {
	W      io.Writer
	Format LogFormat
}

type entry struct {
	remote, method, target, proto []byte
	status                        int
	bytes                         int64 // of the body
	start                         time.Time
	fields                        []connector.Field
}

func (l *AccessLog) append(b []byte, e *entry) []byte {
	b = append(b, e.remote...)
	b = append(b, " - - ["...)
	b = e.start.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, "] \""...)
	if len(e.target) > 0 {
		b = appendEscaped(b, e.method)
		b = append(b, ' ')
		b = appendEscaped(b, e.target)
		if len(e.proto) > 0 {
			b = append(b, ' ')
			b = append(b, e.proto...)
		}
	} else {
		b = append(b, '-')
	}
	b = append(b, "\" "...)
	b = strconv.AppendInt(b, int64(e.status), 10)
	b = append(b, ' ')
	if e.bytes > 0 {
		b = strconv.AppendInt(b, e.bytes, 10)
	} else {
		b = append(b, '-')
	}
	if l.Format == Combined {
		b = appendQuoted(b, e.fields, "referer")
		b = appendQuoted(b, e.fields, "user-agent")
	}
	return append(b, '\n')
}

func appendQuoted(b []byte, fields []connector.Field, name string) []byte {
	b = append(b, " \""...)
	found := false
	for i := range fields {
		if connector.EqualFold(fields[i].Name, name) {
			b = appendEscaped(b, fields[i].Value)
			found = true
			break
		}
	}
	if !found {
		b = append(b, '-')
	}
	return append(b, '"')
}

// appendEscaped writes what a client sent so that it can neither end a line
// nor a quoted text.
func appendEscaped(b, s []byte) []byte {
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ' || c >= 0x7f:
			b = append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

func (l *AccessLog) write(line []byte) { _, _ = l.W.Write(line) }
