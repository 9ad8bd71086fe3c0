package jk2

import (
	"net"
	"strconv"
	"time"
)

// BalancerState is a balancer and what is known of its members.
type BalancerState struct {
	Name    string
	Members []MemberState
}

// MemberState is a member of a balancer.
type MemberState struct {
	Name     string
	Address  string // of the channel, as configured
	Disabled bool
	Graceful bool // gets only requests of sessions of its own
	Level    int
	Factor   int       // lb_factor
	Failed   time.Time // since when it is left alone; zero: it is not
}

// Balancers are the balancers as this process sees them. In mod_jk2, and here,
// each process finds out for itself which members fail.
func (c *Connector) Balancers() []BalancerState {
	s := c.state.Load()
	out := s.cfg.BalancerStates()
	for i, b := range s.balancers {
		b.mu.Lock()
		for j := range out[i].Members {
			if j < b.table.Len() { // else another configuration has come meanwhile
				out[i].Members[j].Failed = b.table.Status(j).Failed
			}
		}
		b.mu.Unlock()
	}
	return out
}

// BalancerStates are the balancers as configured: of none of the members it is
// known that it fails.
func (c *Config) BalancerStates() []BalancerState {
	out := make([]BalancerState, len(c.Balancers))
	for i := range c.Balancers {
		b := &c.Balancers[i]
		out[i].Name = b.Name
		for _, at := range b.Members {
			w := &c.Workers[at]
			out[i].Members = append(out[i].Members, MemberState{
				Name: w.Name, Address: c.Channels[w.Channel].address(), Disabled: w.Disabled, Graceful: w.Graceful, Level: w.Level, Factor: w.LBFactor,
			})
		}
	}
	return out
}

// address is where a channel leads, as text.
func (c *Channel) address() string {
	if c.Kind == Unix {
		return c.Path
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
}
