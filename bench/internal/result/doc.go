// Package result holds what was measured: samples of one round each, grouped in
// sections, and the statistics over rounds.
package result
