package status

import (
	"bytes"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"jkd/connector/counters"
)

// parseMetrics reads what WriteMetrics wrote as Prometheus does, and checks what
// holds for all families: name, type, labels and that no series is there twice.
func parseMetrics(t *testing.T, s *Status) map[string]*dto.MetricFamily {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMetrics(&b, s); err != nil {
		t.Fatal(err)
	}
	p := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := p.TextToMetricFamilies(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	known := map[string]*metricFamily{}
	for i := range metricFamilies {
		known[metricFamilies[i].name] = &metricFamilies[i]
	}
	for name, f := range parsed {
		want := known[name]
		if want == nil {
			t.Errorf("family %q is not in the table", name)
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != string(want.kind) {
			t.Errorf("%s is a %s, want %s", name, got, want.kind)
		}
		if f.GetHelp() != want.help {
			t.Errorf("%s: help %q, want %q", name, f.GetHelp(), want.help)
		}
		seen := map[string]bool{}
		for _, m := range f.Metric {
			var names []string
			key := ""
			for _, l := range m.Label {
				names = append(names, l.GetName())
				key += l.GetName() + "=" + l.GetValue() + "\x00"
			}
			slices.Sort(names)
			if labels := slices.Sorted(slices.Values(want.labels)); !slices.Equal(names, labels) {
				t.Errorf("%s has labels %q, want %q", name, names, labels)
			}
			if seen[key] {
				t.Errorf("%s has %q twice", name, key)
			}
			seen[key] = true
			if want.kind == histogramKind {
				checkHistogram(t, name, m.GetHistogram())
			}
		}
	}
	return parsed
}

// checkHistogram wants all bounds, cumulated, with +Inf as the last.
func checkHistogram(t *testing.T, name string, h *dto.Histogram) {
	t.Helper()
	if len(h.Bucket) != len(counters.Bounds)+1 {
		t.Fatalf("%s has %d buckets, want %d", name, len(h.Bucket), len(counters.Bounds)+1)
	}
	var before uint64
	for i, b := range h.Bucket {
		want := math.Inf(1)
		if i < len(counters.Bounds) {
			want = counters.Bounds[i].Seconds()
		}
		if b.GetUpperBound() != want {
			t.Errorf("%s: bucket %d ends at %v, want %v", name, i, b.GetUpperBound(), want)
		}
		if b.GetCumulativeCount() < before {
			t.Errorf("%s: bucket %v has %d, less than the one before it: %d", name, want, b.GetCumulativeCount(), before)
		}
		before = b.GetCumulativeCount()
	}
	if before != h.GetSampleCount() {
		t.Errorf("%s: count %d, +Inf %d", name, h.GetSampleCount(), before)
	}
}

// sample is the one series with these labels and values, in pairs.
func sample(t *testing.T, families map[string]*dto.MetricFamily, name string, labels ...string) *dto.Metric {
	t.Helper()
	var found *dto.Metric
	for _, m := range families[name].GetMetric() {
		fits := true
		for i := 0; i < len(labels); i += 2 {
			fits = fits && slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool {
				return l.GetName() == labels[i] && l.GetValue() == labels[i+1]
			})
		}
		if fits && found != nil {
			t.Fatalf("%s%q is there more than once", name, labels)
		}
		if fits {
			found = m
		}
	}
	if found == nil {
		t.Fatalf("%s%q is not there", name, labels)
	}
	return found
}

// value is that of a counter or gauge.
func value(m *dto.Metric) float64 { return m.GetCounter().GetValue() + m.GetGauge().GetValue() }

func TestMetricValues(t *testing.T) {
	s := sampleStatus()
	s.Workers = append(s.Workers, Worker{Name: "other", Totals: counters.Totals{Cache: counters.Cache{Opened: 4}}})
	s.Workers[1].Cache.Oldest = s.Server.Now.Add(-9e9)
	f := parseMetrics(t, s)
	for _, tt := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"jkd_build_info", []string{"version", "jkd/1.0 (linux)", "built", "2026-12-02T10:11:12", "goversion", "go1.26", "mpm", "worker"}, 1},
		{"jkd_generation", nil, 3},
		{"jkd_start_time_seconds", nil, float64(s.Server.Restart.Unix())},
		{"jkd_uptime_seconds", nil, 25*3600 + 61},
		{"jkd_processor_seconds", []string{"mode", "user"}, 13.34},
		{"jkd_processor_seconds", []string{"mode", "system"}, 0.26},
		{"jkd_max_request_workers", nil, 4},
		{"jkd_server_limit", nil, 4},
		{"jkd_threads_per_child", nil, 2},
		{"jkd_children", []string{"state", "serving"}, 1},
		{"jkd_children", []string{"state", "stopping"}, 1},
		{"jkd_child_starts_total", nil, 9},
		{"jkd_child_deaths_total", []string{"reason", "ok"}, 5},
		{"jkd_child_deaths_total", []string{"reason", "killed"}, 2},
		{"jkd_child_deaths_total", []string{"reason", "crashed"}, 0},
		{"jkd_connections_cut_total", nil, 4},
		{"jkd_slots", []string{"state", "busy"}, 2},
		{"jkd_slots", []string{"state", "graceful"}, 1},
		{"jkd_slots", []string{"state", "idle"}, 1},
		{"jkd_connections", []string{"state", "seated"}, 2},
		{"jkd_connections", []string{"state", "parked"}, 30},
		{"jkd_scoreboard_slots", []string{"status", "ready"}, 1},
		{"jkd_scoreboard_slots", []string{"status", "busy-write"}, 1},
		{"jkd_scoreboard_slots", []string{"status", "graceful"}, 1},
		{"jkd_scoreboard_slots", []string{"status", "dead"}, 1},
		{"jkd_scoreboard_slots", []string{"status", "keep-alive"}, 0},
		{"jkd_accesses_total", nil, 123456},
		{"jkd_sent_bytes_total", nil, 5<<30 + 1023},
		{"jkd_busy_seconds_total", nil, 7.654321},
		{"jkd_requests_total", []string{"connector", "", "worker", "-", "class", "4xx"}, 2},
		{"jkd_requests_total", []string{"connector", "jk", "worker", "tomcat1", "class", "2xx"}, 399},
		{"jkd_requests_total", []string{"connector", "jk", "worker", "tomcat1", "class", "aborted"}, 1},
		{"jkd_requests_total", []string{"connector", "jk", "worker", "tomcat1", "class", "5xx"}, 0},
		{"jkd_response_bytes_total", []string{"connector", "jk", "worker", "tomcat1"}, 1 << 20},
		{"jkd_backend_errors_total", []string{"connector", "jk", "worker", "tomcat1"}, 3},
		{"jkd_cache_hits_total", []string{"connector", "jk", "worker", "tomcat1"}, 390},
		{"jkd_cache_misses_total", []string{"connector", "jk", "worker", "tomcat1"}, 10},
		{"jkd_cache_overflows_total", []string{"connector", "jk", "worker", "tomcat1"}, 0},
		{"jkd_backend_connections", []string{"worker", "tomcat1", "state", "idle"}, 1},
		{"jkd_backend_connections", []string{"worker", "tomcat1", "state", "busy"}, 1},
		{"jkd_backend_connection_idle_seconds", []string{"worker", "tomcat1"}, 9},
		{"jkd_backend_connection_idle_seconds", []string{"worker", "other"}, 0},
		{"jkd_backend_connections_opened_total", []string{"worker", "tomcat1"}, 10},
		{"jkd_backend_connections_opened_total", []string{"worker", "other"}, 4},
		{"jkd_backend_connections_closed_total", []string{"worker", "tomcat1", "reason", "age"}, 8},
		{"jkd_backend_connections_closed_total", []string{"worker", "tomcat1", "reason", "overflow"}, 0},
		{"jkd_member_info", []string{"connector", "jk", "balancer", "lb", "member", "tomcat2", "address", "127.0.0.1:8010", "activation", "ACT", "state", "ERR"}, 1},
		{"jkd_member_sick", []string{"member", "tomcat1"}, 0},
		{"jkd_member_sick", []string{"member", "tomcat2"}, 1},
		{"jkd_member_factor", []string{"member", "tomcat2"}, 1},
		{"jkd_member_busy", []string{"member", "tomcat1"}, 0},
		{"jkd_member_elected_total", []string{"member", "tomcat1"}, 400},
		{"jkd_member_errors_total", []string{"member", "tomcat2"}, 3},
		{"jkd_member_last_error_time_seconds", []string{"member", "tomcat2"}, float64(s.Server.Now.Unix() - 9)},
		{"jkd_member_last_error_time_seconds", []string{"member", "tomcat1"}, 0},
	} {
		if got := value(sample(t, f, tt.name, tt.labels...)); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%s%q is %v, want %v", tt.name, tt.labels, got, tt.want)
		}
	}

	h := sample(t, f, "jkd_request_duration_seconds", "worker", "tomcat1").GetHistogram()
	if h.GetSampleCount() != 400 || math.Abs(h.GetSampleSum()-0.8) > 1e-9 {
		t.Errorf("%d requests took %v s, want 400 and 0.8", h.GetSampleCount(), h.GetSampleSum())
	}
	for _, b := range h.Bucket { // all of them took between 2.5 and 5 ms
		want := uint64(0)
		if b.GetUpperBound() >= 0.005 {
			want = 400
		}
		if b.GetCumulativeCount() != want {
			t.Errorf("%d requests took at most %v s, want %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
		}
	}

	for _, name := range []string{"jkd_cache_hits_total", "jkd_backend_connections", "jkd_backend_errors_total"} {
		for _, m := range f[name].Metric {
			if slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetValue() == "-" }) {
				t.Errorf("%s is there for what jkd answers itself", name)
			}
		}
	}
	for i := range metricFamilies {
		if f[metricFamilies[i].name] == nil {
			t.Errorf("%s is not there", metricFamilies[i].name)
		}
	}
}

