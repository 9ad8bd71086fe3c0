//go:build unix && !linux

package keeper

// adopts needs a way to ask for parents.
func (p *play) adopts(int) {}
