package contender

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jkd/bench/internal/measure"
	"jkd/bench/internal/proc"
)

// startTimeout ends a start that hangs: a thousand children take their time.
const startTimeout = 5 * time.Minute

// Running is a contender that serves.
type Running struct {
	Name    string
	Front   *Front // nil for the container itself
	Port    int
	Process *proc.Process
	dir     string
}

// URL is that of a path.
func (r *Running) URL(path string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s", r.Port, path)
}

// ready waits until path is served and there are so many processes below the
// first one.
func (r *Running) ready(path string, processes int) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var last error
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		select {
		case <-r.Process.Done():
			return fmt.Errorf("contender: %s ended during its start: %s", r.Name, r.log())
		case <-time.After(50 * time.Millisecond):
		}
		if last = get(client, r.URL(path)); last != nil {
			continue
		}
		if n := len(measure.Leaves(r.Process.PID())); n < processes {
			last = fmt.Errorf("%d processes of %d", n, processes)
			continue
		}
		return nil
	}
	return fmt.Errorf("contender: %s not ready after %v: %w: %s", r.Name, startTimeout, last, r.log())
}

func get(c *http.Client, url string) error {
	a, err := c.Get(url)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	if a.StatusCode != 200 {
		return fmt.Errorf("status %s", a.Status)
	}
	_, err = io.Copy(io.Discard, a.Body)
	return err
}

// log is the end of what it has written anywhere.
func (r *Running) log() string {
	said := r.Process.Output()
	names, _ := filepath.Glob(filepath.Join(r.dir, "*.log"))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil {
			said += "\n" + string(text[max(0, len(text)-2000):])
		}
	}
	return strings.TrimSpace(said)
}

// Stop ends it.
func (r *Running) Stop() { r.Process.Stop() }
