package status

import "jkd/connector/jk2/jk2shm"

// Model is everything there is to show, as it is at one moment.
type Model struct {
	Software   string // what the connector calls itself
	Child      int    // the process that answers: its place in the scoreboard
	Generation uint64 // of the configuration, in this process
	// Components are those of the process, in the order of the configuration.
	Components []Component
	// Settings are all values as they are written and as they count.
	Settings []Setting
	Caches   []Cache
	// Board is the content of jk2.shm, nil without one.
	Board *jk2shm.View
}

// Component is one component.
type Component struct {
	Name, Type string // "ajp13:localhost:8009", "ajp13"
	Ver, Debug int
	Disabled   bool
	// Attributes can be read, in this order. Those of one type are the same.
	Attributes []Attribute
	// Settable are the properties that set takes.
	Settable []string
	// Invocable are the methods that inv takes.
	Invocable []string
}

// Attribute is one readable value.
type Attribute struct{ Name, Value string }

// Setting is one line of the configuration. Secrets must be hidden already.
type Setting struct{ Component, Property, Written, Value string }

// Cache is the endpoints of one worker in this process.
type Cache struct {
	Worker                     string
	Endpoints, Idle, Connected int // there are so many, so many idle, so many of those connected
	Max                        int // max_connections, 0: no limit
	Requests, Errors           uint64
	Hits, Connects, Refused    uint64 // served by an idle connection, by a new one, not for max_connections
}

// Control changes things. Its errors are told to the client as they are.
type Control interface {
	// Set changes a value in this process, and with property ver all that were
	// changed of the component in all processes.
	Set(component, property, value string) error
	// Invoke calls a method of a component in this process.
	Invoke(component, method string) error
	// Reload makes all processes look at the configuration again.
	Reload() error
	// Reset sets the counters of all records to 0.
	Reset() error
}
