//go:build unix

package mpm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/scoreboard"
	"jkd/shm"
)

// world is a Supervisor whose processes, clock and signals are made up.
type world struct {
	*Supervisor
	t        *testing.T
	time     time.Time
	pid      int // of the last process
	started  []int
	gone     map[int]syscall.WaitStatus
	signals  []string
	startErr error
	plan     Plan // what the module says
	views    []View
	readies  int
	log      strings.Builder
}

// newWorld makes one for four servers of two threads, two of them at start.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, time: time.Unix(1e9, 0), pid: 100, gone: map[int]syscall.WaitStatus{}, plan: Plan{Retire: Nobody}}
	l := scoreboard.Layout{ServerLimit: 4, ThreadLimit: 2}
	size, err := scoreboard.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := shm.Create("test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seg.Close() })
	board, err := scoreboard.New(seg.Bytes(), l, scoreboard.Global{Generation: 5})
	if err != nil {
		t.Fatal(err)
	}
	w.Supervisor, err = NewSupervisor(Options{
		Module: Module{
			Name: "test", ThreadsPerChild: 2, ServerLimit: 4, ThreadLimit: 2, StartServers: 2,
			Plan: func(v View) Plan { w.views = append(w.views, v); return w.plan },
		},
		Generation: 5, Board: board, BoardSegment: seg, Logger: zerolog.New(&w.log),
		OnReady: func() error { w.readies++; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.env = env{
		now: func() time.Time { return w.time },
		start: func(server int) (int, *link, error) {
			if w.startErr != nil {
				return 0, nil, w.startErr
			}
			w.pid++
			w.started = append(w.started, server)
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			return w.pid, &link{f: f, ordersC: make(chan Order, 4)}, nil
		},
		wait: func(pid int) (syscall.WaitStatus, bool, error) {
			ws, gone := w.gone[pid]
			return ws, gone, nil
		},
		kill: func(pid int, sig syscall.Signal) error {
			w.signals = append(w.signals, fmt.Sprintf("%d %d", pid, sig))
			return nil
		},
	}
	t.Cleanup(func() { w.tab.each(func(p *process) { p.link.close() }) })
	return w
}

// after lets time pass and does what Run would do.
func (w *world) after(d time.Duration) {
	w.time = w.time.Add(d)
	w.reap()
	w.tick()
	w.advance()
}

// ready is what a child does.
func (w *world) ready(servers ...int) {
	for _, s := range servers {
		for th := range 2 {
			w.o.Board.Slot(s, th).SetReady(w.time.UnixNano())
		}
	}
}

func (w *world) serving() *world {
	w.t.Helper()
	w.begin()
	w.ready(0, 1)
	w.advance()
	if w.phase != PhaseServing || w.readies != 1 {
		w.t.Fatalf("phase %s, ready %d times", w.phase, w.readies)
	}
	for server := range 2 {
		if got := w.orders(server); !slices.Equal(got, []Order{OrderGo}) {
			w.t.Fatalf("orders %v", got)
		}
	}
	return w
}

func (w *world) wantStarted(n int) {
	w.t.Helper()
	if len(w.started) != n {
		w.t.Fatalf("%d children were started, want %d\n%s", len(w.started), n, w.log.String())
	}
}

// orders that the child of a server was sent.
func (w *world) orders(server int) (list []Order) {
	for {
		select {
		case o := <-w.tab.servers[server].link.ordersC:
			list = append(list, o)
		default:
			return list
		}
	}
}

func TestColdStart(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.wantStarted(2)
	if w.o.Board.Slot(1, 1).Status() != scoreboard.Starting {
		t.Error("the slots of a new child are not starting")
	}
	w.ready(0)
	w.advance()
	if w.phase != PhaseStarting || w.readies != 0 {
		t.Error("ready with one of two children")
	}
	w.ready(1)
	w.advance()
	w.advance()
	if w.phase != PhaseServing || w.readies != 1 {
		t.Errorf("phase %s, ready %d times", w.phase, w.readies)
	}
	var v scoreboard.View
	w.o.Board.Snapshot(&v)
	if v.Processes[1].PID != 102 || v.Processes[1].Generation != 5 {
		t.Errorf("process record %+v", v.Processes[1])
	}
}

// TestGo: children may accept when all are ready and the rest of the world
// knows, those that come later at once; those of a start that fails never.
func TestGo(t *testing.T) {
	w := newWorld(t)
	w.o.OnReady = func() error {
		for server := range 2 {
			if got := w.orders(server); len(got) != 0 {
				t.Errorf("orders %v before OnReady has returned", got)
			}
		}
		w.readies++
		return nil
	}
	w.serving()
	w.plan.Spawn = 1
	w.after(time.Second)
	w.plan.Spawn = 0
	if got := w.orders(2); !slices.Equal(got, []Order{OrderGo}) {
		t.Errorf("a later child has orders %v", got)
	}
	w.after(time.Second)
	if got := w.orders(0); len(got) != 0 {
		t.Errorf("orders %v", got)
	}
	// One that replaces another.
	w.gone[101] = exited(0)
	w.after(time.Second)
	w.wantStarted(4)
	if got := w.orders(0); !slices.Equal(got, []Order{OrderGo}) {
		t.Errorf("a replacement has orders %v", got)
	}

	w = newWorld(t)
	w.o.OnReady = func() error { return errors.New("no pid file") }
	w.begin()
	w.ready(0, 1)
	w.advance()
	if got := w.orders(0); w.phase != PhaseStopping || !slices.Equal(got, []Order{OrderStop}) {
		t.Errorf("after OnReady has failed: phase %s, orders %v", w.phase, got)
	}

	w = newWorld(t)
	w.begin()
	w.ready(0)
	w.after(startTimeout)
	if got := w.orders(0); w.phase != PhaseStopping || !slices.Equal(got, []Order{OrderStop}) {
		t.Errorf("after a start that took too long: phase %s, orders %v", w.phase, got)
	}
}

func TestStartTimesOut(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.ready(0)
	w.after(startTimeout - 1)
	if w.err != nil {
		t.Fatal(w.err)
	}
	w.after(1)
	if w.err == nil || !strings.Contains(w.err.Error(), "1 of 2 children were ready") || w.phase != PhaseStopping {
		t.Errorf("%v, %s", w.err, w.phase)
	}
}

func TestStartThatCannotWork(t *testing.T) {
	w := newWorld(t)
	w.begin()
	for i := 0; w.err == nil; i++ {
		if i > 1000 {
			t.Fatal("goes on for ever")
		}
		for pid := 101; pid <= w.pid; pid++ {
			w.gone[pid] = exited(7)
		}
		w.after(10 * time.Millisecond)
	}
	if !strings.Contains(w.err.Error(), "3 children ended before any was ready, the last with exit code 7 (sick)") {
		t.Error(w.err)
	}
	w.wantStarted(3)
	w.advance()
	if w.phase != PhaseStopped {
		t.Errorf("phase %s", w.phase)
	}
}

func TestStartWithoutProcesses(t *testing.T) {
	w := newWorld(t)
	w.startErr = syscall.EAGAIN
	w.begin()
	if !errors.Is(w.err, syscall.EAGAIN) {
		t.Errorf("error %v", w.err)
	}
}

// TestForkFails: a pause without a blocking sleep.
func TestForkFails(t *testing.T) {
	w := newWorld(t).serving()
	w.plan.Spawn = 1
	w.startErr = syscall.EAGAIN
	w.after(time.Second)
	w.startErr = nil
	w.plan.Spawn = 0
	w.after(time.Second)
	if !w.views[len(w.views)-1].Hold {
		t.Error("the plan is not told to hold")
	}
	w.after(forkPause)
	if w.views[len(w.views)-1].Hold {
		t.Error("the plan is still told to hold")
	}
	if w.err != nil || w.phase != PhaseServing {
		t.Errorf("%v, %s", w.err, w.phase)
	}
}

// TestBraked: children that die at once are started at growing intervals.
func TestBraked(t *testing.T) {
	w := newWorld(t).serving()
	w.after(5 * time.Second)
	w.gone[101] = signaled(syscall.SIGKILL)
	w.after(0)
	w.wantStarted(3) // replaced at once
	var intervals []int
	last := 0
	for sec := 1; sec <= 130; sec++ {
		w.gone[w.pid] = exited(0) // before it was ready
		n := len(w.started)
		w.after(time.Second)
		if len(w.started) > n {
			if len(w.started) > n+1 {
				t.Fatal("more than one at a time")
			}
			intervals = append(intervals, sec-last)
			last = sec
		}
	}
	if fmt.Sprint(intervals) != "[2 3 5 9 17 33 33]" { // the delays and the tick in which each dies
		t.Errorf("children were started at intervals of %v s", intervals)
	}
	// A healthy one ends it.
	w.after(40 * time.Second)
	w.ready(0)
	w.after(time.Second)
	w.after(time.Second)
	if w.brake.On() {
		t.Error("the brake is still on")
	}
	if w.err != nil {
		t.Error(w.err)
	}
}

func TestReplaced(t *testing.T) {
	for _, c := range []struct {
		name    string
		lived   time.Duration
		ws      syscall.WaitStatus
		prepare func(w *world)
		want    int // children started in the next moment
		fatal   bool
	}{
		{"killed", 2 * time.Second, signaled(syscall.SIGKILL), nil, 1, false},
		{"crashed", 2 * time.Second, signaled(syscall.SIGSEGV), nil, 1, false},
		{"its share", 2 * time.Second, exited(0), nil, 1, false},
		{"its share, quickly", time.Millisecond, exited(0), nil, 1, false},
		{"killed quickly", time.Millisecond, signaled(syscall.SIGKILL), nil, 0, false},
		{"sick", 2 * time.Second, exited(7), nil, 0, false},
		{"leaving by itself", 2 * time.Second, exited(0), func(w *world) {
			w.o.Board.Process(0).SetQuiescing(true)
			w.after(0) // it is seen
		}, 0, false},
		{"retired", 2 * time.Second, exited(0), func(w *world) {
			w.plan.Retire = 0
			w.after(0)
			w.plan.Retire = Nobody
			if got := w.orders(0); !slices.Equal(got, []Order{OrderGraceful}) {
				w.t.Errorf("orders %v", got)
			}
		}, 0, false},
		{"fatal", 2 * time.Second, exited(15), nil, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t).serving()
			w.after(c.lived)
			if c.prepare != nil {
				c.prepare(w)
			}
			w.gone[101] = c.ws
			w.reap()
			w.advance()
			w.wantStarted(2 + c.want)
			if (w.err != nil) != c.fatal {
				t.Errorf("error %v", w.err)
			}
			if c.want == 0 && w.o.Board.Slot(0, 0).Status() != scoreboard.Dead {
				t.Error("the record was not reclaimed")
			}
		})
	}
}

// TestReclaimHook: what a child left behind is tidied up before there can be a
// successor in its place, and once.
func TestReclaimHook(t *testing.T) {
	w := newWorld(t)
	var reclaimed []int
	w.o.OnReclaim = func(server int) {
		reclaimed = append(reclaimed, server)
		if w.o.Board.Slot(server, 0).Status() != scoreboard.Dead {
			t.Error("the scoreboard record is not reclaimed")
		}
		if w.tab.servers[server] == nil {
			t.Error("the place is free already")
		}
		w.wantStarted(2)
	}
	w.serving().after(2 * time.Second)
	w.gone[102] = signaled(syscall.SIGKILL)
	w.after(0)
	w.wantStarted(3)
	w.after(time.Second)
	if !slices.Equal(reclaimed, []int{1}) || w.started[2] != 1 {
		t.Errorf("reclaimed %v, started %v", reclaimed, w.started)
	}
	// Nothing was there: a process that could not be started.
	w.startErr = syscall.EAGAIN
	w.plan.Spawn = 1
	w.after(time.Second)
	if len(reclaimed) != 1 {
		t.Errorf("reclaimed %v", reclaimed)
	}
}

// TestEvents: each start and each end is told once.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	var told []string
	reclaimed := -1
	w.o.OnStart = func(server int) { told = append(told, fmt.Sprint("start ", server)) }
	w.o.OnReclaim = func(server int) { reclaimed = server }
	w.o.OnExit = func(server int, e Exit) {
		if reclaimed != server {
			t.Error("not reclaimed yet")
		}
		told = append(told, fmt.Sprint("exit ", server, " ", e.Code, " ", int(e.Signal)))
	}
	w.serving().after(2 * time.Second)
	w.gone[102] = signaled(syscall.SIGKILL)
	w.after(0)
	w.gone[101] = exited(7)
	w.after(0)
	w.startErr = syscall.EAGAIN
	w.plan.Spawn = 1
	w.after(time.Second)
	want := []string{"start 0", "start 1", "exit 1 ok 9", "start 1", "exit 0 sick 0"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, not %q", told, want)
	}
}

