//go:build unix

// Package child is what a re-executed process does before its multi-processing
// module runs, and how it ends.
package child
