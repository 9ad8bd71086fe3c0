package scenario

import (
	"fmt"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
)

var hello = Scenario{
	Name: "hello", About: "387 bytes, 20 connections, keep-alive", contenders: everyone,
	run: func(b *Bench) error { return b.steady("c=20", contender.Hello, 20, false) },
}

var page = Scenario{
	Name: "page", About: "113 KB, 50 connections, keep-alive", contenders: everyone,
	run: func(b *Bench) error { return b.steady("c=50", contender.Page, 50, false) },
}

var connect = Scenario{
	Name: "connect", About: "387 bytes, 50 at once, a connection for each request", contenders: everyone,
	run: func(b *Bench) error { return b.steady("c=50", contender.Hello, 50, true) },
}

// steady measures one page under one load.
func (b *Bench) steady(name, path string, connections int, close bool) error {
	running, back, stop, err := b.trivial(contender.For(connections))
	if err != nil {
		return err
	}
	defer stop()
	if err := b.warm(running, path, connections); err != nil {
		return err
	}
	return b.rounds(name, running, back.PIDs(), func(r *contender.Running) (load.Result, error) {
		w := b.wrk(r, path, connections)
		w.Close = close
		return w.Run()
	})
}

var concurrency = Scenario{
	Name: "concurrency", About: "387 bytes, keep-alive, from 1 to 1000 connections; as many children or threads as there are connections", contenders: usual,
	run: func(b *Bench) error {
		for _, c := range []int{1, 20, 100, 400, 1000} {
			if b.Quick && c > 20 {
				break
			}
			if err := b.steady(fmt.Sprintf("c=%d", c), contender.Hello, c, false); err != nil {
				return err
			}
		}
		return nil
	},
}

var delay = Scenario{
	Name: "delay", About: "a back end that takes 10 ms and 100 ms for each answer, 50 connections", contenders: usual,
	run: func(b *Bench) error {
		running, back, stop, err := b.trivial(contender.DefaultShape)
		if err != nil {
			return err
		}
		defer stop()
		for _, ms := range []int{10, 100} {
			path := fmt.Sprintf("/slow?ms=%d", ms)
			if err := b.rounds(fmt.Sprintf("%d ms", ms), running, back.PIDs(), func(r *contender.Running) (load.Result, error) {
				return b.wrk(r, path, 50).Run()
			}); err != nil {
				return err
			}
		}
		return nil
	},
}
