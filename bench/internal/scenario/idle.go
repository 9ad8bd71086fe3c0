package scenario

import (
	"fmt"
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/result"
)

// What a client waits for the answer on a connection that is then to lie idle:
// a server whose workers are all taken by idle connections has more of them
// wait.
const idlePatience = 2 * time.Second

var idle = Scenario{
	Name: "idle", About: "387 bytes, 20 connections, keep-alive, while 1000 other connections lie idle between requests; 75 threads",
	contenders: []string{"jkd-worker-jk", "jkd-worker-http", "apache-worker-jk", "apache-event-jk", "apache-event-http", "nginx", "haproxy"},
	run: func(b *Bench) error {
		running, back, stop, err := b.trivial(contender.DefaultShape)
		if err != nil {
			return err
		}
		defer stop()
		if err := b.warm(running, contender.Hello, 20); err != nil {
			return err
		}
		n := b.few(1000, 20)
		for round := range b.Rounds {
			for _, r := range running {
				for _, held := range []int{0, n} {
					h, err := load.Hold(r.URL(contender.Hello), held, idlePatience)
					if err != nil {
						return err
					}
					values, err := b.measured(r, back.PIDs(), b.wrk(r, contender.Hello, 20).Run)
					h.Close()
					if err != nil {
						return err
					}
					name := "no idle connections"
					if held > 0 {
						name = fmt.Sprintf("%d idle connections", held)
						values[result.Served] = float64(h.Served)
					}
					b.out.Add(name, r.Name, round, values)
				}
			}
			b.Log("  round %d of %d", round+1, b.Rounds)
		}
		return nil
	},
}
