//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strings"

	"jkd/cmd/jkd/internal/demo"
	"jkd/conf"
)

// demoContainer as the first argument makes this process the container of
// jkd -demo.
const demoContainer = "demo-container"

// demoPort is where jkd -demo listens if it is free.
const demoPort = 8080

// runDemo runs jkd on an embedded configuration in front of a small container
// that is a process of its own.
func runDemo(f flags) int {
	stop, addr, err := startContainer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd: demo container:", err)
		return 1
	}
	defer stop()
	text, err := demoConfig(addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	cfg, _, err := conf.Parse("demo.conf", []byte(text), conf.Options{MPM: f.mpm})
	l := loaded{cfg: cfg}
	if cfg != nil && os.Geteuid() == 0 {
		demoUser(&cfg.Server)
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l.warnings = nil
	return serve(l, role{foreground: true, started: func(addrs []net.Addr) {
		fmt.Printf("\njkd %s, MPM %s, in front of an AJP13 container on %s\n\n", version, cfg.Server.MPM, addr)
		for _, p := range demo.Paths() {
			fmt.Printf("  http://%s%-50s %s\n", addrs[0], p.Path, p.About)
		}
		fmt.Printf("\nStop with Ctrl-C.\n\n")
	}})
}

// demoUser is who the children of a demonstration are that root has started:
// nobody, and root where there is no such user.
func demoUser(s *conf.ServerConfig) {
	if _, err := user.Lookup("nobody"); err == nil {
		s.User = "nobody"
	} else {
		s.AllowRootChildren = true
	}
}

// demoConfig is the embedded configuration.
func demoConfig(container string) (string, error) {
	_, port, err := net.SplitHostPort(container)
	if err != nil {
		return "", err
	}
	listen := demoPort
	if ln, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", demoPort)); err == nil {
		_ = ln.Close()
	} else {
		ln, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		listen = ln.Addr().(*net.TCPAddr).Port
		_ = ln.Close()
	}
	return fmt.Sprintf(`[server]
Listen = 127.0.0.1:%d
LogLevel = info
# Longer than prefork takes to grow to ab's connections: see bench/README.md.
KeepAliveTimeout = 15

[mpm.prefork]
StartServers = 4
MinSpareServers = 2
MaxSpareServers = 6

[mpm.worker]
StartServers = 2
ThreadsPerChild = 25
MinSpareThreads = 25
MaxSpareThreads = 75

[connector.jk]
JkWorkerProperty = worker.list=demo
JkWorkerProperty = worker.demo.type=ajp13
JkWorkerProperty = worker.demo.host=127.0.0.1
JkWorkerProperty = worker.demo.port=%s
JkMount = /* demo
`, listen, port), nil
}

// startContainer starts the container and returns where it listens. It ends
// with this process, however that ends: its standard input is a pipe from
// here.
func startContainer() (stop func(), addr string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd := exec.Command(self, demoContainer, "-listen", "127.0.0.1:0", "-exit-with-stdin")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		stop()
		return nil, "", fmt.Errorf("it did not start: %q %v", line, err)
	}
	return stop, addr, nil
}
