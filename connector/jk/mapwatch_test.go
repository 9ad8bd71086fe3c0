package jk

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/filestamp"
	"jkd/connector/jk/jkshm"
)

// Which looks at a file lead to what.
func TestSight(t *testing.T) {
	at := func(second int64) filestamp.Stamp {
		return filestamp.Stamp{Ino: 1, Size: 9, Modified: second * 1e9, Changed: second * 1e9}
	}
	type look struct {
		s    filestamp.Stamp
		now  int64 // second, of the reading that follows
		want sighting
	}
	other := at(10)
	other.Ino = 2
	longer := at(10)
	longer.Size++
	chmod := at(10)
	chmod.Changed++
	for _, tt := range []struct {
		name  string
		looks []look
	}{
		{"start", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {at(10), 0, sightSame}}},
		{"newer", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {at(50), 0, sightChanging}, {at(50), 100, sightChanged}, {at(50), 0, sightSame}}},
		{"older", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {at(5), 0, sightChanging}, {at(5), 100, sightChanged}}},
		{"other inode", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {other, 0, sightChanging}, {other, 100, sightChanged}}},
		{"size", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {longer, 0, sightChanging}, {longer, 100, sightChanged}}},
		{"ctime", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {chmod, 0, sightChanging}, {chmod, 100, sightChanged}}},
		{"still written", []look{{at(10), 0, sightChanging}, {longer, 0, sightChanging}, {at(11), 0, sightChanging}, {at(12), 0, sightChanging}, {at(12), 100, sightChanged}}},
		{"there and back", []look{{at(10), 0, sightChanging}, {at(10), 100, sightChanged}, {longer, 0, sightChanging}, {at(10), 0, sightSame}}},
		// Read within a tick of the change: what has the same stamp may be
		// another text, once and until that is out of the question.
		{"fresh", []look{{at(10), 0, sightChanging}, {at(10), 11, sightChanged}, {at(10), 11, sightChanged}, {at(10), 12, sightChanged}, {at(10), 0, sightSame}}},
		{"future", []look{{at(90), 0, sightChanging}, {at(90), 10, sightChanged}, {at(90), 11, sightChanged}, {at(90), 92, sightChanged}, {at(90), 0, sightSame}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v sight
			for i, l := range tt.looks {
				got := v.next(l.s)
				if got != l.want {
					t.Errorf("look %d: %s, want %s", i, got, l.want)
				}
				if got == sightChanged {
					v.read(l.s, time.Unix(l.now, 0))
				}
			}
		})
	}
}

// mapRig is a watcher and two children that share its segment.
type mapRig struct {
	t     testing.TB
	path  string
	watch *mapWatch
	log   *lockedBuffer
	kids  [2]*Connector
	seg   *jkshm.Segment
	setup *Setup
	mem   []byte
}

// newMapRig has a map file with that text, workers a, b and c, and mounts as
// jkServer takes them.
func newMapRig(t testing.TB, text string, mounts ...string) *mapRig {
	t.Helper()
	r := &mapRig{t: t, path: filepath.Join(t.TempDir(), "uriworkermap.properties"), log: &lockedBuffer{}}
	r.write(text)
	s := jkServer(conf.CopyOff, text, mounts...)
	if s.MountFile == nil {
		s.MountFile = &conf.File{}
	}
	s.MountFile.Path = r.path
	other := jkServer(conf.CopyOn, "", "/other b")
	r.setup = mustLoad(t, servers(s, other, jkServer(conf.CopyOn, "")))
	r.mem = segmentMemory(t, r.setup, len(r.kids))
	var err error
	if r.seg, err = FormatSegment(r.mem, r.setup, len(r.kids)); err != nil {
		t.Fatal(err)
	}
	r.watch = newMapWatch(&MapWatcher{Setup: r.setup, Segment: r.seg, Logger: zerolog.New(r.log)})
	for i := range r.kids {
		r.kids[i] = r.child(i)
	}
	return r
}

// segmentMemory is memory for a segment.
func segmentMemory(t testing.TB, s *Setup, servers int) []byte {
	t.Helper()
	size, err := jkshm.Size(SegmentLayout(s, servers))
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
}

