package scenario

import (
	"errors"
	"strings"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/load"
)

// container starts a Tomcat, the scenario's fronts before it, and warms all up:
// a Java machine compiles what it has run often enough. The first one that runs
// is the container itself.
func (b *Bench) container(paths ...string) (running []*contender.Running, t *contender.Tomcat, stop func(), err error) {
	if missing := contender.Missing(contender.TomcatNeeds); len(missing) > 0 {
		b.note("left out: no %s", strings.Join(missing, ", "))
		return nil, nil, nil, errNoTomcat
	}
	if t, err = contender.StartTomcat(b.Set, b.Dir); err != nil {
		return nil, nil, nil, err
	}
	fronts, stopFronts, err := b.start(b.fronts(), contender.Values{Shape: contender.DefaultShape, AJPPort: t.AJPPort, HTTPPort: t.Port})
	if err != nil {
		t.Stop()
		return nil, nil, nil, err
	}
	stop = func() { stopFronts(); t.Stop() }
	running = append([]*contender.Running{t.Running}, fronts...)
	for range b.few(10, 1) {
		for _, path := range paths {
			if err := b.warm(running, path, 20); err != nil {
				stop()
				return nil, nil, nil, err
			}
		}
	}
	return running, t, stop, nil
}

var errNoTomcat = errors.New("no Tomcat")

var tomcat = Scenario{
	Name: "tomcat", About: "a real Tomcat 10: HelloWorldExample (387 bytes), a JSP and a JSP of 113,698 bytes, 50 connections, keep-alive",
	contenders: append([]string{"jkd-worker-ajp", "jkd-worker-http"}, usual...),
	run: func(b *Bench) error {
		pages := []struct{ name, path string }{{"Hello", contender.Hello}, {"JSP", contender.JSP}, {"113 KB", contender.Page}}
		running, t, stop, err := b.container(contender.Hello, contender.JSP, contender.Page)
		if errors.Is(err, errNoTomcat) {
			return nil
		}
		if err != nil {
			return err
		}
		defer stop()
		for _, p := range pages {
			if err := b.rounds(p.name, running, []int{t.Process.PID()}, func(r *contender.Running) (load.Result, error) {
				return b.wrk(r, p.path, 50).Run()
			}); err != nil {
				return err
			}
		}
		return nil
	},
}
