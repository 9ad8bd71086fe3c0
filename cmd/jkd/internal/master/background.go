//go:build unix

package master

import "time"

// backgroundPatience is how long the end waits for Options.Background.
const backgroundPatience = 2 * time.Second

// background are running goroutines of Options.Background.
type background struct {
	stopC chan struct{}
	endC  chan struct{} // one value from each that has returned
	n     int
}

// startBackground starts all of them.
func startBackground(funcs []func(stop <-chan struct{})) *background {
	b := &background{stopC: make(chan struct{}), endC: make(chan struct{}, len(funcs)), n: len(funcs)}
	for _, f := range funcs {
		go func() {
			defer func() { b.endC <- struct{}{} }()
			f(b.stopC)
		}()
	}
	return b
}

// stop tells them to end, waits for that as long as patience lasts, and returns
// how many are left. It may be called once.
func (b *background) stop(patience time.Duration) (left int) {
	close(b.stopC)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for left = b.n; left > 0; left-- {
		select {
		case <-b.endC:
		case <-timer.C:
			return left
		}
	}
	return 0
}
