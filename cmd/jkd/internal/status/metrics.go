package status

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/VictoriaMetrics/metrics"
)

// WriteMetrics writes the counts in Prometheus's text format: all [metricFamilies]
// in their order, each with its HELP and TYPE. A series is written once: a second
// one with the same labels would make a scraper refuse the whole. docs/metrics.md
// has the list.
func WriteMetrics(w io.Writer, s *Status) error {
	e := exposition{seen: map[string]struct{}{}}
	e.buf.Grow(4<<10 + len(s.Workers)*6<<10)
	for i := range metricFamilies {
		e.family = &metricFamilies[i]
		e.header()
		e.family.write(&e, s)
		clear(e.seen)
	}
	_, err := w.Write(e.buf.Bytes())
	return err
}

// metricKind is the TYPE of a family.
type metricKind string

const (
	counterKind   metricKind = "counter"
	gaugeKind     metricKind = "gauge"
	histogramKind metricKind = "histogram"
)

// metricFamily is a metric and the labels that each of its series has.
type metricFamily struct {
	name   string
	kind   metricKind
	labels []string
	help   string
	write  func(e *exposition, s *Status)
}

// exposition is what is written, one family after the other.
type exposition struct {
	buf    bytes.Buffer
	family *metricFamily
	seen   map[string]struct{} // the labels of this family's series
}

// helpEscaper and labelEscaper are the text format's.
var (
	helpEscaper  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func (e *exposition) header() {
	for _, part := range [...]string{
		"# HELP ", e.family.name, " ", helpEscaper.Replace(e.family.help),
		"\n# TYPE ", e.family.name, " ", string(e.family.kind), "\n",
	} {
		e.buf.WriteString(part)
	}
}

// labels are those of the family with their values, without braces; ok is false
// if a series has them already.
func (e *exposition) labels(values []string) (text string, ok bool) {
	if len(values) != len(e.family.labels) {
		panic("status: values do not fit the labels of " + e.family.name)
	}
	var b strings.Builder
	for i, name := range e.family.labels {
		if i > 0 {
			b.WriteByte(',')
		}
		v := values[i]
		if !utf8.ValidString(v) {
			v = strings.ToValidUTF8(v, "\ufffd")
		}
		b.WriteString(name)
		b.WriteString(`="`)
		labelEscaper.WriteString(&b, v)
		b.WriteByte('"')
	}
	text = b.String()
	if _, twice := e.seen[text]; twice {
		return "", false
	}
	e.seen[text] = struct{}{}
	return text, true
}

// series is the whole name of a sample.
func series(name, labels string) string {
	if labels == "" {
		return name
	}
	return name + "{" + labels + "}"
}

// count is a sample that is a whole number; values are those of the labels.
func (e *exposition) count(n uint64, values ...string) {
	if l, ok := e.labels(values); ok {
		metrics.WriteCounterUint64(&e.buf, series(e.family.name, l), n)
	}
}

// number is a sample that is any number.
func (e *exposition) number(f float64, values ...string) {
	if l, ok := e.labels(values); ok {
		metrics.WriteGaugeFloat64(&e.buf, series(e.family.name, l), f)
	}
}

// histogram is a histogram of len(counts) classes, not cumulated, of which the
// last has no bound. Its count is the sum of its classes, which other processes
// may be raising, so that it always is what the +Inf bucket says.
func (e *exposition) histogram(counts []uint64, bounds []string, sum float64, values ...string) {
	l, ok := e.labels(values)
	if !ok {
		return
	}
	before := l
	if l != "" {
		before += ","
	}
	var total uint64
	for i, n := range counts {
		total += n
		le := "+Inf"
		if i < len(bounds) {
			le = bounds[i]
		}
		metrics.WriteCounterUint64(&e.buf, e.family.name+"_bucket{"+before+`le="`+le+`"}`, total)
	}
	metrics.WriteCounterFloat64(&e.buf, series(e.family.name+"_sum", l), sum)
	metrics.WriteCounterUint64(&e.buf, series(e.family.name+"_count", l), total)
}
