// Package report writes results for people: what of the goals is reached, a
// table for each load, and the figures.
package report
