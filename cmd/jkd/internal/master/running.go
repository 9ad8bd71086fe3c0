//go:build unix

package master

// Running tells what a pid file says: the process that it names, 0 if there is
// no such file or nothing in it, and whether that process lives and may be jkd.
func Running(pidFile string) (pid int, alive bool) {
	pid, ok := readPid(pidFile)
	if !ok {
		return 0, false
	}
	return pid, holds(pid)
}
