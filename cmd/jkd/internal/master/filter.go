//go:build unix

package master

import (
	"net"

	"jkd/mpm/sock"
)

// setFilters sets AcceptFilter. Where that fails the listeners serve all the
// same, as Apache's do.
func (m *Master) setFilters() {
	for _, l := range m.listeners {
		if _, tcp := l.addr.(*net.TCPAddr); !tcp {
			continue
		}
		if err := sock.SetFilter(l.fd, m.o.AcceptFilter); err != nil {
			m.log.Warn().Msgf("AcceptFilter http %s: %s: %v", m.o.AcceptFilter, l.addr, err)
			return // so it is for the others
		}
	}
}
