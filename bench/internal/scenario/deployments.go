package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/plot"
	"jkd/bench/internal/result"
)

var deployment2003 = Scenario{
	Name:       "2003",
	About:      "the measurement of the deployment of 2003: 1000 requests to a real Tomcat, a connection for each, 5, 10, 15 and 20 at once; garbage collected before",
	contenders: []string{"jkd-prefork-jk", "jkd-prefork-jk2", "jkd-worker-jk", "jkd-worker-jk2", "apache-prefork-jk", "apache-worker-jk", "nginx", "haproxy"},
	run: func(b *Bench) error {
		return b.deployment(deployment{
			pages:    []pageOf{{"Hello", contender.Hello}, {"JSP", contender.JSP}},
			at:       []int{5, 10, 15, 20},
			requests: b.few(1000, 40),
		})
	},
}

var deployment2009 = Scenario{
	Name:       "2009",
	About:      "the measurement of the deployment of 2009: 10000 requests for a JSP of 113,698 bytes from a real Tomcat, keep-alive, 50 at once",
	contenders: []string{"jkd-prefork-jk", "jkd-worker-jk", "jkd-worker-ajp", "jkd-worker-http", "apache-worker-jk", "apache-event-ajp", "apache-event-http", "nginx", "haproxy"},
	run: func(b *Bench) error {
		return b.deployment(deployment{
			pages:     []pageOf{{"113 KB", contender.Page}},
			at:        []int{50},
			requests:  b.few(10000, 200),
			keepAlive: true,
		})
	},
}

type pageOf struct{ name, path string }

// deployment is a load of so many requests at each concurrency.
type deployment struct {
	pages     []pageOf
	at        []int
	requests  int
	keepAlive bool
}

func (b *Bench) deployment(d deployment) error {
	var paths []string
	for _, p := range d.pages {
		paths = append(paths, p.path)
	}
	running, t, stop, err := b.container(paths...)
	if errors.Is(err, errNoTomcat) {
		return nil
	}
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range d.pages {
		figure := plot.Scatter{Title: fmt.Sprintf("%s: request time over start time", p.name)}
		for _, c := range d.at {
			name := fmt.Sprintf("%s, c=%d", p.name, c)
			panel := plot.Panel{Title: fmt.Sprintf("c=%d", c)}
			for round := range b.Rounds {
				for _, r := range running {
					t.Collect()
					var records []load.Record
					var res load.Result
					values, err := b.measured(r, []int{t.Process.PID()}, func() (load.Result, error) {
						got, elapsed, err := load.Client{URL: r.URL(p.path), Connections: c, Requests: d.requests, KeepAlive: d.keepAlive}.Run()
						records, res = got, load.Summarize(got, elapsed)
						return res, err
					})
					if err != nil {
						return fmt.Errorf("%s, %s: %w", name, r.Name, err)
					}
					values[result.Min], values[result.SD] = ms(res.Min), ms(res.SD)
					b.out.Add(name, r.Name, round, values)
					if round == b.Rounds-1 {
						panel.Series = append(panel.Series, series(r.Name, records))
					}
				}
			}
			figure.Panels = append(figure.Panels, panel)
			b.Log("  %s done", name)
		}
		file := fmt.Sprintf("scatter-%s-%s", b.scenario.Name, strings.ToLower(strings.ReplaceAll(p.name, " ", "")))
		if err := figure.Save(filepath.Join(b.Plots, file)); err != nil {
			return err
		}
		b.out.Plots = append(b.out.Plots, file)
	}
	return nil
}

// series are the points of one contender.
func series(name string, records []load.Record) plot.Series {
	s := plot.Series{Name: name}
	for _, q := range records {
		if q.OK {
			s.X, s.Y = append(s.X, q.Start.Seconds()), append(s.Y, ms(q.Took))
		}
	}
	return s
}
