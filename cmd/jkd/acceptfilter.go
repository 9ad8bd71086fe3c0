//go:build unix

package main

import (
	"jkd/conf"
	"jkd/mpm/sock"
)

// acceptFilter is what AcceptFilter asks for.
func acceptFilter(s *conf.ServerConfig) sock.Filter {
	switch s.AcceptFilter {
	case conf.FilterNone:
		return sock.FilterNone
	case conf.FilterData:
		return sock.FilterData
	case conf.FilterHTTP:
		return sock.FilterHTTP
	}
	return sock.FilterDefault
}
