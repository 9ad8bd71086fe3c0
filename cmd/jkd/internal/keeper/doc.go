//go:build unix

// Package keeper is the process that a supervisor sees of jkd -foreground. A
// reload replaces the master by another process, which a container, daemon(8)
// or systemd would take for the end of the service; so the process that they
// have started is not a master but starts one and stays, as small as it can be,
// until the last master is gone.
//
// # Masters
//
// The keeper starts the first master with the path it was itself called by,
// which after an upgrade may be another file. Each later master is the child of
// the one before. The keeper is the reaper of its descendants, so that they
// become its own children when the processes between have ended. A master gets
// two descriptors, which Inherited finds in the first one and which one master
// hands on to the next:
//
//   - a pipe on which a master writes its pid when it serves (Announce) and its
//     exit status when it is about to end (Leave);
//   - a pipe whose end tells that the keeper is gone (Watch). A master that
//     sees it should stop at once, as if by SIGTERM: the supervisor, to which
//     the service is over, is about to start another, which needs its ports
//     and files.
//
// The current master is the one that has announced itself last of those that
// live. One that has tried to hand over in vain announces itself once more. The
// keeper's own exit status is that of the master that had announced itself last
// of all, 128 and the signal's number if a signal has ended it.
//
// # Signals
//
// HUP, USR1, USR2, TERM, INT, QUIT and WINCH are passed on to the current
// master. Those but TERM, INT and QUIT are held back until the first master has
// announced itself, as they would kill a master that does not listen to them
// yet, or be lost. A master that announces itself after TERM, INT or WINCH went
// to the one before gets that signal too. WINCH is not passed on if a terminal, which sends it when the
// window changes, is the standard input. Masters are in the keeper's process
// group and so get what a terminal sends to the group, INT, QUIT and HUP, twice:
// nobody can tell those from others, but to stop at once two times is to stop at
// once, and a second reload is a reload. What is sent to a whole group or
// control group otherwise is doubled too; WINCH twice means TERM, so a
// supervisor has to send it to the keeper alone (KillMode=mixed). The stop and
// continue signals of job control are left to the kernel.
//
// # The end
//
// Once there is no master the keeper waits for processes that are left,
// children of a master that was killed for example, which end what they are at
// by themselves. A master that announces itself meanwhile is adopted. After
// Options.Patience, or at once if it is told to stop, they get TERM and then
// KILL.
package keeper
