//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"jkd/cmd/jkd/internal/top"
	"jkd/conf"
)

// flags is the command line.
type flags struct {
	config     string // -f
	mpm        string // -mpm; empty: as the file says
	test       bool   // -t
	dump       bool   // -dump
	foreground bool   // -foreground
	demo       bool   // -demo
	shm        string // -shm; empty: not asked for

	ask  string        // -k; empty: not asked for
	wait time.Duration // -wait, of -k

	top      bool          // -top
	interval time.Duration // -interval, of -top
	frames   int           // -n, of -top
}

// server is the command line of a server alone, which may have been asked for
// with -k.
func (f flags) server() []string {
	args := []string{"-f", f.config}
	if f.mpm != "" {
		args = append(args, "-mpm", f.mpm)
	}
	return args
}

const usageText = `usage: jkd [-f file] [-mpm prefork|worker] [-foreground] [-t]
       jkd -dump [-f file] [-mpm prefork|worker]
       jkd -demo [-mpm prefork|worker]
       jkd -k status|graceful|restart|stop|graceful-stop [-wait time] [-f file]
       jkd -top [-interval time] [-n count] [-f file]
       jkd -shm file
       jkd -V

`

// defaultConfig is where the configuration is looked for without -f.
func defaultConfig() string {
	if runtime.GOOS == "linux" {
		return "/etc/jkd/jkd.conf"
	}
	return "/usr/local/etc/jkd/jkd.conf"
}

// parseFlags reads the command line. ok is false when there is nothing more to
// do; status is then the exit status.
func parseFlags(args []string, stdout, stderr io.Writer) (f flags, status int, ok bool) {
	fs := flag.NewFlagSet("jkd", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprint(fs.Output(), usageText)
		fs.PrintDefaults()
	}
	fs.StringVar(&f.config, "f", defaultConfig(), "configuration `file`")
	fs.StringVar(&f.mpm, "mpm", "", "multi-processing `module`, prefork or worker; overrides MPM in the file")
	fs.BoolVar(&f.test, "t", false, "check the configuration, say what is wrong or odd with it, and exit")
	fs.BoolVar(&f.dump, "dump", false, "print the configuration as jkd.conf and exit; -f may be an httpd.conf")
	fs.BoolVar(&f.foreground, "foreground", false, "stay attached to the terminal")
	fs.BoolVar(&f.demo, "demo", false, "run on an unprivileged port with a small container of its own")
	fs.StringVar(&f.shm, "shm", "", "print a jk2.shm `file` as tables and exit")
	fs.StringVar(&f.ask, "k", "", "ask the running server for its `status`, or tell it to reload (graceful, restart) or to stop (stop, graceful-stop)")
	fs.DurationVar(&f.wait, "wait", 0, "how long -k waits for the `end` of the server (1m) or its reload (3m)")
	fs.BoolVar(&f.top, "top", false, "watch the running server")
	fs.DurationVar(&f.interval, "interval", top.DefaultInterval, "how long -top waits between two `looks`")
	fs.IntVar(&f.frames, "n", 0, "end -top after `count` looks; 0: on a terminal never, else after one")
	var v, vv bool
	fs.BoolVar(&v, "V", false, "print the version and exit")
	fs.BoolVar(&vv, "version", false, "print the version and exit")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return f, 0, false
	case err != nil:
		return f, 2, false
	}
	if v || vv {
		fmt.Fprintf(stdout, "jkd %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return f, 0, false
	}
	if f.wait == 0 {
		f.wait = stopWait
		if f.ask == askReload || f.ask == askRestart {
			f.wait = reloadWait
		}
	}
	switch {
	case fs.NArg() > 0:
		fmt.Fprintf(stderr, "jkd: unexpected argument %q\n", fs.Arg(0))
	case f.mpm != "" && f.mpm != conf.Prefork && f.mpm != conf.Worker:
		fmt.Fprintf(stderr, "jkd: -mpm %s: it is %s or %s%s\n", f.mpm, conf.Prefork, conf.Worker, conf.DidYouMean(f.mpm, []string{conf.Prefork, conf.Worker}))
	case f.ask != "" && !slices.Contains(asks, f.ask):
		fmt.Fprintf(stderr, "jkd: -k %s: it is %s%s\n", f.ask, strings.Join(asks, ", "), conf.DidYouMean(f.ask, asks))
	case f.wait <= 0:
		fmt.Fprintf(stderr, "jkd: -wait %s: it must be more than nothing\n", f.wait)
	case f.interval < 100*time.Millisecond:
		fmt.Fprintf(stderr, "jkd: -interval %s: at least 100ms\n", f.interval)
	case f.frames < 0:
		fmt.Fprintf(stderr, "jkd: -n %d: it is 0 or more\n", f.frames)
	case f.ask != "" && f.top:
		fmt.Fprintln(stderr, "jkd: -k or -top, not both")
	case f.dump && (f.ask != "" || f.top || f.test || f.demo):
		fmt.Fprintln(stderr, "jkd: -dump is a command of its own: not with -k, -top, -t or -demo")
	case (f.ask != "" || f.top) && (f.test || f.demo):
		fmt.Fprintln(stderr, "jkd: -k and -top are about a server that runs already: not with -t or -demo")
	case f.demo && f.test:
		fmt.Fprintln(stderr, "jkd: -demo has no configuration file to check")
	default:
		return f, 0, true
	}
	return f, 2, false
}
