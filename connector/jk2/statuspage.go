package jk2

import (
	"errors"

	"jkd/connector"
)

// status serves a request to a status component.
func (c *Connector) status(s *state, index int, r *connector.Request, rw connector.ResponseWriter) *connector.Error {
	return &connector.Error{Worker: s.cfg.Statuses[index].Name, Op: "show status", Status: 501, Err: errors.New("this version has no status page yet")}
}
