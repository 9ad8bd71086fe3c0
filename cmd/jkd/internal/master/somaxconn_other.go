//go:build unix && !linux && !freebsd

package master

const somaxconnName = "somaxconn"

// somaxconn is unknown here.
func somaxconn() int { return 0 }
