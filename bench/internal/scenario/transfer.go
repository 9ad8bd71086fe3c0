package scenario

import (
	"fmt"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/measure"
	"jkd/bench/internal/result"
)

var transfer = Scenario{
	Name: "transfer", About: "one download and one upload of 100 MB at a time",
	contenders: append([]string{"jkd-worker-ajp", "jkd-worker-http", "apache-event-ajp", "apache-event-http"}, usual...),
	run: func(b *Bench) error {
		running, _, stop, err := b.trivial(contender.DefaultShape)
		if err != nil {
			return err
		}
		defer stop()
		size := b.few(100_000_000, 1_000_000)
		for _, way := range []struct {
			name, path string
			upload     int64
		}{
			{"download", fmt.Sprintf("/download?size=%d", size), 0},
			{"upload", "/upload", int64(size)},
		} {
			for round := range b.Rounds {
				for _, r := range running {
					before := measure.Of(r.Process.PID())
					records, elapsed, err := load.Client{URL: r.URL(way.path), Connections: 1, Requests: 1, Upload: way.upload}.Run()
					if err != nil {
						return err
					}
					used, mb := measure.Of(r.Process.PID()).Sub(before), float64(size)/1e6
					b.out.Add(way.name, r.Name, round, map[string]float64{
						result.Speed: mb / elapsed.Seconds(), result.CPUPerMB: us(used.CPU) / mb,
						result.Failed: float64(load.Summarize(records, elapsed).Failed),
						result.Memory: float64(measure.PSS(measure.Tree(r.Process.PID())...)) / 1e6,
					})
				}
			}
			b.Log("  %s done", way.name)
		}
		return nil
	},
}
