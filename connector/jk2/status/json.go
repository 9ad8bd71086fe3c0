package status

import "encoding/json"

// Schema is the version of [Document]. It changes when a field changes its
// meaning or goes; new fields may come without.
const Schema = 1

// Document is what mime=json returns.
type Document struct {
	Schema     int                 `json:"schema"`
	Software   string              `json:"software"`
	Child      int                 `json:"child"`      // the process that answers
	Generation uint64              `json:"generation"` // of the configuration there
	Components []DocumentComponent `json:"components"` // of that process
	Caches     []DocumentCache     `json:"caches"`     // of that process
	// Scoreboard is what all processes have counted; null without jk2.shm.
	Scoreboard *DocumentBoard `json:"scoreboard"`
}

// DocumentComponent is a component. Attributes are as in dmp, all of them text.
type DocumentComponent struct {
	Name       string            `json:"name"`
	Type       string            `json:"type"`
	Ver        int               `json:"ver"`
	Debug      int               `json:"debug"`
	Disabled   bool              `json:"disabled"`
	Attributes map[string]string `json:"attributes"`
}

// DocumentCache is the endpoints of one worker.
type DocumentCache struct {
	Worker         string `json:"worker"`
	Endpoints      int    `json:"endpoints"`
	Idle           int    `json:"idle"`
	Connected      int    `json:"connected"` // of the idle ones
	MaxConnections int    `json:"max_connections"`
	Requests       uint64 `json:"requests"`
	Errors         uint64 `json:"errors"`
	Hits           uint64 `json:"hits"`
	Connects       uint64 `json:"connects"`
	Refused        uint64 `json:"refused"`
}

// DocumentBoard is jk2.shm.
type DocumentBoard struct {
	LBVer    uint32         `json:"lbVer"`
	Requests uint64         `json:"requests"` // of all slots
	Errors   uint64         `json:"errors"`
	Slots    []DocumentSlot `json:"slots"`
}

// DocumentSlot is the slot of one process.
type DocumentSlot struct {
	Name    string           `json:"name"`
	Records []DocumentRecord `json:"records"`
}

// DocumentRecord is one endpoint. Times are microseconds, instants those since
// 1970; 0 is unknown.
type DocumentRecord struct {
	Worker      uint32 `json:"worker"`
	Requests    uint32 `json:"requests"`
	Errors      uint32 `json:"errors"`
	LastRequest string `json:"lastRequest"`
	Connected   uint64 `json:"connected"`
	TotalTime   uint64 `json:"totalTime"`
	MaxTime     uint64 `json:"maxTime"`
	Torn        bool   `json:"torn,omitempty"`
}

func document(m *Model) []byte {
	d := Document{Schema: Schema, Software: m.Software, Child: m.Child, Generation: m.Generation, Components: []DocumentComponent{}, Caches: []DocumentCache{}}
	for _, c := range m.Components {
		x := DocumentComponent{Name: c.Name, Type: c.Type, Ver: c.Ver, Debug: c.Debug, Disabled: c.Disabled, Attributes: map[string]string{}}
		for _, a := range c.Attributes {
			x.Attributes[a.Name] = a.Value
		}
		d.Components = append(d.Components, x)
	}
	for _, c := range m.Caches {
		d.Caches = append(d.Caches, DocumentCache{
			Worker: c.Worker, Endpoints: c.Endpoints, Idle: c.Idle, Connected: c.Connected, MaxConnections: c.Max,
			Requests: c.Requests, Errors: c.Errors, Hits: c.Hits, Connects: c.Connects, Refused: c.Refused,
		})
	}
	if m.Board != nil {
		b := &DocumentBoard{LBVer: m.Board.Version, Slots: []DocumentSlot{}}
		for _, s := range m.Board.Slots {
			x := DocumentSlot{Name: s.Name, Records: []DocumentRecord{}}
			for _, r := range s.Records {
				b.Requests, b.Errors = b.Requests+uint64(r.Requests), b.Errors+uint64(r.Errors)
				x.Records = append(x.Records, DocumentRecord{
					Worker: r.Worker, Requests: r.Requests, Errors: r.Errors, LastRequest: r.Active,
					Connected: r.Connected, TotalTime: r.Total, MaxTime: r.Max, Torn: r.Torn,
				})
			}
			b.Slots = append(b.Slots, x)
		}
		d.Scoreboard = b
	}
	out, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return []byte("{}\n") // cannot be: there are only numbers and texts
	}
	return append(out, '\n')
}
