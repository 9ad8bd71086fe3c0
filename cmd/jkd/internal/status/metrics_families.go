package status

import (
	"strconv"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// Labels that several families have.
var (
	ofWorker = []string{"connector", "worker"}
	ofMember = []string{"connector", "balancer", "member"}
)

// metricFamilies are all metrics: the server, its children and slots, then what
// was done for each worker, then the balancers. A name that is here stays, with
// its labels and its meaning. docs/metrics.md repeats the table.
var metricFamilies = [...]metricFamily{
	{"jkd_build_info", gaugeKind, []string{"version", "built", "goversion", "mpm"}, "1; the labels say which jkd this is and which MPM runs.",
		func(e *exposition, s *Status) {
			e.number(1, label("version", s.Server.Version)+","+label("built", s.Server.Built)+","+label("goversion", s.Server.GoVersion)+","+label("mpm", s.Server.MPM))
		}},
	{"jkd_generation", gaugeKind, nil, "Generation: 1 at the start, one more with each graceful restart.",
		func(e *exposition, s *Status) { e.number(float64(s.Server.Generation), "") }},
	{"jkd_start_time_seconds", gaugeKind, nil, "When the server started, Unix time; a graceful restart does not change it.",
		func(e *exposition, s *Status) { e.number(unixSeconds(s.Server.Restart), "") }},
	{"jkd_uptime_seconds", gaugeKind, nil, "How long the server has been up.",
		func(e *exposition, s *Status) { e.number(s.Server.Uptime().Seconds(), "") }},
	{"jkd_processor_seconds", gaugeKind, []string{"mode"}, "Processor time of the master and all children, also of those that have ended.",
		func(e *exposition, s *Status) {
			e.number((s.Totals.CPU.User + s.Totals.CPU.ChildrenUser).Seconds(), `mode="user"`)
			e.number((s.Totals.CPU.System + s.Totals.CPU.ChildrenSystem).Seconds(), `mode="system"`)
		}},
	{"jkd_max_request_workers", gaugeKind, nil, "MaxRequestWorkers: how many slots there may be.",
		func(e *exposition, s *Status) { e.number(float64(s.Limits.MaxRequestWorkers), "") }},
	{"jkd_server_limit", gaugeKind, nil, "ServerLimit: how many children there may ever be.",
		func(e *exposition, s *Status) { e.number(float64(s.Limits.ServerLimit), "") }},
	{"jkd_threads_per_child", gaugeKind, nil, "ThreadsPerChild; 1 with prefork.",
		func(e *exposition, s *Status) { e.number(float64(s.Limits.ThreadsPerChild), "") }},

	{"jkd_children", gaugeKind, []string{"state"}, "Child processes: serving, or stopping when they finish what they have and leave.",
		func(e *exposition, s *Status) {
			stopping := 0
			for i := range s.Children {
				if s.Children[i].Quiescing {
					stopping++
				}
			}
			e.number(float64(len(s.Children)-stopping), `state="serving"`)
			e.number(float64(stopping), `state="stopping"`)
		}},
	{"jkd_child_starts_total", counterKind, nil, "Child processes that were started.",
		func(e *exposition, s *Status) { e.count(s.Events.Starts, "") }},
	{"jkd_child_deaths_total", counterKind, []string{"reason"}, "Child processes that have ended: ok when told to or after MaxConnectionsPerChild; killed and crashed are signals.",
		func(e *exposition, s *Status) {
			for _, d := range s.Events.Deaths {
				e.count(d.Count, label("reason", d.Reason))
			}
		}},
	{"jkd_connections_cut_total", counterKind, nil, "Connections that were still busy when GracefulShutdownTimeout was over, and were cut.",
		func(e *exposition, s *Status) { e.count(s.Events.Cut, "") }},
	{"jkd_slots", gaugeKind, []string{"state"}, "Slots of living children: busy and idle as mod_status's BusyWorkers and IdleWorkers, graceful as its GracefulWorkers.",
		func(e *exposition, s *Status) {
			e.number(float64(s.Totals.Busy), `state="busy"`)
			e.number(float64(s.Totals.Graceful), `state="graceful"`)
			e.number(float64(s.Totals.Idle), `state="idle"`)
		}},
	{"jkd_connections", gaugeKind, []string{"state"}, "Connections of living children: parked ones have no slot, because they wait for a request (KeepAliveParking); all others are seated.",
		func(e *exposition, s *Status) {
			e.number(float64(s.Totals.Connections-s.Totals.Parked), `state="seated"`)
			e.number(float64(s.Totals.Parked), `state="parked"`)
		}},
	{"jkd_scoreboard_slots", gaugeKind, []string{"status"}, "Slots of the scoreboard by status; dead are the open ones.",
		writeScoreboard},
	{"jkd_accesses_total", counterKind, nil, "Requests, as mod_status's Total Accesses.",
		func(e *exposition, s *Status) { e.count(s.Totals.Accesses, "") }},
	{"jkd_sent_bytes_total", counterKind, nil, "Bytes sent for these requests.",
		func(e *exposition, s *Status) { e.count(s.Totals.Bytes, "") }},
	{"jkd_busy_seconds_total", counterKind, nil, "Time these requests took together.",
		func(e *exposition, s *Status) { e.number(max(s.Totals.Duration, 0).Seconds(), "") }},

	{"jkd_requests_total", counterKind, []string{"connector", "worker", "class"}, "Requests by worker and class of the status; aborted ones did not reach the end of their answer. Worker - is jkd itself.",
		func(e *exposition, s *Status) {
			for _, w := range e.workers {
				for i, n := range w.Requests {
					e.count(n, w.labels+classLabels[i])
				}
			}
		}},
	{"jkd_request_duration_seconds", histogramKind, ofWorker, "How long requests took, from their first line to the end of the answer.",
		func(e *exposition, s *Status) {
			for _, w := range e.workers {
				e.histogram(w.Durations[:], boundLabels, max(w.Duration, 0).Seconds(), w.labels)
			}
		}},
	{"jkd_response_bytes_total", counterKind, ofWorker, "Bytes of bodies sent to clients.",
		func(e *exposition, s *Status) {
			for _, w := range e.workers {
				e.count(w.Bytes, w.labels)
			}
		}},
	{"jkd_backend_errors_total", counterKind, ofWorker, "Requests that failed by the back end's fault.",
		func(e *exposition, _ *Status) { e.eachBackend(func(w labelledWorker) { e.count(w.Errors, w.labels) }) }},
	{"jkd_cache_hits_total", counterKind, ofWorker, "Requests that reused a connection of their child's cache.",
		func(e *exposition, _ *Status) {
			e.eachBackend(func(w labelledWorker) { e.count(w.Cache.Hits, w.labels) })
		}},
	{"jkd_cache_misses_total", counterKind, ofWorker, "Requests that had to open a connection.",
		func(e *exposition, _ *Status) {
			e.eachBackend(func(w labelledWorker) { e.count(w.Cache.Misses, w.labels) })
		}},
	{"jkd_cache_overflows_total", counterKind, ofWorker, "Requests that got no connection, as all of their child's were in use.",
		func(e *exposition, _ *Status) {
			e.eachBackend(func(w labelledWorker) { e.count(w.Cache.Refused, w.labels) })
		}},
	{"jkd_backend_connections", gaugeKind, []string{"connector", "worker", "state"}, "Open connections to the back end: idle ones wait in the caches, busy ones have a request.",
		func(e *exposition, s *Status) {
			e.eachBackend(func(w labelledWorker) {
				e.number(float64(w.Cache.Busy), w.labels+`,state="busy"`)
				e.number(float64(w.Cache.Idle), w.labels+`,state="idle"`)
			})
		}},
	{"jkd_backend_connection_idle_seconds", gaugeKind, ofWorker, "How long the connection that waits longest has waited; 0 if none waits.",
		func(e *exposition, s *Status) {
			e.eachBackend(func(w labelledWorker) {
				var age time.Duration
				if w.Cache.Idle > 0 && !w.Cache.Oldest.IsZero() {
					age = max(s.Server.Now.Sub(w.Cache.Oldest), 0)
				}
				e.number(age.Seconds(), w.labels)
			})
		}},
	{"jkd_backend_connections_opened_total", counterKind, ofWorker, "Connections opened to the back end.",
		func(e *exposition, _ *Status) {
			e.eachBackend(func(w labelledWorker) { e.count(w.Cache.Opened, w.labels) })
		}},
	{"jkd_backend_connections_closed_total", counterKind, []string{"connector", "worker", "reason"}, "Connections to the back end that were closed, by reason.",
		func(e *exposition, s *Status) {
			e.eachBackend(func(w labelledWorker) {
				for i, n := range w.Cache.Closed {
					e.count(n, w.labels+reasonLabels[i])
				}
			})
		}},

	{"jkd_member_info", gaugeKind, []string{"connector", "balancer", "member", "address", "activation", "state"}, "1; the labels say what a balancer's member is and how it fares. Without balancer: a worker of its own.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.number(1, m.labels+","+label("address", m.Address)+","+label("activation", m.Activation)+","+label("state", m.State))
			}
		}},
	{"jkd_member_sick", gaugeKind, ofMember, "1 if the member does not get requests that it should get, as after an error.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				sick := 0.0
				if m.Sick {
					sick = 1
				}
				e.number(sick, m.labels)
			}
		}},
	{"jkd_member_factor", gaugeKind, ofMember, "The member's share of the load (lbfactor, level).",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.number(float64(m.Factor), m.labels)
			}
		}},
	{"jkd_member_busy", gaugeKind, ofMember, "Requests that the member has now.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.number(float64(m.Busy), m.labels)
			}
		}},
	{"jkd_member_elected_total", counterKind, ofMember, "How often the member was chosen; a reset by the status worker sets it to 0.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.count(m.Elected, m.labels)
			}
		}},
	{"jkd_member_errors_total", counterKind, ofMember, "How often the member failed; a reset by the status worker sets it to 0.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.count(m.Errors, m.labels)
			}
		}},
	{"jkd_member_last_error_time_seconds", gaugeKind, ofMember, "When the member failed last, Unix time; 0 if it never did.",
		func(e *exposition, s *Status) {
			for _, m := range e.members {
				e.number(unixSeconds(m.LastError), m.labels)
			}
		}},
}