// child is a connector of a process that was started now.
func (r *mapRig) child(server int) *Connector {
	r.t.Helper()
	seg, err := jkshm.Attach(r.mem, SegmentLayout(r.setup, len(r.kids)))
	if err != nil {
		r.t.Fatal(err)
	}
	// As a process that was started: it loads what the master has loaded.
	c := New(r.setup, Options{Threads: 1, Segment: seg, Server: server, Logger: zerolog.New(r.log)})
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *mapRig) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// rename puts a new file in the place of the old one.
func (r *mapRig) rename(text string) {
	r.t.Helper()
	tmp := r.path + ".new"
	if err := os.WriteFile(tmp, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(tmp, r.path); err != nil {
		r.t.Fatal(err)
	}
}

// checks looks as often as it takes to settle, as one check and what follows
// from it.
func (r *mapRig) checks() {
	r.t.Helper()
	f := r.watch.files[0]
	for range 10 {
		if r.watch.look(f, time.Now()) == f.Every {
			return
		}
	}
	r.t.Fatal("the file does not settle")
}

// said is what was logged since the last call, "level: message: error".
func (r *mapRig) said() string {
	r.log.mu.Lock()
	text := r.log.b.String()
	r.log.b.Reset()
	r.log.mu.Unlock()
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var e struct {
			Level, Message, Error string
			More                  int
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Level == "debug" {
			continue
		}
		s := e.Level + ": " + e.Message
		if e.Error != "" {
			s += ": " + e.Error
		}
		if e.More > 0 {
			s += fmt.Sprintf(" (and %d more)", e.More)
		}
		out = append(out, strings.ReplaceAll(s, r.path, "MAP"))
	}
	return strings.Join(out, "\n")
}

// want checks what was logged and where both children, and one that is started
// now, send paths of the main server, given as "/path worker".
func (r *mapRig) want(logged string, paths ...string) {
	r.t.Helper()
	if got := r.said(); got != logged {
		r.t.Errorf("logged\n%s\nwant\n%s", got, logged)
	}
	for i, c := range []*Connector{r.kids[0], r.kids[1], r.child(1)} {
		for _, p := range paths {
			path, want, _ := strings.Cut(p, " ")
			got := ""
			if w := c.Match(at(path)); w != nil {
				got = w.Name()
			}
			if got != want {
				r.t.Errorf("child %d: %s is mapped to %q, want %q", i, path, got, want)
			}
		}
	}
}

const reloaded = "info: Reloaded urimaps from MAP: JkMountFile reloaded, "

// F072: however a file is changed, all processes have the new rules, rules from
// elsewhere stay, and those that were taken out are gone.
func TestF072MapFileChanges(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n", "/mount b")
	r.checks()
	r.want("", "/a/1 a", "/mount b", "/worker/1 c", "/new ")
	for i, change := range []func(string){r.rename, r.write} {
		change("/a/*=b\n/new=c\n")
		r.checks()
		r.want(reloaded+"2 rules", "/a/1 b", "/new c", "/mount b", "/worker/1 c")
		change("/new=a\n")
		r.checks()
		r.want(reloaded+"1 rules", "/a/1 ", "/new a", "/mount b", "/worker/1 c")
		change(fmt.Sprint("/a/*=a\n# ", i, "\n"))
		r.checks()
		r.want(reloaded+"1 rules", "/a/1 a", "/new ")
		r.checks()
		r.want("")
	}
	// The virtual hosts that follow the file too.
	r.write("/new=a\n")
	r.checks()
	for host, paths := range map[int]string{1: "/new a, /other b, /mount b, /worker/1 ", 2: "/new a, /other , /mount b, /worker/1 c"} {
		for p := range strings.SplitSeq(paths, ", ") {
			path, want, _ := strings.Cut(p, " ")
			q := at(path)
			q.VHost = host
			got := ""
			if w := r.kids[0].Match(q); w != nil {
				got = w.Name()
			}
			if got != want {
				t.Errorf("virtual host %d: %s is mapped to %q, want %q", host, path, got, want)
			}
		}
	}
}

// F072: two edits that leave the same size and the same times.
func TestF072TwoEditsInOneSecond(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n")
	r.checks()
	for i := range 20 {
		want := []string{"b", "a"}[i%2]
		r.write("/a/*=" + want + "\n")
		if err := os.Chtimes(r.path, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		r.checks()
		r.want(reloaded+"1 rules", "/a/1 "+want)
	}
}

// F072: what cannot be used is said once, and the old rules stay.
func TestF072UnusableMapFile(t *testing.T) {
	const stays = "error: JkMountFile MAP is not reloaded, the old rules stay: "
	const unread = "error: JkMountFile MAP cannot be read, the old rules stay: "
	const again = "info: JkMountFile MAP can be read again and has not changed"
	remove := func(r *mapRig) {
		if err := os.Remove(r.path); err != nil {
			r.t.Fatal(err)
		}
	}
	text := func(s string) func(*mapRig) { return func(r *mapRig) { r.write(s) } }
	for _, tt := range []struct {
		name       string
		change     func(*mapRig)
		want, back string
	}{
		{"truncated", text(""), stays + "MAP: holds no rule, where there were some: taken for a file that is just being written (to have none, disable one: -/* worker)", reloaded + "1 rules"},
		{"cut", text("/b=b\n/c=wor"), stays + "MAP:2: the last line is not complete: taken for a file that is just being written", reloaded + "1 rules"},
		{"bad pattern", text("/b=b\n*.jsp=a\n"), stays + "MAP:2: *.jsp: invalid mapping rule: the pattern does not begin with '/', did you mean /*.jsp?", reloaded + "1 rules"},
		{"several faults", text("x=b\ny=b\nz=b\n"), stays + "MAP:1: x: invalid mapping rule: the pattern does not begin with '/' (and 2 more)", reloaded + "1 rules"},
		{"binary", text("\x00\x01\x02"), stays + "MAP:1: the line contains a NUL byte", reloaded + "1 rules"},
		{"gone", remove, unread + "no such file or directory", again},
		{"directory", func(r *mapRig) {
			remove(r)
			if err := os.Mkdir(r.path, 0o755); err != nil {
				r.t.Fatal(err)
			}
		}, unread + "is a directory, not a file", again},
		{"FIFO", func(r *mapRig) {
			remove(r)
			if err := syscall.Mkfifo(r.path, 0o644); err != nil {
				r.t.Skip(err)
			}
		}, unread + "is not a regular file", again},
		{"device", func(r *mapRig) {
			remove(r)
			if err := os.Symlink("/dev/zero", r.path); err != nil {
				r.t.Skip(err)
			}
		}, unread + "is not a regular file", again},
		{"link to nowhere", func(r *mapRig) {
			remove(r)
			if err := os.Symlink("nowhere", r.path); err != nil {
				r.t.Skip(err)
			}
		}, unread + "no such file or directory", again},
		{"link in a circle", func(r *mapRig) {
			remove(r)
			if err := os.Symlink(filepath.Base(r.path), r.path); err != nil {
				r.t.Skip(err)
			}
		}, unread + "too many levels of symbolic links", again},
		{"huge", func(r *mapRig) {
			if err := os.Truncate(r.path, 1<<40); err != nil {
				r.t.Skip(err)
			}
		}, unread + "it is larger than the 1048576 bytes that were set aside for it at the start", again},
		{"no permission", func(r *mapRig) {
			if os.Geteuid() == 0 {
				r.t.Skip("the superuser may read everything")
			}
			if err := os.Chmod(r.path, 0); err != nil {
				r.t.Fatal(err)
			}
		}, unread + "permission denied", again},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newMapRig(t, "/a/*=a\n", "/mount b")
			r.checks()
			r.said()
			before := r.seg.Map(0).Generation()
			tt.change(r)
			r.checks()
			r.want(tt.want, "/a/1 a", "/mount b", "/b ")
			for range 3 {
				r.checks()
			}
			r.want("")
			if r.seg.Map(0).Generation() != before {
				t.Error("something was published")
			}
			os.RemoveAll(r.path)
			r.rename("/a/*=a\n")
			r.checks()
			r.want(tt.back, "/a/1 a", "/mount b")
			r.rename("/b=b\n")
			r.checks()
			r.want(reloaded+"1 rules", "/a/1 ", "/b b")
		})
	}
}

