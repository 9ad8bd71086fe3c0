package status

import (
	"bytes"
	"io"
	"strings"

	"github.com/VictoriaMetrics/metrics"
)

// WriteMetrics writes the counts in Prometheus's text format: all [metricFamilies]
// in their order, each with its HELP and TYPE. docs/metrics.md has the list.
func WriteMetrics(w io.Writer, s *Status) error {
	buf, direct := w.(*bytes.Buffer)
	if !direct {
		buf = new(bytes.Buffer)
	}
	e := exposition{buf: buf, workers: labelWorkers(s), members: labelMembers(s)}
	for i := range metricFamilies {
		e.family = &metricFamilies[i]
		e.header()
		e.family.write(&e, s)
	}
	if direct {
		return nil
	}
	_, err := w.Write(buf.Bytes())
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
	buf     *bytes.Buffer
	family  *metricFamily
	workers []labelledWorker
	members []labelledMember
}

// labelledWorker is a worker with the labels that its series have in common.
type labelledWorker struct {
	*Worker
	labels string
}

// labelledMember is a member of a balancer likewise.
type labelledMember struct {
	*Member
	labels string
}

// labelWorkers leaves out who has the labels of one before him: a series that
// is there twice makes a scraper refuse the whole.
func labelWorkers(s *Status) []labelledWorker {
	list := make([]labelledWorker, 0, len(s.Workers))
	seen := make(map[string]struct{}, len(s.Workers))
	for i := range s.Workers {
		w := &s.Workers[i]
		l := label("connector", w.Connector) + "," + label("worker", w.Name)
		if _, twice := seen[l]; !twice {
			seen[l] = struct{}{}
			list = append(list, labelledWorker{w, l})
		}
	}
	return list
}

// labelMembers does so with members.
func labelMembers(s *Status) (list []labelledMember) {
	seen := map[string]struct{}{}
	for i := range s.Balancers {
		b := &s.Balancers[i]
		balancer := label("connector", b.Connector) + "," + label("balancer", b.Name) + ","
		for j := range b.Members {
			m := &b.Members[j]
			l := balancer + label("member", m.Name)
			if _, twice := seen[l]; !twice {
				seen[l] = struct{}{}
				list = append(list, labelledMember{m, l})
			}
		}
	}
	return list
}

// labelEscaper is the text format's.
var labelEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// label is one label. The format is UTF-8.
func label(name, value string) string {
	return name + `="` + labelEscaper.Replace(strings.ToValidUTF8(value, "\ufffd")) + `"`
}

func (e *exposition) header() {
	for _, part := range [...]string{
		"# HELP ", e.family.name, " ", e.family.help, "\n# TYPE ", e.family.name, " ", string(e.family.kind), "\n",
	} {
		e.buf.WriteString(part)
	}
}

// series is the whole name of a sample.
func series(name, labels string) string {
	if labels == "" {
		return name
	}
	return name + "{" + labels + "}"
}

// count is a sample that is a whole number.
func (e *exposition) count(n uint64, labels string) {
	metrics.WriteCounterUint64(e.buf, series(e.family.name, labels), n)
}

// number is a sample that is any number.
func (e *exposition) number(f float64, labels string) {
	metrics.WriteGaugeFloat64(e.buf, series(e.family.name, labels), f)
}

// histogram is a histogram of classes that are not cumulated; bounds are their
// labels, the last of which is +Inf. Its count is the sum of its classes, which
// other processes may be raising, so that it always is what the last bucket says.
func (e *exposition) histogram(counts []uint64, bounds []string, sum float64, labels string) {
	bucket := e.family.name + "_bucket{" + labels
	var total uint64
	for i, n := range counts {
		total += n
		metrics.WriteCounterUint64(e.buf, bucket+bounds[i]+"}", total)
	}
	metrics.WriteCounterFloat64(e.buf, series(e.family.name+"_sum", labels), sum)
	metrics.WriteCounterUint64(e.buf, series(e.family.name+"_count", labels), total)
}
