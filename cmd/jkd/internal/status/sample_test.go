package status

import (
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// sampleStatus is a server with something of everything.
func sampleStatus() *Status {
	now := time.Date(2026, 12, 2, 23, 15, 7, 0, time.UTC)
	s := &Status{
		Server: Server{
			Name: "www.example.com", Version: "jkd/1.0 (linux)", Built: "2026-12-02T10:11:12", GoVersion: "go1.26", MPM: "worker",
			Generation: 3, Now: now, Restart: now.Add(-(25*time.Hour + 61*time.Second)), Load: [3]float64{0.5, 1, 1.256}, Extended: true, MasterPID: 100,
		},
		Totals: Totals{
			Accesses: 123456, Bytes: 5<<30 + 1023, Duration: 7654321 * time.Microsecond,
			CPU:  scoreboard.Times{User: 12340 * time.Millisecond, System: 250 * time.Millisecond, ChildrenUser: time.Second, ChildrenSystem: 10 * time.Millisecond},
			Busy: 2, Graceful: 1, Idle: 1, Connections: 32, Parked: 30,
		},
		Limits: Limits{ServerLimit: 4, ThreadLimit: 4, ThreadsPerChild: 2, MaxRequestWorkers: 4},
		Children: []Child{
			{Server: 0, PID: 101, Generation: 3, Started: now.Add(-time.Hour), CPU: 1230 * time.Millisecond, Busy: 1, Idle: 1, Connections: 31, Parked: 30, Accesses: 400, Caches: []Cache{
				{"tomcat1", counters.Cache{Hits: 390, Misses: 10, Opened: 10, Idle: 1, Busy: 1, Oldest: now.Add(-time.Minute)}},
			}},
			{Server: 1, PID: 102, Generation: 2, Started: now.Add(-2 * time.Hour), Quiescing: true, Busy: 1},
		},
		Slots: []Slot{
			{Server: 0, Thread: 0, PID: 101, Generation: 3, Current: true, Status: scoreboard.Ready, SlotAccesses: 12, ChildAccesses: 5, SlotBytes: 3 << 20,
				ChildBytes: 1 << 20, CPU: 1230 * time.Millisecond, SinceLastUsed: 4 * time.Second, LastRequest: 12 * time.Millisecond, Duration: time.Second,
				Client: "192.0.2.7", Protocol: "HTTP/1.1", VHost: "www.example.com:80", Request: "GET /shop/index.jsp HTTP/1.1"},
			{Server: 0, Thread: 1, PID: 101, Generation: 3, Current: true, Status: scoreboard.BusyWrite, SlotAccesses: 7, ConnAccesses: 2, ConnBytes: 1536,
				Client: "2001:db8::1", Protocol: "HTTP/1.1", VHost: "www.example.com:80", Request: "POST /a HTTP/1.1"},
			{Server: 1, Thread: 0, PID: 102, Generation: 2, Status: scoreboard.Graceful},
			{Server: 1, Thread: 1},
		},
		Workers: []Worker{
			{Name: "-", Totals: counters.Totals{Requests: [counters.NumClasses]uint64{counters.Class4xx: 2}}},
			{Name: "tomcat1", Connector: "jk", Totals: counters.Totals{
				Requests: [counters.NumClasses]uint64{counters.Class2xx: 399, counters.Aborted: 1}, Duration: 800 * time.Millisecond, Bytes: 1 << 20, Errors: 3,
				Cache: counters.Cache{Hits: 390, Misses: 10, Opened: 10, Idle: 1, Busy: 1, Closed: [counters.NumCloseReasons]uint64{counters.ClosedAge: 8}},
			}},
		},
		Balancers: []Balancer{{Name: "lb", Connector: "jk", Method: "Request", Members: []Member{
			{Name: "tomcat1", Address: "127.0.0.1:8009", Activation: "ACT", State: "OK", Factor: 1, Elected: 400},
			{Name: "tomcat2", Address: "127.0.0.1:8010", Activation: "ACT", State: "ERR", Sick: true, Factor: 1, Errors: 3, LastError: now.Add(-9 * time.Second)},
		}}},
		Events: Events{Starts: 9, Deaths: []Death{{"ok", 5}, {"killed", 2}, {"crashed", 0}}, Cut: 4},
		History: []counters.Second{
			{Unix: now.Unix() - 1, Requests: 10, Bytes: 1000, Duration: 20 * time.Millisecond, Busy: 2, Idle: 1},
			{Unix: now.Unix(), Requests: 20, Errors: 1},
		},
	}
	s.Workers[1].Durations[3] = 400
	return s
}

// hostileText is what a child could write where a text belongs.
const hostileText = "\x1b[2J\r\nScoreboard: x\x7f\xff\xc2\x85\"<script>&\u202e"

// hostileStatus has texts and numbers that no honest child writes.
func hostileStatus() *Status {
	s := sampleStatus()
	for i := range s.Slots {
		x := &s.Slots[i]
		x.Client, x.Protocol, x.VHost, x.Request = hostileText, hostileText, hostileText, hostileText
		x.SlotAccesses, x.SlotBytes, x.ChildBytes, x.ConnBytes = 1<<64-1, 1<<64-1, 1<<64-1, 1<<64-1
		x.SinceLastUsed, x.LastRequest, x.Duration, x.CPU = -1<<63, 1<<63-1, -1<<63, 1<<63-1
		x.Status, x.Server = scoreboard.Status(200+i), 1<<31-1
	}
	s.Totals.Accesses, s.Totals.Bytes, s.Totals.Duration = 1<<64-1, 1<<64-1, -1<<63
	s.Totals.CPU.User, s.Totals.CPU.System = 1<<63-1, 1<<63-1
	s.Server.Restart = time.Unix(1<<60, 0)
	s.Children[0].Started = time.Unix(-1<<60, 0)
	s.Children[0].Caches[0].Worker = hostileText
	s.Children[0].Caches[0].Oldest = time.Unix(1<<60, 0)
	s.Workers[1].Name = hostileText
	s.Balancers[0].Members[0].Address = hostileText
	return s
}