// F071: a rule for a worker that is not there is said once and answered 500,
// and the others work.
func TestF071MapFileWithUnknownWorker(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n")
	r.checks()
	r.write("/a/*=b\n/gone/*=jkstatus\n!/gone/x=jkstatus\n/c=c;replytimeout=1\n")
	r.checks()
	r.want("error: Could not find worker with this name in uri map post processing, what the rule matches is answered 500: MAP:2: /gone/*: there is no worker jkstatus in worker.list (w:1)\n"+
		"error: Could not find worker with this name in uri map post processing, what the rule matches is answered 500: MAP:3: !/gone/x: there is no worker jkstatus in worker.list (w:1)\n"+
		"warn: MAP:4: /c: unknown rule extension replytimeout: ignored, did you mean reply_timeout?\n"+
		reloaded+"4 rules", "/a/1 b", "/gone/1 jkstatus", "/gone/x ", "/c c")
	r.checks()
	r.want("")
	err := r.kids[0].Match(at("/gone/1")).Service(request("GET", "/gone/1", ""), &answer{})
	if got, want := fmt.Sprint(err), `worker jkstatus: find worker: Could not find a worker for worker name=jkstatus`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Not a word for each of a thousand.
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "/app%d/*=nobody;b=2\n", i)
	}
	r.write(many.String())
	r.checks()
	if n := strings.Count(r.said(), "\n"); n > 2*mostLines+2 {
		t.Errorf("%d lines", n)
	}
}

