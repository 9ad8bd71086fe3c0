package jk2

import "jkd/connector"

// status serves a request to a status component.
func (c *Connector) status(s *state, index int, r *connector.Request, rw connector.ResponseWriter) *connector.Error {
	return nil
}
