package conf

import (
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manual is jkd.conf(5).
const manual = "jkd.conf.5"

var (
	manualItem    = regexp.MustCompile(`^\.It Ic (\w+) No =( |$)`)
	manualOption  = regexp.MustCompile(`^\.It Cm (\w+)$`)
	manualContext = regexp.MustCompile(`^Context: (.*)\.$`)
	manualDefault = regexp.MustCompile(`^Default:( |$)`)
)

// TestManualDirectives holds the page to the tables: every directive, under
// all its names, with the sections that know it and a default, and no other.
func TestManualDirectives(t *testing.T) {
	got := map[string][]string{} // sections by lower-case name
	var open []string            // the names of the entry that is being read
	hasDefault := false
	for i, line := range readManual(t) {
		switch {
		case manualItem.MatchString(line):
			if hasDefault {
				t.Errorf("line %d: the entry %s has no Context", i+1, open)
			}
			name := strings.ToLower(manualItem.FindStringSubmatch(line)[1])
			if got[name] != nil || slices.Contains(open, name) {
				t.Errorf("line %d: %s is there twice", i+1, name)
			}
			open, hasDefault = append(open, name), false
		case manualDefault.MatchString(line):
			hasDefault = true
		case manualContext.MatchString(line):
			if !hasDefault || len(open) == 0 {
				t.Errorf("line %d: a Context without an entry and its Default", i+1)
			}
			for _, name := range open {
				got[name] = strings.Split(manualContext.FindStringSubmatch(line)[1], ", ")
			}
			open, hasDefault = nil, false
		}
	}
	if len(open) > 0 {
		t.Errorf("the entry %s has no Context", open)
	}
	want := map[string][]string{}
	for _, section := range sectionNames {
		for name := range directives()[section] {
			want[name] = append(want[name], section)
		}
	}
	for name, sections := range want {
		switch {
		case got[name] == nil:
			t.Errorf("%s is not in %s", name, manual)
		case !slices.Equal(sorted(got[name]), sorted(sections)):
			t.Errorf("%s has context %q in %s, want %q", name, got[name], manual, sections)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s has %s, which is no directive", manual, name)
	}
}

// TestManualJkOptions does the same for the arguments of JkOptions.
func TestManualJkOptions(t *testing.T) {
	lines := readManual(t)
	begin := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, ".It Ic JkOptions ") })
	if begin < 0 {
		t.Fatal("JkOptions is not there")
	}
	var got []string
	for _, line := range lines[begin:] {
		if m := manualOption.FindStringSubmatch(line); m != nil {
			got = append(got, m[1])
		}
		if line == ".El" {
			break
		}
	}
	want := slices.Concat(jkOptionNames, forwardURINames, collapseNames)
	if !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("JkOptions has %q in %s, want %q", got, manual, want)
	}
}

func sorted[E cmp.Ordered](list []E) []E { return slices.Sorted(slices.Values(list)) }

// readManual returns the lines of the page.
func readManual(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(manual)
	if os.IsNotExist(err) {
		t.Skip("needs the source tree: ", manual)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
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