// A file that was changed after it was loaded and before it was watched.
// What the start has said of other files is not said again with each change.
func TestMapFileWarningsAreToldOnce(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n", "/a/* b")
	r.checks()
	r.rename("/a/*=a\n/b=b\n")
	r.checks()
	r.want(reloaded+"2 rules", "/b b")
	r.rename("/a/*=a\n/c=c;nonsense=1\n")
	r.checks()
	r.want("warn: MAP:2: /c: unknown rule extension nonsense: ignored\n"+reloaded+"2 rules", "/c c")
	r.rename("/a/*=a\n/c=c;nonsense=1\n/d=c\n")
	r.checks()
	r.want(reloaded+"3 rules", "/d c")
}

func TestMapFileChangedBeforeTheStart(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n")
	r.write("/b=b\n")
	r.checks()
	r.want(reloaded+"1 rules", "/a/1 ", "/b b")
}

// What nobody wants to be looked at is not looked at, and a watcher ends.
func TestMapWatcherRun(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n")
	stop, done := make(chan struct{}), make(chan struct{})
	w := &MapWatcher{Setup: r.setup, Segment: r.seg, Logger: zerolog.New(r.log)}
	r.setup.plan[0].every = reload(10 * time.Millisecond)
	go func() { w.Run(stop); close(done) }()
	r.rename("/b=b\n")
	for end := time.Now().Add(long); r.kids[0].Match(at("/b")) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the new rules did not come")
		}
	}
	close(stop)
	<-done
	for i := range r.setup.plan {
		r.setup.plan[i].every = 0
	}
	w.Run(nil)
}

// Requests go on with the old rules while somebody makes the new ones, and each
// sees rules that were in one text together.
func TestF072MatchWhileReloading(t *testing.T) {
	r := newMapRig(t, "/x=a\n/y=a\n")
	stop, done := make(chan struct{}), make(chan struct{})
	for _, c := range r.kids {
		for range 2 {
			go func() {
				defer func() { done <- struct{}{} }()
				for {
					select {
					case <-stop:
						return
					default:
					}
					m := c.current()
					x, y := m.setup.Maps[0].Match([]byte("/x")), m.setup.Maps[0].Match([]byte("/y"))
					if x == nil || y == nil || x.Worker != y.Worker || m.targets[0][x] == nil || m.targets[0][y].Name() != x.Worker {
						t.Errorf("%+v, %+v", x, y)
						return
					}
				}
			}()
		}
	}
	for i := range 200 {
		w := []string{"b", "a", "c"}[i%3]
		text := "/x=" + w + "\n/y=" + w + "\n"
		r.watch.judge(r.watch.files[0], []byte(text), filestamp.Stamp{})
	}
	close(stop)
	for range 2 * len(r.kids) {
		<-done
	}
	r.said()
	r.want("", "/x a", "/y a")
}

// What is not in a changed file keeps its targets, and nothing that is not
// about maps makes new ones.
func TestMappingKeepsTargets(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n", "/mount b")
	c := r.kids[0]
	before := c.current()
	if err := r.seg.Worker(0).SetAddresses(jkshm.Master, jkshm.Addresses{}); err != nil {
		t.Fatal(err)
	}
	if c.current() != before {
		t.Error("an edit of something else has made a new mapping")
	}
	if n := testing.AllocsPerRun(100, func() { c.Match(at("/a/1")) }); n != 0 {
		t.Errorf("a match allocates %v times", n)
	}
	r.write("/b=b\n")
	r.checks()
	if c.current() == before {
		t.Error("the mapping is the old one")
	}
}

// A text in the segment that the child's own judgment refuses changes nothing.
func TestPublishedTextIsJudged(t *testing.T) {
	r := newMapRig(t, "/a/*=a\n")
	r.want("", "/a/1 a")
	if err := r.seg.Map(0).Publish([]byte("rubbish=x\n"), 0); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if w := r.kids[0].Match(at("/a/1")); w == nil || w.Name() != "a" {
			t.Errorf("match %d: %v", i, w)
		}
	}
	if got := r.said(); strings.Count(got, "\n") != 0 || !strings.HasPrefix(got, "error: the published map file cannot be used, the old rules stay: MAP:1: ") {
		t.Error(got)
	}
}

// FuzzMapReload: whatever a map file holds, either all processes have exactly
// the rules that the master has made of it, each with something to serve it, or
// all of them keep what they had.
func FuzzMapReload(f *testing.F) {
	for _, s := range []string{
		"", "\n", "/a/*=a\n", "/a|/*=a;reply_timeout=5\n!/a/x=*\n-/b=b\n", "/x=gone\n!/x/y=gone\n", "/a=a", "/a", "x", "/=a\n/a=b\n/a=c\n",
		"$(x)=a\n/$(y)=$(z)\n", "v=/a\n$(v)/*=a\n", "\xef\xbb\xbf/a=a\r\n", "\xff\xfe/\x00", "/a=a;active=b,c;disabled=b\n", "/*=a\n/?*?=b;session_path=;x\n",
		"/%41=a\n//a=a\n/a;b=a\n/../a=a\n", "# c\n/a = a # c\n", strings.Repeat("/a=a\n", 100), "/" + strings.Repeat("a", 9000) + "=a\n", "/a=*\n!*=a\n",
	} {
		f.Add([]byte(s))
	}
	r := newMapRig(f, "/a/*=a\n/b=b\n", "/mount b")
	paths := [][]byte{[]byte("/"), []byte("/a"), []byte("/a/x"), []byte("/b"), []byte("/mount"), []byte("/worker/x"), []byte("/x"), []byte("/x/y")}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newMapWatch(&MapWatcher{Setup: r.setup, Segment: r.seg, Logger: zerolog.Nop()})
		file := w.files[0]
		if len(data) > file.limit {
			return
		}
		c := r.kids[0]
		before, published := c.current(), file.pub.Generation()
		w.judge(file, data, filestamp.Stamp{})
		after := c.current()
		if file.pub.Generation() == published {
			if after != before || w.setup != r.setup {
				t.Error("a refused text has changed something")
			}
			return
		}
		if after == before {
			t.Fatal("the text was not taken over")
		}
		for i, u := range w.setup.Maps {
			got := after.setup.Maps[i]
			if !reflect.DeepEqual(got.Rules(), u.Rules()) {
				t.Fatalf("server %d has %s, the master %s", i, rules(got), rules(u))
			}
			for _, rule := range got.rules {
				if target := after.targets[i][rule]; (target == nil) != (rule.Exclude || rule.Disabled) || target != nil && target.Name() != rule.Worker {
					t.Errorf("%s: target %v", rule.key(), target)
				}
			}
			q := &connector.Request{VHost: i}
			for _, q.MatchPath = range append(paths, data) {
				rule := u.Match(q.MatchPath)
				w := c.Match(q)
				if (w == nil) != (rule == nil || len(q.MatchPath) > longestURI) || w != nil && w.Name() != rule.Worker {
					t.Errorf("server %d: %q: %v, the master has %+v", i, q.MatchPath, w, rule)
				}
			}
		}
	})
}
