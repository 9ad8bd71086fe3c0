package master

import (
	"os"
	"strconv"
	"strings"
)

const somaxconnName = "net.core.somaxconn"

// somaxconn is the longest listen queue that the kernel grants, 0 if unknown.
func somaxconn() int {
	b, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return n
}
