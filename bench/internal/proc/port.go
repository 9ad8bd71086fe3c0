package proc

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
)

// Ports are taken from below the range that the kernel takes the ports of
// clients from: a load must not occupy the port of a server to come.
const firstPort, lastPort = 20000, 30000

var nextPort atomic.Int64

func init() { nextPort.Store(int64(firstPort + os.Getpid()*37%5000)) }

// FreePort is a port of 127.0.0.1 that was free a moment ago, and that no other
// call has returned.
func FreePort() (int, error) {
	for {
		port := int(nextPort.Add(1))
		if port >= lastPort {
			return 0, fmt.Errorf("proc: no free port in %d..%d", firstPort, lastPort)
		}
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			l.Close()
			return port, nil
		}
	}
}