// Labels that follow those of a worker; boundLabels are [counters.Bounds] in
// seconds.
var (
	classLabels  = follow("class", classNames[:])
	reasonLabels = follow("reason", closeReasons())
	boundLabels  = follow("le", durationBounds())
)

func follow(name string, values []string) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = "," + label(name, v)
	}
	return list
}

func closeReasons() (names []string) {
	for r := range counters.NumCloseReasons {
		names = append(names, r.String())
	}
	return names
}

func durationBounds() (le []string) {
	for _, b := range counters.Bounds {
		le = append(le, strconv.FormatFloat(b.Seconds(), 'g', -1, 64))
	}
	return append(le, "+Inf")
}

// writeScoreboard counts the slots by status, all statuses in their order.
func writeScoreboard(e *exposition, s *Status) {
	var n [scoreboard.NumStatus]int
	for i := range s.Slots {
		if st := s.Slots[i].Status; st.Valid() {
			n[st]++
		}
	}
	for st, n := range n {
		e.number(float64(n), label("status", scoreboard.Status(st).String()))
	}
}

// eachBackend leaves out what jkd answers itself: that has no connections.
func (e *exposition) eachBackend(do func(labelledWorker)) {
	for _, w := range e.workers {
		if w.Connector != "" || w.Name != "-" {
			do(w)
		}
	}
}

// unixSeconds is 0 for no moment.
func unixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}
