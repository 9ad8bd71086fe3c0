package tomcattest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/peertest"
)

// startTimeout and stopTimeout end a start or stop that hangs. They judge
// nothing: a loaded machine may take most of a minute for a start.
const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 30 * time.Second
)

// Options describe the container to start. The zero value is a container with
// one AJP connector on a free port and no secret.
type Options struct {
	AJPPort       int    // 0: a free one
	HTTP          bool   // an HTTP connector too, on a free port
	Secret        string // AJP secret; empty: none required
	JVMRoute      string // suffix of session ids; empty: none
	PacketSize    int    // AJP packet size; 0: Tomcat's default, 8192
	MaxThreads    int    // threads of each connector; at least 64
	AJPAttributes string // more attributes of the AJP connector, as XML
	AJPSocket     string // path of a Unix socket: one more AJP connector, without a secret
	HeapMB        int    // limit of the Java heap; 0: 192
	Small         bool   // without /examples; starts in half the time
}

// Tomcat is a running container. Its methods may be called concurrently, but
// for Restart.
type Tomcat struct {
	AJPPort  int
	HTTPPort int // 0 without [Options.HTTP]

	opts    Options
	dir     string
	release []func() // of the ports
	cmd     *exec.Cmd
	output  logBuffer
	doneC   chan struct{} // closed when the process has been waited for
	stop    sync.Once
}

// AJPAddr is the address of the AJP connector, host:port.
func (c *Tomcat) AJPAddr() string { return addr(c.AJPPort) }

// HTTPAddr is the address of the HTTP connector, host:port.
func (c *Tomcat) HTTPAddr() string { return addr(c.HTTPPort) }

// PID is the process id of the Java machine.
func (c *Tomcat) PID() int { return c.cmd.Process.Pid }

// Log is what the container has written so far, or the end of it.
func (c *Tomcat) Log() string { return c.output.String() }

// StartT is [Start] for a test: it skips or fails as [Require] does, and stops
// the container when the test and its subtests are over.
func StartT(t testing.TB, o Options) *Tomcat {
	t.Helper()
	Require(t)
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Stop()
		if t.Failed() {
			t.Logf("what Tomcat wrote:\n%s", c.Log())
		}
	})
	return c
}

// Start starts a container and returns when it answers AJP pings. The caller
// must stop it.
func Start(o Options) (*Tomcat, error) {
	// A port that was free a moment ago may be taken when Tomcat binds it.
	for try := 1; ; try++ {
		c, err := start(o)
		if err == nil || try == 3 || !errors.Is(err, syscall.EADDRINUSE) || o.AJPPort != 0 {
			return c, err
		}
	}
}

func start(o Options) (_ *Tomcat, err error) {
	c := &Tomcat{AJPPort: o.AJPPort, opts: o}
	if c.AJPPort == 0 {
		if c.AJPPort, err = peertest.FreePort(); err != nil {
			return nil, err
		}
	}
	if o.HTTP {
		if c.HTTPPort, err = peertest.FreePort(); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			c.clear()
		}
	}()
	for _, port := range []int{c.AJPPort, c.HTTPPort} {
		if port == 0 {
			continue
		}
		release, err := hold(port)
		if err != nil {
			return nil, err
		}
		c.release = append(c.release, release)
	}
	if c.dir, err = os.MkdirTemp("", "jkd-tomcat-"); err != nil {
		return nil, err
	}
	if err := writeBase(c.dir, o, c.AJPPort, c.HTTPPort); err != nil {
		return nil, fmt.Errorf("tomcattest: write base directory: %w", err)
	}

	if err := c.launch(); err != nil {
		return nil, err
	}
	return c, nil
}

