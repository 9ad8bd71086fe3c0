//go:build !race

package jk2

const raceEnabled = false
