//go:build unix

// Package mpmtest tests multi-processing modules: a table format for their
// plans, and a suite that runs a module with real processes, which are the
// test binary executed again. A module's TestMain calls [Main].
package mpmtest
