package contender

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"jkd/bench/internal/proc"
)

// Pages that all back ends have.
const (
	Hello = "/examples/servlets/servlet/HelloWorldExample"
	Page  = "/test/test.jsp"
)

// Responders are the two trivial back ends, AJP and HTTP, each a process.
type Responders struct {
	AJPPort, HTTPPort int
	set               *proc.Set
	dir, jkd          string
	ajp, http         *proc.Process
}

// StartResponders starts both. jkd is the path of that program: its
// demonstration container speaks AJP. The other one is this program itself, see
// [HTTPBack].
func StartResponders(set *proc.Set, dir, jkd string) (*Responders, error) {
	b := &Responders{set: set, jkd: jkd}
	var err error
	if b.dir, err = newDir(dir, "responders"); err != nil {
		return nil, err
	}
	for _, port := range []*int{&b.AJPPort, &b.HTTPPort} {
		if *port, err = proc.FreePort(); err != nil {
			return nil, err
		}
	}
	return b, b.start()
}

// HTTPBack is the first argument that makes this program the HTTP responder;
// the second one is its address.
const HTTPBack = "httpback"

func (b *Responders) start() (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("contender: %w", err)
	}
	ajp, http := address(b.AJPPort), address(b.HTTPPort)
	if b.ajp, err = b.set.Start("AJP responder", b.dir, b.jkd, "demo-container", "-listen", ajp); err != nil {
		return err
	}
	if b.http, err = b.set.Start("HTTP responder", b.dir, self, HTTPBack, http); err != nil {
		b.ajp.Stop()
		return err
	}
	if err = listening(b.ajp, ajp); err == nil {
		err = listening(b.http, http)
	}
	if err != nil {
		b.Stop()
	}
	return err
}

// Restart kills both, waits, and starts them again.
func (b *Responders) Restart(down time.Duration) error {
	b.ajp.Kill()
	b.http.Kill()
	time.Sleep(down)
	return b.start()
}

// Stop ends both.
func (b *Responders) Stop() {
	b.ajp.Stop()
	b.http.Stop()
}

// PIDs are the ids of both processes.
func (b *Responders) PIDs() []int { return []int{b.ajp.PID(), b.http.PID()} }

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// listening waits until p accepts connections there.
func listening(p *proc.Process, address string) error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return c.Close()
		}
		select {
		case <-p.Done():
			return fmt.Errorf("contender: %s ended during its start: %s", p.Name, p.Output())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("contender: %s does not listen on %s after %v", p.Name, address, startTimeout)
}
