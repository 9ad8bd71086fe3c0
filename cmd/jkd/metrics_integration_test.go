//go:build unix

package main_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// counterValues are all counters of a scrape, and the counts of its histograms,
// by name and labels.
func counterValues(t *testing.T, text io.Reader) map[string]float64 {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(text)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			key := name
			for _, l := range m.Label {
				key += " " + l.GetName() + "=" + l.GetValue()
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				values[key] = m.GetCounter().GetValue()
			case dto.MetricType_HISTOGRAM:
				h := m.GetHistogram()
				values[key+" sum"], values[key+" count"] = h.GetSampleSum(), float64(h.GetSampleCount())
				for _, b := range h.Bucket {
					values[key+" le="+model.SampleValue(b.GetUpperBound()).String()] = float64(b.GetCumulativeCount())
				}
			}
		}
	}
	return values
}

// Children are killed while they work and others are scraped: no counter of a
// scrape is below that of the one before it, and none goes.
func TestMetricsUnderKill(t *testing.T) {
	const (
		kills   = 8
		scrapes = 8 // after each
		clients = 4
	)
	eachMPM(t, func(t *testing.T, mpm string) {
		s, _ := statusServer(t, mpm)
		var answered, aborted atomic.Uint64 // as the clients see it
		var load sync.WaitGroup
		var stop atomic.Bool
		defer func() { // also when the test has failed
			stop.Store(true)
			load.Wait()
		}()
		for range clients {
			load.Go(func() {
				tr := new(http.Transport)
				defer tr.CloseIdleConnections()
				for c := (&http.Client{Transport: tr}); !stop.Load(); {
					r, err := c.Get(s.url("/page"))
					if err == nil {
						_, err = io.Copy(io.Discard, r.Body)
						r.Body.Close()
					}
					if err == nil && r.StatusCode == 200 {
						answered.Add(1)
					} else {
						aborted.Add(1)
					}
				}
			})
		}

		// Each scrape has a connection of its own, so that any child may answer
		// it; one whose child is killed is repeated.
		scraper := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		scrape := func() (values map[string]float64) {
			s.eventually("a scrape to be answered", func() bool {
				r, err := scraper.Get(s.url("/metrics"))
				if err != nil {
					return false
				}
				defer r.Body.Close()
				text, err := io.ReadAll(r.Body)
				if err != nil {
					return false
				}
				if r.StatusCode != 200 {
					t.Fatalf("%s\n%s", r.Status, text)
				}
				values = counterValues(t, bytes.NewReader(text))
				return true
			})
			return values
		}
		s.eventually("requests", func() bool { return answered.Load() > 100 })
		before := scrape()
		first := before
		compare := func() {
			now := scrape()
			for key, was := range before {
				if is, there := now[key]; !there || is < was {
					t.Errorf("%s: %v after %v", key, is, was)
				}
			}
			before = now
		}
		for range kills {
			var kids []int
			s.eventually("two children", func() bool { kids = s.children(); return len(kids) >= 2 })
			if err := syscall.Kill(kids[rand.IntN(len(kids))], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			for range scrapes {
				compare()
			}
		}
		stop.Store(true)
		load.Wait()

		const ok = "jkd_requests_total connector=jk worker=tomcat class=2xx"
		if first[ok] == 0 {
			t.Errorf("no %s in the first scrape: %v", ok, first)
		}
		// A child may be killed between an answer and its count, each of its
		// threads.
		s.eventually("all requests to be counted", func() bool {
			compare()
			return before[ok]+kills*clients >= float64(answered.Load())
		})
		// A client repeats by itself what ended without an answer.
		if all := answered.Load() + aborted.Load() + kills*clients; before[ok] > float64(all) {
			t.Errorf("%v requests are counted, clients made at most %d", before[ok], all)
		}
		s.eventually("all deaths to be counted", func() bool {
			compare()
			return before["jkd_child_deaths_total reason=killed"] == kills
		})
		if n := before["jkd_child_starts_total"]; n < 2+kills-1 {
			t.Errorf("%v children were started", n)
		}
		t.Logf("%d requests answered, %d not, %d kills", answered.Load(), aborted.Load(), kills)
	})
}
