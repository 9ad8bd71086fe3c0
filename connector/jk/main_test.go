package jk

import (
	"fmt"
	"os"
	"testing"
)

// helperVar names what a test binary is to do that was started by a test.
const helperVar = "JKD_JK_HELPER"

// helpers are other processes. What one returns as an error goes to standard
// error and makes the exit status 1.
var helpers = map[string]func() error{}

func TestMain(m *testing.M) {
	name := os.Getenv(helperVar)
	if name == "" {
		os.Exit(m.Run())
	}
	f, ok := helpers[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no helper", name)
		os.Exit(2)
	}
	if err := f(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
