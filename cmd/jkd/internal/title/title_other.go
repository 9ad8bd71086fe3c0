//go:build !linux && !freebsd

package title

func set(string) {}
