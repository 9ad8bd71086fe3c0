//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manual is jkd(8).
const manual = "jkd.8"

func readManual(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(manual)
	if os.IsNotExist(err) {
		t.Skip("needs the source tree: ", manual)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestManualFlags holds the page to the command line: the flags that jkd -h
// lists have an entry and stand in the synopsis, and no others.
func TestManualFlags(t *testing.T) {
	page := readManual(t)
	var usage strings.Builder
	parseFlags([]string{"-h"}, io.Discard, &usage)
	want := names(regexp.MustCompile(`(?m)^  -(\S+)`), usage.String())
	if len(want) < 5 {
		t.Fatalf("jkd -h lists %q only:\n%s", want, usage.String())
	}
	if got := names(regexp.MustCompile(`(?m)^\.It Fl (\w+)`), page); !slices.Equal(got, want) {
		t.Errorf("%s has entries for %q, want %q", manual, got, want)
	}
	_, synopsis, _ := strings.Cut(page, ".Sh SYNOPSIS\n")
	synopsis, _, _ = strings.Cut(synopsis, ".Sh ")
	if got := names(regexp.MustCompile(`(?m)(?:\bFl |\| )([a-zA-Z]+)`), strings.ReplaceAll(synopsis, "prefork | worker", "")); !slices.Equal(got, want) {
		t.Errorf("the synopsis of %s has %q, want %q", manual, got, want)
	}
}

// names are the first groups of all matches, sorted, each once.
func names(re *regexp.Regexp, text string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestManualLint(t *testing.T) {
	readManual(t)
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("no mandoc here")
	}
	if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", manual).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
}
