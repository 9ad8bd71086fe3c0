package jk

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector/filestamp"
	"jkd/connector/jk/jkshm"
)

// MapWatcher is what the master does for the map files of all its children
// (JkMountFileReload): it notices that one has changed, judges the new text and
// publishes it. The children read no files and take over whatever is published,
// all of them the same text.
type MapWatcher struct {
	Setup   *Setup // as loaded
	Segment *jkshm.Segment
	Logger  zerolog.Logger
}

// Run does so until stop is closed. Without a file to look at it returns at
// once.
func (w *MapWatcher) Run(stop <-chan struct{}) {
	m := newMapWatch(w)
	for len(m.files) > 0 {
		t := time.NewTimer(time.Until(m.round(time.Now())))
		select {
		case <-stop:
			t.Stop()
			return
		case <-t.C:
		}
	}
}

// mapWatch is a MapWatcher at work.
type mapWatch struct {
	setup *Setup // with the texts published last
	files []*watchedFile
	log   zerolog.Logger
}

// watchedFile is one map file.
type watchedFile struct {
	MapFile
	pub   *jkshm.Map
	limit int
	due   time.Time // of the next look

	sight sight
	// text was judged last, published or not.
	text []byte
	// told are the warnings about the text in use. Many are about other files,
	// and what they say has been said at the start.
	told []conf.Warning
	// trouble is why the file could not be read when it was last tried; "" for
	// nothing. It is reported when it begins.
	trouble string
}

func newMapWatch(w *MapWatcher) *mapWatch {
	m := &mapWatch{setup: w.Setup, log: w.Logger}
	for k, f := range w.Setup.MapFiles() {
		if f.Every <= 0 {
			continue
		}
		pub := w.Segment.Map(k)
		// What is larger than a configuration file may be would be refused at
		// the next start.
		watched := &watchedFile{MapFile: f, pub: pub, limit: min(pub.Size(), conf.MaxFile), text: f.Data}
		if r, err := w.Setup.Remap(f.Path, f.Data); err == nil {
			watched.told = r.Warnings
		}
		m.files = append(m.files, watched)
	}
	return m
}

// round looks at the files that are due and returns when the next one is.
func (m *mapWatch) round(now time.Time) (next time.Time) {
	for _, f := range m.files {
		if !now.Before(f.due) {
			f.due = now.Add(m.look(f, now))
		}
		if next.IsZero() || f.due.Before(next) {
			next = f.due
		}
	}
	return next
}

// settle is how long a changed file must stay as it is before it is read: most
// of those who write in place are ready by then.
const settle = 200 * time.Millisecond

// look looks at one file and returns how long to wait until the next look.
func (m *mapWatch) look(f *watchedFile, now time.Time) time.Duration {
	s, err := filestamp.Stat(f.Path)
	if err == nil && s.Size > int64(f.limit) {
		err = filestamp.TooLarge(f.limit)
	}
	if err != nil {
		m.unreadable(f, err)
		return f.Every
	}
	switch f.sight.next(s) {
	case sightSame:
		m.readable(f)
		return f.Every
	case sightChanging:
		return min(settle, f.Every)
	}
	data, s, stable, err := filestamp.Read(f.Path, f.limit)
	switch {
	case err != nil:
		m.unreadable(f, err)
		return f.Every
	case !stable:
		f.sight.next(s)
		return min(settle, f.Every)
	}
	f.sight.read(s, now)
	if bytes.Equal(data, f.text) {
		m.readable(f)
		return f.Every
	}
	f.trouble, f.text = "", data
	m.judge(f, data, s)
	return f.Every
}

// judge publishes a text, or tells why it can't be used.
func (m *mapWatch) judge(f *watchedFile, data []byte, s filestamp.Stamp) {
	r, err := m.setup.Remap(f.Path, data)
	if err == nil {
		err = f.pub.Publish(data, s.Modified)
	}
	if err != nil {
		e := m.log.Error()
		var all conf.Errors
		if errors.As(err, &all) && len(all) > 1 {
			e, err = e.Int("more", len(all)-1), all[0]
		}
		e.Err(err).Msgf("JkMountFile %s is not reloaded, the old rules stay", f.Path)
		return
	}
	m.setup = r.Setup
	for i, fault := range r.Unknown {
		if i == mostLines {
			m.log.Error().Int("more", len(r.Unknown)-i).Msgf("JkMountFile %s has more rules for unknown workers", f.Path)
			break
		}
		m.log.Error().Err(fault).Msg("Could not find worker with this name in uri map post processing, what the rule matches is answered 500")
	}
	lines := 0
	for _, warning := range r.Warnings {
		if warning.Severity == conf.Warn && lines < mostLines && !slices.Contains(f.told, warning) {
			lines++
			m.log.Warn().Msg(warning.String())
		}
	}
	f.told = r.Warnings
	m.log.Info().Msgf("Reloaded urimaps from %s: JkMountFile reloaded, %d rules", f.Path, r.Setup.Maps[f.Servers[0]].fromFile())
}

// mostLines bounds what is said of one text.
const mostLines = 20

// unreadable reports that a file can't be read, when that begins.
func (m *mapWatch) unreadable(f *watchedFile, err error) {
	if f.trouble != err.Error() {
		f.trouble = err.Error()
		m.log.Error().Err(err).Msgf("JkMountFile %s cannot be read, the old rules stay", f.Path)
	}
}

// readable reports that a file which could not be read holds what it held.
func (m *mapWatch) readable(f *watchedFile) {
	if f.trouble != "" {
		f.trouble = ""
		m.log.Info().Msgf("JkMountFile %s can be read again and has not changed", f.Path)
	}
}

// sight is what the looks at a file have found.
type sight struct {
	judged filestamp.Stamp // of the text that was read last; zero before
	last   filestamp.Stamp // at the last look
	// unsure: the text was read so soon after the file changed that another
	// change may have left it the same stamp.
	unsure bool
}

// sighting is what a look calls for.
type sighting uint8

const (
	sightSame     sighting = iota // nothing
	sightChanging                 // another look soon
	sightChanged                  // to read it
)

func (s sighting) String() string {
	switch s {
	case sightSame:
		return "same"
	case sightChanging:
		return "changing"
	case sightChanged:
		return "changed"
	}
	return "sighting(?)"
}

// next takes the stamp of a look. A change counts when two looks in a row have
// found it.
func (v *sight) next(s filestamp.Stamp) sighting {
	settled := s == v.last
	v.last = s
	switch {
	case s == v.judged && !v.unsure:
		return sightSame
	case !settled:
		return sightChanging
	}
	return sightChanged
}

// tick is the coarsest clock of a file system, and something for the one of
// another machine.
const tick = 2 * time.Second

// read notes that the file of stamp s was read at a time.
func (v *sight) read(s filestamp.Stamp, now time.Time) {
	v.judged, v.last = s, s
	v.unsure = now.UnixNano()-max(s.Changed, s.Modified) < int64(tick)
}
