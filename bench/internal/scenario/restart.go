package scenario

import (
	"fmt"
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/result"
)

var restart = Scenario{
	Name: "restart", About: "387 bytes at 500 requests/s on 20 connections; the back end is killed after 1 s and is back 0.5 s later", contenders: usual,
	run: func(b *Bench) error {
		running, back, stop, err := b.trivial(contender.DefaultShape)
		if err != nil {
			return err
		}
		defer stop()
		const rate, before, down = 500, time.Second, 500 * time.Millisecond
		seconds := b.few(4, 2)
		for round := range b.Rounds {
			for _, r := range running {
				done := make(chan error, 1)
				go func() {
					time.Sleep(before)
					done <- back.Restart(down)
				}()
				records, elapsed, err := load.Client{URL: r.URL(contender.Hello), Connections: 20, Requests: rate * seconds, KeepAlive: true, Rate: rate}.Run()
				if rerr := <-done; rerr != nil {
					return rerr
				}
				if err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
				res := load.Summarize(records, elapsed)
				b.out.Add(fmt.Sprintf("%d requests", rate*seconds), r.Name, round, map[string]float64{
					result.Failed: float64(res.Failed), result.P50: ms(res.P50), result.P99: ms(res.P99), result.Max: ms(res.Max),
					result.Outage: ms(outage(records)),
				})
			}
			b.Log("  round %d of %d", round+1, b.Rounds)
		}
		return nil
	},
}

// outage is the longest time from the begin of a failed request to that of the
// next one that succeeded. Records are in the order of their begin.
func outage(records []load.Record) (longest time.Duration) {
	var since time.Duration = -1
	for _, q := range records {
		switch {
		case !q.OK && since < 0:
			since = q.Start
		case q.OK && since >= 0:
			longest = max(longest, q.Start-since)
			since = -1
		}
	}
	if since >= 0 {
		longest = max(longest, records[len(records)-1].Start-since)
	}
	return longest
}
