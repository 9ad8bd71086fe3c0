//go:build !race

package jk

const raceEnabled = false
