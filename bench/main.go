// Command bench measures jkd beside what else an AJP user could put before a
// Tomcat: see README.md.
//
//	go run ./bench -jkd ./jkd
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"jkd/bench/internal/contender"
	"jkd/bench/internal/httpback"
	"jkd/bench/internal/proc"
	"jkd/bench/internal/report"
	"jkd/bench/internal/result"
	"jkd/bench/internal/scenario"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == contender.HTTPBack {
		os.Exit(failed(serveHTTP(os.Args[2])))
	}
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	os.Exit(failed(run(o)))
}

// failed is the exit status.
func failed(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func serveHTTP(address string) error {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return httpback.Serve(ln)
}

// options are those of the command line.
type options struct {
	jkd, out   string
	scenarios  []scenario.Scenario
	contenders []string
	rounds     int
	load       time.Duration
	quick      bool
	keep       bool
}

// none stands for no scenario.
const none = "none"

func parse(args []string, stderr io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.jkd, "jkd", "jkd", "the `program` under test")
	fs.StringVar(&o.out, "out", "build/bench", "`directory` of RESULTS.md, results.json and plots; what earlier runs measured of other scenarios stays in them")
	only := fs.String("only", "", "scenarios, `names` with commas between them; "+none+": write the report of earlier runs anew; empty: all of\n"+scenarioNames())
	contenders := fs.String("contenders", "", "contenders, `names` or beginnings of names up to a hyphen, with commas; empty: those of each scenario; all are\n"+contenderNames())
	fs.IntVar(&o.rounds, "rounds", 5, "rounds of each contender")
	seconds := fs.Int("seconds", 2, "seconds of load a round")
	fs.BoolVar(&o.quick, "quick", false, "one round of one second, and little of everything: does it work?")
	fs.BoolVar(&o.keep, "keep", false, "keep the temporary directory, with configurations and logs")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.load = time.Duration(*seconds) * time.Second; o.quick {
		o.rounds, o.load = 1, time.Second
	}
	if fs.NArg() > 0 || o.rounds < 1 || o.rounds > 100 || o.load < time.Second || o.load > time.Minute {
		return o, fmt.Errorf("at most 100 rounds of at most 60 seconds, at least one of each, and no further arguments")
	}
	o.contenders = split(*contenders)
	if _, unknown := contender.Select(o.contenders); len(unknown) > 0 {
		return o, fmt.Errorf("no contender %s; there are\n%s", strings.Join(unknown, ", "), contenderNames())
	}
	o.scenarios = scenario.All()
	if *only == none {
		o.scenarios = nil
	} else if names := split(*only); len(names) > 0 {
		o.scenarios = slices.DeleteFunc(o.scenarios, func(s scenario.Scenario) bool { return !slices.Contains(names, s.Name) })
		if len(o.scenarios) != len(names) {
			return o, fmt.Errorf("-only %s: unknown scenario; there are\n%s", *only, scenarioNames())
		}
	}
	return o, nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func scenarioNames() string {
	var b strings.Builder
	for _, s := range scenario.All() {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name, s.About)
	}
	return b.String()
}

func contenderNames() string {
	var names []string
	for _, f := range contender.All() {
		names = append(names, f.Name)
	}
	return "  " + strings.Join(names, " ")
}

// needs are what all scenarios need, beside what contenders do.
var needs = []contender.File{{Path: "/usr/bin/wrk", Package: "wrk"}, {Path: "/usr/bin/strace", Package: "strace"}}

// missing are the Debian packages without which something is left out.
func missing() (packages []string) {
	files := append(slices.Clone(needs), contender.TomcatNeeds...)
	for _, f := range contender.All() {
		files = append(files, f.Needs...)
	}
	return contender.Missing(files)
}

func run(o options) (err error) {
	if runtime.GOOS != "linux" {
		return errors.New("needs Linux: it reads /proc")
	}
	if packages := missing(); len(packages) > 0 {
		fmt.Printf("what needs them is left out: apt-get install %s\n", strings.Join(packages, " "))
		if slices.Contains(packages, "wrk") {
			return errors.New("nothing is measured without wrk")
		}
	}
	dir, err := os.MkdirTemp("", "jkd-bench-")
	if err != nil {
		return err
	}
	var set proc.Set
	defer func() {
		set.StopAll()
		if o.keep {
			fmt.Println("kept:", dir)
		} else {
			os.RemoveAll(dir)
		}
	}()
	stopping := make(chan os.Signal, 1)
	signal.Notify(stopping, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(stopping)
	interrupted := make(chan struct{})
	go func() { // ends with the process
		<-stopping
		close(interrupted)
		fmt.Fprintln(os.Stderr, "bench: interrupted: stopping what was started")
		set.StopAll() // what runs fails then
	}()

	jkd, err := prepare(dir, o.jkd)
	if err != nil {
		return err
	}
	plots := filepath.Join(o.out, "plots")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	file := filepath.Join(o.out, "results.json")
	results, err := result.Read(file)
	if err != nil {
		return err
	}
	if len(o.scenarios) > 0 {
		results.Machine = report.Machine(jkd)
	}
	so := scenario.Options{
		Set: &set, Dir: dir, Plots: plots, JKD: jkd, Version: report.Version(jkd), Contenders: o.contenders, Rounds: o.rounds, Load: o.load, Quick: o.quick,
		Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
	}
	begin := time.Now()
	var faults []error
	for _, s := range o.scenarios {
		so.Log("%s: %s", s.Name, s.About)
		busy := report.LoadAverage()
		section, err := s.Run(so)
		section.Busy = busy
		select {
		case <-interrupted:
			return errors.New("interrupted")
		default:
		}
		if err != nil {
			faults = append(faults, err)
			section.Notes = append(section.Notes, "not complete: "+err.Error())
			so.Log("  %v", err)
		}
		results.Put(section, names(scenario.All()))
		if err := results.Write(file); err != nil {
			return err
		}
		so.Log("  after %v", time.Since(begin).Round(time.Second))
	}
	if err := report.Figures(&results, plots); err != nil {
		return err
	}
	if err := results.Write(file); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "RESULTS.md"), []byte(report.Markdown(results, "plots")), 0o644); err != nil {
		return err
	}
	fmt.Println("results:", filepath.Join(o.out, "RESULTS.md"))
	return errors.Join(faults...)
}

func names(all []scenario.Scenario) (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// prepare copies the program to where a child that has given up its rights may
// execute it, wherever the source tree is.
func prepare(dir, program string) (string, error) {
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return "", fmt.Errorf("no program under test: make first, or name it with -jkd: %w", err)
	}
	copied := filepath.Join(dir, "jkd")
	return copied, os.WriteFile(copied, text, 0o755)
}
