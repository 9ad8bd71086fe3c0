//go:build unix

package keeper

// kin is what a process is to the keeper.
type kin uint8

const (
	kinNone       kin = iota // no such process, or none of the keeper's
	kinDescendant            // a child, or child of a child and so on
	kinDead                  // one that has ended, but nobody has waited for it
	kinUnknown               // it exists, more the system does not tell
)

func (k kin) String() string {
	switch k {
	case kinDescendant:
		return "descendant"
	case kinDead:
		return "dead descendant"
	case kinUnknown:
		return "unknown"
	}
	return "none"
}

// maxDepth bounds how far up a process's ancestors are looked at, and
// maxProcesses how many descendants are listed.
const (
	maxDepth     = 64
	maxProcesses = 1 << 16
)
