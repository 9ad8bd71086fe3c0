//go:build unix

package child

import (
	"errors"

	"github.com/rs/zerolog"

	"jkd/mpm"
)

// Options are what the program adds to what the master sends.
type Options struct {
	// Build decodes the configuration snapshot, which is exactly what the
	// master was given, and makes the module and the handler of connections
	// from it. c is complete, so the handler may keep c.Stopping and the
	// descriptors of its log files; Build may set c.Logger. It must not keep
	// the snapshot. Its error ends the child: with the code of an
	// *mpm.AttachError in it, else as sick.
	Build func(snapshot []byte, c *mpm.Child) (mpm.Module, mpm.ConnHandler, error)
	// Logger reports why a child could not start, and is c.Logger before
	// Build.
	Logger zerolog.Logger
}

// Run makes this process a child and serves until it is told to leave. The
// caller exits with the result at once.
func Run(o Options) mpm.ExitCode {
	c, snapshot, err := mpm.AttachChild()
	if err != nil {
		return fail(o.Logger, err)
	}
	c.Logger = o.Logger
	module, handler, err := o.Build(snapshot, c)
	if err == nil {
		err = check(module, handler, c)
	}
	if err != nil {
		return fail(o.Logger.With().Int("server", c.Server).Uint32("generation", c.Generation).Logger(), err)
	}
	return module.Run(c, handler)
}

// check compares what was built with what the master has: they come from the
// same bytes, so a difference is a fault of ours.
func check(m mpm.Module, h mpm.ConnHandler, c *mpm.Child) error {
	l := c.Board.Layout()
	switch {
	case h == nil || m.Run == nil:
		return &mpm.AttachError{Code: mpm.ExitFatal, Err: errors.New("child: nothing to run")}
	case m.ServerLimit != l.ServerLimit || m.ThreadLimit != l.ThreadLimit:
		return &mpm.AttachError{Code: mpm.ExitFatal, Err: errors.New("child: the module does not fit the scoreboard")}
	}
	return nil
}

func fail(log zerolog.Logger, err error) mpm.ExitCode {
	log.Error().Err(err).Msg("child could not start")
	if e, ok := errors.AsType[*mpm.AttachError](err); ok {
		return e.Code
	}
	return mpm.ExitSick
}