// launch starts the process and waits until it serves. If it does not, it is
// ended.
func (c *Tomcat) launch() error {
	open := "--add-opens=java.base/%s=ALL-UNNAMED"
	c.cmd = exec.Command("java",
		fmt.Sprintf(open, "java.lang"), fmt.Sprintf(open, "java.lang.reflect"),
		fmt.Sprintf(open, "java.io"), fmt.Sprintf(open, "java.util"),
		fmt.Sprintf(open, "java.util.concurrent"),
		// Small and quick to start, not fast.
		fmt.Sprintf("-Xmx%dm", cmp.Or(c.opts.HeapMB, 192)),
		"-Duser.language=en", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Djava.awt.headless=true", "-Dfile.encoding=UTF-8",
		"-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager",
		"-Djava.io.tmpdir="+filepath.Join(c.dir, "temp"),
		"-Dcatalina.home="+home, "-Dcatalina.base="+c.dir,
		"-Djkd.node="+c.opts.JVMRoute, // for node.jsp
		"-classpath", home+"/bin/bootstrap.jar:"+home+"/bin/tomcat-juli.jar",
		"org.apache.catalina.startup.Bootstrap", "start")
	c.cmd.Dir = c.dir
	c.cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "JAVA_TOOL_OPTIONS=", "CATALINA_OPTS=", "JAVA_OPTS=")
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	c.cmd.SysProcAttr = sysProcAttr()
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("tomcattest: start java: %w", err)
	}
	cmd, doneC := c.cmd, make(chan struct{})
	c.doneC = doneC
	go func() {
		cmd.Wait()
		close(doneC)
	}()
	if err := c.waitReady(); err != nil {
		c.Terminate()
		return fmt.Errorf("tomcattest: %w; it wrote:\n%s", err, c.Log())
	}
	return nil
}

// waitReady returns when the AJP connector answers a ping: connectors bind
// first, but are served only after all web applications have started.
func (c *Tomcat) waitReady() error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		if ping(c.AJPAddr(), 2*time.Second) == nil {
			return nil
		}
		if bytes.Contains([]byte(c.Log()), []byte("java.net.BindException")) {
			return fmt.Errorf("bind: %w", syscall.EADDRINUSE)
		}
		select {
		case <-c.doneC:
			return errors.New("Tomcat ended during its start")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("not ready after %v", startTimeout)
}

// Stop ends the container and removes its files. It returns when the process
// is gone; further calls do nothing.
func (c *Tomcat) Stop() {
	c.stop.Do(func() {
		c.Terminate()
		c.clear()
	})
}

// Terminate ends the container in an orderly way and waits for its end. Its
// files stay, for Restart.
func (c *Tomcat) Terminate() {
	c.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.doneC:
	case <-time.After(stopTimeout):
		c.Kill()
	}
}

// Kill ends the process at once, as a crash would, and waits for its end. Its
// files stay, for Restart.
func (c *Tomcat) Kill() {
	c.cmd.Process.Kill()
	<-c.doneC
}

// Restart starts the container again after Terminate or Kill, on the same
// ports and with the same files, and returns when it answers AJP pings. No
// other method may be called meanwhile.
func (c *Tomcat) Restart() error { return c.launch() }

// clear gives back everything but the process.
func (c *Tomcat) clear() {
	for _, release := range c.release {
		release()
	}
	if c.dir != "" {
		os.RemoveAll(c.dir)
	}
}

// ping sends CPING and waits for CPONG.
func ping(address string, timeout time.Duration) error {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(timeout))
	if _, err := conn.Write([]byte{0x12, 0x34, 0, 1, 10}); err != nil {
		return err
	}
	var pong [5]byte
	if _, err := io.ReadFull(conn, pong[:]); err != nil {
		return err
	}
	if pong != [5]byte{'A', 'B', 0, 1, 9} {
		return fmt.Errorf("not a CPONG: % x", pong)
	}
	return nil
}

func addr(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// logBuffer keeps the last part of what is written to it.
type logBuffer struct {
	mu  sync.Mutex
	buf []byte
}

const logLimit = 256 << 10

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if over := len(b.buf) - logLimit; over > 0 {
		b.buf = append(b.buf[:0], b.buf[over:]...)
	}
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.buf)
}
