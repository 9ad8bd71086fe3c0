package demo

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

// TestMain makes the test binary a container when it is told so: the tests
// of Main need a process.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO_TEST_MAIN") != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// process is a container in a process of its own.
type process struct {
	cmd  *exec.Cmd
	in   interface{ Close() error }
	addr string
	errs bytes.Buffer
	wait chan error
}

func start(t *testing.T, files []*os.File, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe, args...), wait: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), "DEMO_TEST_MAIN=1")
	p.cmd.ExtraFiles = files
	p.cmd.Stderr = &p.errs
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.cmd.Process.Kill()
		t.Fatalf("%v; %v: %s", err, p.cmd.Wait(), p.errs.String())
	}
	p.addr = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	go func() { p.wait <- p.cmd.Wait() }()
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// ends waits for the process to end by itself with status 0.
func (p *process) ends(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.wait:
		if err != nil {
			t.Errorf("%v: %s", err, p.errs.String())
		}
	case <-time.After(longWait):
		t.Error("still running")
	}
}

func (p *process) ping(t *testing.T) {
	t.Helper()
	network := "tcp"
	if strings.HasPrefix(p.addr, "/") {
		network = "unix"
	}
	f, err := ajptest.Dial(network, p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.CPing(); err != nil {
		t.Error(err)
	}
}

func TestMainSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, nil, "-listen", "127.0.0.1:0")
		p.ping(t) // and leaves the connection open
		p.cmd.Process.Signal(sig)
		p.ends(t)
	}
}

func TestMainStdin(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "s")
	p := start(t, nil, "-exit-with-stdin", "-listen", "unix:"+sock)
	p.ping(t)
	p.cmd.Process.Signal(syscall.SIGINT) // is left to the parent
	p.ping(t)
	p.in.Close()
	p.ends(t)
	if _, err := os.Lstat(sock); err == nil {
		t.Error("the socket file is left")
	}
}

func TestMainDescriptor(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, []*os.File{file}, "-fd", "3")
	file.Close()
	ln.Close()
	if p.addr != ln.Addr().String() {
		t.Errorf("listens on %s, was given %s", p.addr, ln.Addr())
	}
	p.ping(t)
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.ends(t)
}

func TestMainSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("geheim\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, "-secret-file", file, "-listen", "127.0.0.1:0")
	for secret, want := range map[string]int{"geheim": 200, "geheim\n": 0, "x": 403} {
		f, err := ajptest.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Do(get("/").AddAttr(ajptest.AttrSecret, secret), nil)
		if want != 0 && (err != nil || r.Status != want) || want == 0 && err == nil && r.Status == 200 {
			t.Errorf("secret %q: %+v, %v", secret, r, err)
		}
		f.Close()
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	p.ends(t)
	if strings.Contains(p.errs.String(), "geheim") {
		t.Errorf("the log tells the secret: %s", p.errs.String())
	}
}

func TestMainErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, tt := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-h"}, 0, "usage"},
		{[]string{"-nope"}, 2, "-nope"},
		{[]string{"more"}, 2, "more"},
		{[]string{"-packet-size", "100"}, 2, "packet size"},
		{[]string{"-packet-size", "65537"}, 2, "packet size"},
		{[]string{"-secret-file", "/no/such/file"}, 1, "/no/such/file"},
		{[]string{"-secret-file", empty}, 1, "empty"},
		{[]string{"-listen", ln.Addr().String()}, 1, "in use"},
		{[]string{"-listen", "unix:/no/such/dir/s"}, 1, "/no/such/dir/s"},
		{[]string{"-fd", "999"}, 1, "descriptor 999"},
	} {
		var out, errs bytes.Buffer
		if got := run(tt.args, strings.NewReader(""), &out, &errs); got != tt.status || !strings.Contains(errs.String(), tt.says) || out.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q; want %d and %q", tt.args, got, out.String(), errs.String(), tt.status, tt.says)
		}
	}
}
