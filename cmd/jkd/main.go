//go:build unix

// Command jkd is a multi-process HTTP server in front of servlet containers.
// See jkd.conf for its directives and README.md for an introduction.
package main

import (
	"os"

	"jkd/cmd/jkd/internal/child"
	"jkd/cmd/jkd/internal/demo"
	"jkd/cmd/jkd/internal/master"
	"jkd/mpm"
)

// version is set by the linker.
var version = "development"

func main() { os.Exit(run(os.Args[1:])) }

// run plays the role that this process was started for.
func run(args []string) int {
	if mpm.IsChild() {
		return int(child.Run(child.Options{Build: buildChild, Logger: newLogger(os.Stderr, false)}))
	}
	if len(args) > 0 && args[0] == demoContainer {
		return demo.Main(args[1:])
	}
	f, status, ok := parseFlags(args, os.Stdout, os.Stderr)
	if !ok {
		return status
	}
	switch {
	case f.shm != "":
		return dumpShm(f.shm, os.Stdout, os.Stderr)
	case f.ask != "":
		return runAsk(f, os.Stdout, os.Stderr)
	case f.top:
		return runTop(f, os.Stderr)
	case f.demo:
		return runDemo(f)
	case f.test:
		return testConfig(f, os.Stderr)
	case f.dump:
		return dumpConfig(f, os.Stdout, os.Stderr)
	case master.IsSuccessor():
		return runMaster(f)
	case f.foreground:
		return runForeground(f)
	}
	return detach(f)
}
