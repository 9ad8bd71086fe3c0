// Package scenario has what the bench measures, a file for each scenario: which
// contenders, before which back end, under which load.
package scenario
