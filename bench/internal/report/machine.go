package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Machine is the facts of this machine that results depend on, and the versions
// of what is measured, a line each. jkd is the program's path.
func Machine(jkd string) (facts []string) {
	read := func(name string) string {
		text, _ := os.ReadFile(name)
		return string(text)
	}
	facts = append(facts,
		fmt.Sprintf("%d CPUs: %s", runtime.NumCPU(), after(read("/proc/cpuinfo"), "model name")),
		"memory: "+after(read("/proc/meminfo"), "MemTotal"),
		fmt.Sprintf("%s %s, %s", runtime.GOOS, strings.TrimSpace(read("/proc/sys/kernel/osrelease")), strings.Trim(after(read("/etc/os-release"), "PRETTY_NAME"), `"`)),
		Version(jkd),
	)
	for _, p := range []struct{ name, arg string }{
		{"/usr/sbin/apache2", "-v"}, {"/usr/sbin/nginx", "-v"}, {"/usr/sbin/haproxy", "-v"}, {"java", "-version"}, {"wrk", "-v"},
	} {
		if line := firstLine(p.name, p.arg); line != "" {
			facts = append(facts, line)
		}
	}
	for _, p := range []string{"libapache2-mod-jk", "tomcat10"} {
		if line := firstLine("dpkg-query", "-W", "-f", "${Package} ${Version}", p); strings.HasPrefix(line, p+" ") {
			facts = append(facts, line)
		}
	}
	return facts
}

// Version is what jkd says of itself.
func Version(jkd string) string { return firstLine(jkd, "-version") }

// LoadAverage is that of the last minute; empty where there is none to read.
func LoadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

// after is what follows the name, and ':' or '=', at the beginning of the first
// line that has it.
func after(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.Join(strings.Fields(strings.TrimLeft(rest, "\t :=")), " ")
		}
	}
	return "unknown"
}

// firstLine is the first line a program says; empty if there is no such
// program. Some exit with a fault when they are asked for their version.
func firstLine(argv ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}
