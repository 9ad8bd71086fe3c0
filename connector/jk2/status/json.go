package status

import (
	"encoding/json"

	"jkd/connector/jk2/jk2shm"
)

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
	Settings   []DocumentSetting   `json:"settings"`   // as cfgOrig and cfgParsed show them
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

// DocumentSetting is a line of the configuration. Secrets are "*".
type DocumentSetting struct {
	Component string `json:"component"`
	Property  string `json:"property"`
	Written   string `json:"written"`
	Value     string `json:"value"` // ${name} replaced
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

// DocumentBoard is jk2.shm. Requests to AverageTime are of all slots.
type DocumentBoard struct {
	LBVer       uint32         `json:"lbVer"`
	LastSlot    int            `json:"lastSlot"` // the highest slot in use, plus one
	Requests    uint64         `json:"requests"`
	Errors      uint64         `json:"errors"`
	TotalTime   uint64         `json:"totalTime"`
	MaxTime     uint64         `json:"maxTime"`
	AverageTime uint64         `json:"averageTime"`
	Slots       []DocumentSlot `json:"slots"`
}

// DocumentSlot is the slot of one process.
type DocumentSlot struct {
	Name       string           `json:"name"`
	Server     int              `json:"server"` // the process's place in the scoreboard; -1: not a process's
	Size       uint32           `json:"size"`
	StructSize uint32           `json:"structSize"`
	StructCnt  uint32           `json:"structCnt"`
	Records    []DocumentRecord `json:"records"` // by id
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
	AverageTime uint64 `json:"averageTime"`
	Start       uint64 `json:"start"`   // of the last request
	JkStart     uint64 `json:"jkStart"` // when the connector took it
	End         uint64 `json:"end"`     // of the one before, while one is served
	Torn        bool   `json:"torn,omitempty"`
}

func document(m *Model) []byte {
	d := Document{Schema: Schema, Software: m.Software, Child: m.Child, Generation: m.Generation, Components: []DocumentComponent{}, Settings: []DocumentSetting{}, Caches: []DocumentCache{}}
	for _, c := range m.Components {
		x := DocumentComponent{Name: c.Name, Type: c.Type, Ver: c.Ver, Debug: c.Debug, Disabled: c.Disabled, Attributes: map[string]string{}}
		for _, a := range c.Attributes {
			x.Attributes[a.Name] = a.Value
		}
		d.Components = append(d.Components, x)
	}
	for _, s := range m.Settings {
		d.Settings = append(d.Settings, DocumentSetting(s))
	}
	for _, c := range m.Caches {
		d.Caches = append(d.Caches, DocumentCache{
			Worker: c.Worker, Endpoints: c.Endpoints, Idle: c.Idle, Connected: c.Connected, MaxConnections: c.Max,
			Requests: c.Requests, Errors: c.Errors, Hits: c.Hits, Connects: c.Connects, Refused: c.Refused,
		})
	}
	if m.Board != nil {
		d.Scoreboard = boardDocument(m.Board)
	}
	out, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return []byte("{}\n") // cannot be: there are only numbers and texts
	}
	return append(out, '\n')
}

func boardDocument(v *jk2shm.View) *DocumentBoard {
	b := &DocumentBoard{LBVer: v.Version, LastSlot: v.LastSlot, Slots: []DocumentSlot{}}
	var all totals
	for _, s := range v.Slots {
		x := DocumentSlot{Name: s.Name, Server: s.Server, Size: s.Size, StructSize: s.StructSize, StructCnt: s.Cnt, Records: []DocumentRecord{}}
		for i := range s.Records {
			r := &s.Records[i]
			all.add(r)
			x.Records = append(x.Records, DocumentRecord{
				Worker: r.Worker, Requests: r.Requests, Errors: r.Errors, LastRequest: r.Active, Connected: r.Connected,
				TotalTime: r.Total, MaxTime: r.Max, AverageTime: r.Average(), Start: r.Start, JkStart: r.JkStart, End: r.End, Torn: r.Torn,
			})
		}
		b.Slots = append(b.Slots, x)
	}
	b.Requests, b.Errors, b.TotalTime, b.MaxTime = all.requests, all.errors, all.time, all.most
	if n := all.requests + all.errors; n > 0 {
		b.AverageTime = all.time / n
	}
	return b
}