// TestReplacementsAreBounded: even good reasons must not become a fork storm.
func TestReplacementsAreBounded(t *testing.T) {
	w := newWorld(t).serving()
	for range 100 {
		for pid := 101; pid <= w.pid; pid++ {
			w.gone[pid] = exited(0)
		}
		w.ready(0, 1)
		w.time = w.time.Add(time.Millisecond)
		w.reap()
		w.advance()
	}
	w.wantStarted(2 + MaxSpawnRate)
}

func TestView(t *testing.T) {
	w := newWorld(t).serving()
	w.plan.Spawn = 1
	w.after(time.Second)
	w.plan.Spawn = 0
	w.o.Board.Slot(0, 0).SetStatus(scoreboard.BusyWrite)
	w.o.Board.Slot(0, 1).SetStatus(scoreboard.KeepAlive)
	w.o.Board.Process(1).SetQuiescing(true)
	w.after(time.Second)
	got := w.views[len(w.views)-1].Servers
	want := []ServerView{{ServerRunning, 2}, {ServerLeaving, 0}, {ServerStarting, 0}, {}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// It thought better of it: somebody else had written there.
	w.o.Board.Process(1).SetQuiescing(false)
	w.after(time.Second)
	if got := w.views[len(w.views)-1].Servers[1].State; got != ServerRunning {
		t.Errorf("state %s", got)
	}
	// It goes on saying so.
	w.o.Board.Process(1).SetQuiescing(true)
	w.after(time.Second)
	if got := w.orders(1); len(got) != 0 {
		t.Errorf("orders %v", got)
	}
	w.after(leavePatience)
	if got := w.orders(1); !slices.Equal(got, []Order{OrderGraceful}) {
		t.Errorf("orders %v", got)
	}
}

// TestPlanOutOfRange: a faulty plan must not hurt.
func TestPlanOutOfRange(t *testing.T) {
	w := newWorld(t).serving()
	w.plan = Plan{Spawn: 1000, Retire: 1000}
	w.after(time.Second)
	w.wantStarted(4)
	w.plan = Plan{Spawn: -1, Retire: -5}
	w.after(time.Second)
	w.wantStarted(4)
}

func TestGracefulAndStop(t *testing.T) {
	w := newWorld(t)
	var cut []int
	w.o.OnCut = func(connections int) { cut = append(cut, connections) }
	w.serving()
	w.o.Board.Slot(1, 0).SetStatus(scoreboard.BusyWrite)
	w.obey(request{order: OrderGraceful, timeout: time.Minute})
	if got := w.orders(1); !slices.Equal(got, []Order{OrderGraceful}) {
		t.Errorf("orders %v", got)
	}
	w.gone[101] = exited(0)
	w.plan.Spawn = 1
	w.after(time.Second)
	w.wantStarted(2) // nobody is replaced any more
	if wait := w.advance(); wait != 59*time.Second {
		t.Errorf("waits %s", wait)
	}
	w.obey(request{order: OrderGraceful}) // again: nothing new
	if len(w.orders(1)) != 0 || w.drainLimit != time.Minute {
		t.Error("a second graceful stop changed something")
	}
	w.after(59 * time.Second)
	w.advance()
	if w.phase != PhaseStopping || !slices.Equal(w.signals, []string{"102 15"}) {
		t.Errorf("phase %s, signals %v", w.phase, w.signals)
	}
	if got := w.orders(1); !slices.Equal(got, []Order{OrderStop}) {
		t.Errorf("orders %v", got)
	}
	if !slices.Equal(cut, []int{1}) {
		t.Errorf("cut %v", cut)
	}
	for range 10 {
		w.after(time.Second)
	}
	if want := []string{"102 15", "102 15", "102 15", "102 15", "102 9"}; !slices.Equal(w.signals, want) {
		t.Errorf("signals %v, want %v", w.signals, want)
	}
	if w.phase != PhaseStopped || w.err != nil {
		t.Errorf("phase %s, error %v", w.phase, w.err)
	}
	if !strings.Contains(w.log.String(), "could not make child process exit") {
		t.Error("the log does not tell that it gave up")
	}
}

func TestStopDuringGraceful(t *testing.T) {
	w := newWorld(t).serving()
	w.obey(request{order: OrderGraceful})
	if wait := w.advance(); wait >= 0 {
		t.Errorf("waits %s", wait)
	}
	w.obey(request{order: OrderStop})
	w.advance()
	if w.phase != PhaseStopping || len(w.signals) != 2 {
		t.Errorf("phase %s, signals %v", w.phase, w.signals)
	}
	w.gone[101], w.gone[102] = signaled(syscall.SIGTERM), signaled(syscall.SIGTERM)
	w.after(10 * time.Millisecond)
	if w.phase != PhaseStopped || w.err != nil {
		t.Errorf("phase %s, error %v", w.phase, w.err)
	}
}

// TestDamagedBoard: the header is restored before the next child needs it.
func TestDamagedBoard(t *testing.T) {
	w := newWorld(t).serving()
	mem := w.o.BoardSegment.Bytes()
	for i := range mem {
		mem[i] = byte(i*7 + 13)
	}
	w.after(2 * time.Second)
	w.gone[101] = signaled(syscall.SIGKILL)
	w.plan.Spawn = 1
	w.after(time.Second)
	l := scoreboard.Layout{ServerLimit: 4, ThreadLimit: 2}
	b, err := scoreboard.Attach(mem, &l)
	if err != nil {
		t.Fatal(err)
	}
	if b.Global().Generation != 5 {
		t.Errorf("generation %d", b.Global().Generation)
	}
}

func TestNewSupervisorRefuses(t *testing.T) {
	good := newWorld(t).o
	for name, spoil := range map[string]func(*Options){
		"no plan":        func(o *Options) { o.Module.Plan = nil },
		"threads":        func(o *Options) { o.Module.ThreadsPerChild = 3 },
		"no board":       func(o *Options) { o.Board = nil },
		"other board":    func(o *Options) { o.Module.ServerLimit = 5 },
		"long snapshot":  func(o *Options) { o.Snapshot = make([]byte, MaxSnapshot+1) },
		"many listeners": func(o *Options) { o.Listeners = make([]int, maxFiles+1) },
		"root in a jail": func(o *Options) { o.ChrootDir = "/var/empty" },
		"long path":      func(o *Options) { o.CoreDumpDirectory = strings.Repeat("x", maxPath+1) },
		"many groups":    func(o *Options) { o.Credential = &Credential{Groups: make([]uint32, maxGroups+1)} },
	} {
		o := good
		spoil(&o)
		if _, err := NewSupervisor(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
