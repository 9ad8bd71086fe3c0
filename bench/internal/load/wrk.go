package load

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jkd/bench/internal/proc"
)

// Wrk runs wrk with one thread.
type Wrk struct {
	Set         *proc.Set
	Dir         string // for its script
	URL         string
	Connections int
	Duration    time.Duration // rounded up to seconds
	Close       bool          // a connection for each request
	// Pause of each connection between two requests; 0 is none.
	Pause time.Duration
}

// The script says in one line what wrk's own report says in prose. Without a
// function for requests or answers wrk does not call Lua while it measures.
const wrkScript = `function done(s, l, r)
	local e = s.errors
	io.write(string.format('\nRESULT {"requests":%%d,"duration":%%d,"connect":%%d,"read":%%d,"write":%%d,"status":%%d,"timeout":%%d,"min":%%d,"mean":%%f,"stdev":%%f,"p50":%%d,"p99":%%d,"max":%%d}\n',
		s.requests, s.duration, e.connect, e.read, e.write, e.status, e.timeout,
		l.min, l.mean, l.stdev, l:percentile(50), l:percentile(99), l.max))
end
%s`

// Run returns what wrk has seen.
func (w Wrk) Run() (Result, error) {
	pause := ""
	if w.Pause > 0 {
		pause = fmt.Sprintf("function delay() return %d end\n", w.Pause.Milliseconds())
	}
	script := filepath.Join(w.Dir, fmt.Sprintf("wrk-%d.lua", w.Pause.Milliseconds()))
	if err := os.WriteFile(script, fmt.Appendf(nil, wrkScript, pause), 0o644); err != nil {
		return Result{}, fmt.Errorf("load: %w", err)
	}
	seconds := max(1, int((w.Duration+time.Second-1)/time.Second)) // wrk knows whole ones
	argv := []string{"wrk", "-t1", fmt.Sprintf("-c%d", w.Connections), fmt.Sprintf("-d%ds", seconds), "--timeout", "30s", "-s", script}
	if w.Close {
		argv = append(argv, "-H", "Connection: close")
	}
	out, err := w.Set.Run(time.Duration(seconds)*time.Second+time.Minute, w.Dir, append(argv, w.URL)...)
	if err != nil {
		return Result{}, err
	}
	return parseWrk(out)
}

// parseWrk reads the line of the script.
func parseWrk(out string) (Result, error) {
	_, line, ok := strings.Cut(out, "\nRESULT ")
	if !ok {
		return Result{}, fmt.Errorf("load: wrk said nothing of its result: %.300q", out)
	}
	line, _, _ = strings.Cut(line, "\n")
	var v struct {
		Requests, Duration                    int64
		Connect, Read, Write, Status, Timeout int64
		Min, P50, P99, Max                    int64
		Mean, Stdev                           float64
	}
	// Lua writes what it has no number for as nan.
	if err := json.Unmarshal([]byte(strings.NewReplacer("-nan", "0", "nan", "0").Replace(line)), &v); err != nil {
		return Result{}, fmt.Errorf("load: wrk: %w: %.300q", err, line)
	}
	us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	return Result{
		Requests: v.Requests - v.Status, Failed: v.Connect + v.Read + v.Write + v.Status + v.Timeout, Elapsed: us(v.Duration),
		Min: us(v.Min), Mean: us(int64(v.Mean)), SD: us(int64(v.Stdev)), P50: us(v.P50), P99: us(v.P99), Max: us(v.Max),
	}, nil
}
