package scenario

import (
	"fmt"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
	"jkd/bench/internal/measure"
	"jkd/bench/internal/result"
)

var children = Scenario{
	Name: "children", About: "387 bytes, a connection for each request, prefork with 8, 64 and 256 children: with all idle but one, and 8 at once",
	contenders: []string{"jkd-prefork-jk", "apache-prefork-jk"},
	run: func(b *Bench) error {
		for _, n := range []int{8, 64, 256} {
			if b.Quick && n > 8 {
				break
			}
			running, back, stop, err := b.trivial(contender.Shape{Workers: n, ThreadsPerChild: 1})
			if err != nil {
				return err
			}
			err = b.warm(running, contender.Hello, 8)
			for _, c := range []int{1, 8} {
				if err == nil {
					err = b.rounds(fmt.Sprintf("%d children, c=%d", n, c), running, back.PIDs(), func(r *contender.Running) (load.Result, error) {
						w := b.wrk(r, contender.Hello, c)
						w.Close = true
						return w.Run()
					})
				}
			}
			stop()
			if err != nil {
				return err
			}
		}
		return nil
	},
}

var memory = Scenario{
	Name: "memory", About: "proportional set size when idle, just started and after each child could serve: 64 prefork children, 400 threads",
	contenders: []string{"jkd-prefork-jk", "jkd-worker-jk", "jkd-prefork-jk2", "jkd-worker-jk2", "apache-prefork-jk", "apache-worker-jk", "apache-event-jk", "nginx", "haproxy"},
	run: func(b *Bench) error {
		back, err := contender.StartResponders(b.Set, b.Dir, b.JKD)
		if err != nil {
			return err
		}
		defer back.Stop()
		for _, f := range b.fronts() {
			shape, name := contender.Shape{Workers: b.few(400, 50), ThreadsPerChild: 25}, "threads"
			if f.MPM == "prefork" {
				shape, name = contender.Shape{Workers: b.few(64, 8)}, "children"
			}
			name = fmt.Sprintf("%d %s", shape.Workers, name)
			if f.MPM == "" {
				name = "neither"
			}
			// One round: memory hardly varies.
			running, stop, err := b.start([]*contender.Front{f}, contender.Values{Shape: shape, AJPPort: back.AJPPort, HTTPPort: back.HTTPPort})
			if err != nil {
				stop()
				continue
			}
			r := running[0]
			v := footprint(r)
			_, err = b.wrk(r, contender.Hello, shape.Workers).Run()
			after := footprint(r)
			stop()
			if err != nil {
				return err
			}
			v[result.UsedChild] = after[result.PerChild]
			b.out.Add(name, f.Name, 0, v)
			b.Log("  %s: %.1f MB", f.Name, v[result.Memory])
		}
		return nil
	},
}

// footprint is the memory of a contender now.
func footprint(r *contender.Running) map[string]float64 {
	leaves := measure.Leaves(r.Process.PID())
	return map[string]float64{
		result.Memory:    float64(measure.PSS(measure.Tree(r.Process.PID())...)) / 1e6,
		result.PerChild:  float64(measure.PSS(leaves...)) / 1e6 / float64(max(1, len(leaves))),
		result.Processes: float64(len(measure.Tree(r.Process.PID()))),
	}
}
