package jk

import "jkd/connector"

// statusTarget is a status worker as one server has it.
func (c *Connector) statusTarget(index int, _ *site) connector.Worker {
	return missing{c.config.Workers[index].Name}
}