// TestMetricFamilies holds the names to Prometheus's conventions.
func TestMetricFamilies(t *testing.T) {
	names := map[string]bool{}
	for _, f := range metricFamilies {
		if !model.LegacyValidation.IsValidMetricName(f.name) || !strings.HasPrefix(f.name, "jkd_") || names[f.name] {
			t.Errorf("bad name %q", f.name)
		}
		names[f.name] = true
		if strings.HasSuffix(f.name, "_total") != (f.kind == counterKind) {
			t.Errorf("%s is a %s", f.name, f.kind)
		}
		for _, suffix := range []string{"_count", "_sum", "_bucket"} {
			if strings.HasSuffix(f.name, suffix) {
				t.Errorf("%s ends as a histogram's samples do", f.name)
			}
		}
		for _, l := range f.labels {
			if !model.LegacyValidation.IsValidLabelName(l) || l == "le" || l == "job" || l == "instance" {
				t.Errorf("%s has a bad label %q", f.name, l)
			}
		}
		if !strings.HasSuffix(f.help, ".") || strings.ContainsAny(f.help, "|\\\n") {
			t.Errorf("%s: bad help %q", f.name, f.help)
		}
	}
}

// TestMetricsHostile writes what no honest child would write.
func TestMetricsHostile(t *testing.T) {
	s := hostileStatus()
	s.Workers = append(s.Workers, s.Workers[1], s.Workers[1]) // the same labels again
	s.Balancers = append(s.Balancers, s.Balancers[0], Balancer{Name: hostileText, Members: []Member{{Name: hostileText, State: hostileText}}})
	for i := range s.Workers[1].Durations {
		s.Workers[1].Durations[i] = 1 << 40
	}
	s.Workers[1].Duration = -5
	f := parseMetrics(t, s)
	want := strings.ToValidUTF8(hostileText, "\ufffd")
	if got := value(sample(t, f, "jkd_cache_hits_total", "worker", want)); got != 390 {
		t.Errorf("the worker with a hostile name has %v hits", got)
	}
	sample(t, f, "jkd_member_info", "state", want)
	if got := sample(t, f, "jkd_request_duration_seconds", "worker", want).GetHistogram().GetSampleSum(); got != 0 {
		t.Errorf("requests took %v s", got)
	}
}

