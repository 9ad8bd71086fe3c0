package scenario

import (
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/result"
)

// A hundred a second: four connections that ask every 40 ms.
const (
	scrapers    = 4
	scrapePause = 40 * time.Millisecond
)

var scrape = Scenario{
	Name: "scrape", About: "387 bytes, 20 connections, keep-alive, while jkd is asked for its state 100 times a second",
	contenders: []string{"jkd-prefork-jk", "jkd-worker-jk"},
	run: func(b *Bench) error {
		back, err := contender.StartResponders(b.Set, b.Dir, b.JKD)
		if err != nil {
			return err
		}
		defer back.Stop()
		running, stop, err := b.start(b.fronts(), contender.Values{Shape: contender.DefaultShape, AJPPort: back.AJPPort, HTTPPort: back.HTTPPort, Status: true})
		if err != nil {
			return err
		}
		defer stop()
		for round := range b.Rounds {
			for _, form := range []string{"", "/metrics", "/jkd-status?auto"} {
				for _, r := range running {
					if err := b.scraped(r, back.PIDs(), form, round); err != nil {
						return err
					}
				}
			}
			b.Log("  round %d of %d", round+1, b.Rounds)
		}
		return nil
	},
}

// scraped is one load while form is asked for; an empty form asks nothing.
func (b *Bench) scraped(r *contender.Running, back []int, form string, round int) error {
	name := "not asked"
	var scrapes load.Result
	done := make(chan error, 1)
	if form == "" {
		done <- nil
	} else {
		name = form
		w := b.wrk(r, form, scrapers)
		w.Pause = scrapePause
		go func() {
			var err error
			scrapes, err = w.Run()
			done <- err
		}()
	}
	values, err := b.measured(r, back, b.wrk(r, contender.Hello, 20).Run)
	if serr := <-done; err == nil {
		err = serr
	}
	if err != nil {
		return err
	}
	values[result.Failed] += float64(scrapes.Failed)
	if form != "" {
		values[result.Scrapes] = scrapes.Rate()
	}
	b.out.Add(name, r.Name, round, values)
	return nil
}
