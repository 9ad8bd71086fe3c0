package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
)

// Main runs a container as a process: it parses args (without the program's
// name), prints "listening on ADDRESS" to standard output once connections are
// taken, and serves until SIGTERM, SIGINT or, with -exit-with-stdin, the end
// of standard input. It returns the exit status: 0 after a stop, 1 if it
// could not serve, 2 for wrong arguments.
func Main(args []string) int { return run(args, os.Stdin, os.Stdout, os.Stderr) }

const usage = `usage: [flags]
Runs an AJP13 container with demonstration pages.
`

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() { fmt.Fprint(stderr, usage); fs.PrintDefaults() }
	listen := fs.String("listen", "127.0.0.1:8009", "`address` to listen on: host:port, or unix:PATH")
	fd := fs.Uint("fd", 0, "take the listening socket that was inherited as this descriptor `number` instead")
	size := fs.Int("packet-size", defaultPacketSize, "largest packet in `bytes`, 8192..65536; the front end's max_packet_size")
	secretFile := fs.String("secret-file", "", "`file` that holds the secret every request must carry")
	route := fs.String("route", "", "jvmRoute: `suffix` of session ids")
	withStdin := fs.Bool("exit-with-stdin", false, "stop at the end of standard input, that is with the process that holds the pipe, and leave SIGINT to it")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintf(stderr, "demo: unexpected argument %q\n", fs.Arg(0))
		return 2
	}
	o := Options{PacketSize: *size, Route: *route, Logger: zerolog.New(stderr).With().Timestamp().Str("process", "demo").Logger()}
	if _, err := o.withDefaults(); err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if err := serveProcess(o, *listen, *fd, *secretFile, *withStdin, stdin, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func serveProcess(o Options, listen string, fd uint, secretFile string, withStdin bool, stdin io.Reader, stdout io.Writer) error {
	if secretFile != "" {
		b, err := os.ReadFile(secretFile)
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		if o.Secret = strings.TrimRight(string(b), "\r\n"); o.Secret == "" {
			return fmt.Errorf("demo: secret file %s is empty", secretFile)
		}
	}
	// Signals are caught before anyone can know that there is a process to stop.
	sigs := make(chan os.Signal, 1)
	if withStdin {
		// Ctrl-C goes to the whole foreground group; the parent finishes its
		// requests first and then closes the pipe.
		signal.Ignore(syscall.SIGINT)
		signal.Notify(sigs, syscall.SIGTERM)
	} else {
		signal.Notify(sigs, syscall.SIGINT, syscall.SIGTERM)
	}
	defer signal.Stop(sigs)
	ln, err := listener(listen, fd)
	if err != nil {
		return err
	}
	if withStdin {
		// The goroutine ends with the process: a read of a pipe can't be
		// called off.
		go func() {
			io.Copy(io.Discard, stdin)
			ln.Close()
		}()
	}
	served := make(chan struct{})
	defer close(served)
	go func() {
		select {
		case <-sigs:
			ln.Close()
		case <-served:
		}
	}()
	fmt.Fprintf(stdout, "listening on %s\n", ln.Addr())
	return Serve(ln, o)
}

// listener opens address, or takes the inherited descriptor fd if it isn't 0.
func listener(address string, fd uint) (net.Listener, error) {
	if fd != 0 {
		f := os.NewFile(uintptr(fd), "listener")
		defer f.Close() // FileListener has a duplicate
		ln, err := net.FileListener(f)
		if err != nil {
			return nil, fmt.Errorf("demo: descriptor %d: %w", fd, err)
		}
		return ln, nil
	}
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return ln, nil
}