func TestMetricsEmpty(t *testing.T) {
	f := parseMetrics(t, &Status{})
	if got := value(sample(t, f, "jkd_start_time_seconds")); got != 0 {
		t.Errorf("started at %v", got)
	}
	if f["jkd_requests_total"] != nil {
		t.Errorf("requests without workers: %v", f["jkd_requests_total"])
	}
}

type failingWriter struct{}

var errNoRoom = errors.New("no room")

func (failingWriter) Write([]byte) (int, error) { return 0, errNoRoom }

func TestMetricsWriteError(t *testing.T) {
	if err := WriteMetrics(failingWriter{}, sampleStatus()); !errors.Is(err, errNoRoom) {
		t.Errorf("got %v", err)
	}
}

// TestMetricsDoc keeps docs/metrics.md in step: its table has a row for each
// family, in the same order and words.
func TestMetricsDoc(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/metrics.md")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs the source tree")
	}
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "| `jkd_") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	for _, f := range metricFamilies {
		var labels []string
		for _, l := range f.labels {
			labels = append(labels, "`"+l+"`")
		}
		want = append(want, "| `"+f.name+"` | "+string(f.kind)+" | "+strings.Join(labels, " ")+" | "+f.help+" |")
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table of docs/metrics.md should be:\n%s", strings.Join(want, "\n"))
	}
}

// FuzzMetrics: whatever the texts and numbers are, a scraper can read it.
func FuzzMetrics(f *testing.F) {
	f.Add("tomcat1", "jk", "ok", uint64(1), int64(2))
	f.Add(hostileText, `\"`, "a\nb", uint64(1<<63), int64(-1))
	f.Add("\x00", "# HELP", "}", uint64(math.MaxUint64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, a, b, c string, n uint64, d int64) {
		s := sampleStatus()
		s.Server.Version, s.Server.MPM = a, b
		s.Workers = append(s.Workers, Worker{Name: a, Connector: b}, Worker{Name: b, Connector: a}, Worker{Name: c, Connector: c})
		for i := range s.Workers {
			w := &s.Workers[i]
			w.Errors, w.Cache.Busy, w.Bytes = n, int(d), n
			w.Durations[d&7] = n >> 8
			w.Duration -= 1 + w.Duration
			w.Cache.Oldest = s.Server.Now.Add(-1 << 62)
		}
		s.Balancers = append(s.Balancers, Balancer{Name: b, Connector: c, Members: []Member{{Name: a, Address: b, State: c}, {Name: a}, {Name: c}}})
		s.Events.Deaths = []Death{{a, n}}
		parseMetrics(t, s)
	})
}

func BenchmarkMetrics(b *testing.B) {
	s := sampleStatus()
	for _, n := range []string{"2", "3", "4", "5", "6", "7", "8"} {
		w := s.Workers[1]
		w.Name = "tomcat" + n
		s.Workers = append(s.Workers, w)
	}
	b.ReportAllocs()
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		WriteMetrics(&buf, s)
	}
	b.SetBytes(int64(buf.Len()))
}
