//go:build unix

package keeper

import "slices"

// maxMasters is how many masters may live at the same time. Two are usual: one
// that serves and one that ends what it had begun.
const maxMasters = 16

// unknownStatus is taken for a master's exit status that nobody has told.
const unknownStatus = 1

// member is a living master.
type member struct {
	pid int
	// order is that of announcements; 0: the first master before its own.
	order int
	// left is the status that the master has said it will end with.
	left   int
	leaves bool
}

// lineage is the masters that live, the current one last, and what the last
// one ended with.
type lineage struct {
	members []member
	orders  int // announcements so far
	status  int // of the member with the highest order that has ended
	ofOrder int // that order
}

// begin notes the first master.
func (l *lineage) begin(pid int) { l.members = append(l.members, member{pid: pid}) }

// announce makes pid the current master. It is false if there are too many.
func (l *lineage) announce(pid int) bool {
	m := member{pid: pid}
	if i := l.index(pid); i >= 0 {
		m = l.members[i]
		l.members = slices.Delete(l.members, i, i+1)
	} else if len(l.members) >= maxMasters {
		return false
	}
	l.orders++
	m.order, m.leaves = l.orders, false
	l.members = append(l.members, m)
	return true
}

// leave notes what pid will end with.
func (l *lineage) leave(pid, status int) {
	if i := l.index(pid); i >= 0 {
		l.members[i].left, l.members[i].leaves = status, true
	}
}

// end takes a master out that was waited for. It is false if pid is none.
func (l *lineage) end(pid, status int) bool {
	i := l.index(pid)
	if i < 0 {
		return false
	}
	if m := l.members[i]; m.order >= l.ofOrder {
		l.status, l.ofOrder = status, m.order
	}
	l.members = slices.Delete(l.members, i, i+1)
	return true
}

// vanish takes a master out that somebody else has waited for: its status is
// what it has said. It is false if it has said nothing. Without effect if pid is
// no master.
func (l *lineage) vanish(pid int) (said bool) {
	i := l.index(pid)
	if i < 0 {
		return true
	}
	status := unknownStatus
	if said = l.members[i].leaves; said {
		status = l.members[i].left
	}
	l.end(pid, status)
	return said
}

// current is the master that signals are for; 0: there is none.
func (l *lineage) current() int {
	if len(l.members) == 0 {
		return 0
	}
	return l.members[len(l.members)-1].pid
}

// announced tells whether a master has announced itself yet.
func (l *lineage) announced() bool { return l.orders > 0 }

func (l *lineage) index(pid int) int {
	return slices.IndexFunc(l.members, func(m member) bool { return m.pid == pid })
}
