package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayImport is the drawing in HACKING.md: for each package of the module the
// packages of the module it may import.
var mayImport = map[string][]string{
	// layer 0
	"shm":                   {},
	"conf":                  {"conf/apache", "conf/packed"},
	"conf/apache":           {},
	"conf/packed":           {},
	"mpm/sock":              {},
	"connector":             {},
	"connector/ajp":         {"connector", "mpm/sock"},
	"connector/ajp/ajptest": {"connector/ajp"},
	// layer 1
	"scoreboard":           {"shm"},
	"connector/filestamp":  {},
	"connector/counters":   {"shm"},
	"connector/dial":       {"connector/ajp", "connector/resolve"},
	"connector/sheet":      {},
	"connector/resolve":    {},
	"connector/forwarduri": {"conf", "connector"},
	// layer 2
	"mpm":                     {"mpm/sock", "scoreboard", "shm"},
	"mpm/mpmtest":             {"mpm", "mpm/sock", "scoreboard", "shm"},
	"connector/jk/balance":    {},
	"connector/jk/jkshm":      {"connector/jk/balance", "connector/sheet"},
	"connector/jk/status":     {"conf", "connector", "connector/jk/balance"},
	"connector/jk":            {"connector", "connector/counters", "connector/ajp", "connector/filestamp", "connector/forwarduri", "connector/jk/balance", "connector/jk/jkshm", "connector/jk/status", "connector/dial", "connector/resolve", "conf", "shm", "mpm/sock"},
	"connector/jk2":           {"connector", "connector/counters", "connector/filestamp", "connector/jk/balance", "connector/dial", "connector/resolve", "connector/ajp", "connector/forwarduri", "connector/jk2/board", "connector/jk2/jk2shm", "connector/jk2/lb", "connector/jk2/status", "conf", "shm", "mpm/sock"},
	"connector/jk2/board":     {"connector/sheet"},
	"connector/jk2/jk2shm":    {},
	"connector/jk2/status":    {"connector", "connector/jk2/jk2shm"},
	"connector/jk2/lb":        {"connector/jk/balance"},
	"connector/proxy/http1":   {"connector"},
	"connector/proxy":         {"connector", "connector/counters", "connector/forwarduri", "connector/dial", "connector/resolve", "connector/ajp", "connector/proxy/http1", "conf", "mpm/sock"},
	"connector/files":         {"conf", "connector"},
	"connector/redirect":      {"conf", "connector", "connector/forwarduri"},
	"connector/connectortest": {"connector", "connector/ajp", "connector/ajp/ajptest", "connector/dial", "mpm/sock"},
	// layer 3
	"mpm/prefork": {"mpm", "mpm/sock", "scoreboard"},
	"mpm/worker":  {"mpm", "mpm/sock", "scoreboard"},
	// layer 4
	"cmd/jkd/internal/logformat":  {"connector"},
	"cmd/jkd/internal/headers":    {"connector"},
	"cmd/jkd/internal/httpd":      {"connector", "connector/counters", "scoreboard", "mpm/sock", "cmd/jkd/internal/logformat", "cmd/jkd/internal/headers"},
	"cmd/jkd/internal/master":     {"mpm", "mpm/sock", "conf", "scoreboard", "shm"},
	"cmd/jkd/internal/child":      {"mpm", "mpm/sock", "conf", "scoreboard", "shm"},
	"cmd/jkd/internal/status":     {"connector", "connector/counters", "scoreboard"},
	"cmd/jkd/internal/control":    {"cmd/jkd/internal/status", "mpm/sock"},
	"cmd/jkd/internal/top":        {"cmd/jkd/internal/status", "connector/counters", "scoreboard"},
	"cmd/jkd/internal/demo":       {},
	"cmd/jkd/internal/users":      {"conf"},
	"cmd/jkd/internal/pipedlog":   {},
	"cmd/jkd/internal/keeper":     {},
	"cmd/jkd/internal/title":      {},
	"cmd/jkd/internal/peertest":   {},
	"cmd/jkd/internal/tomcattest": {"cmd/jkd/internal/peertest"},
	"cmd/jkd/internal/apachetest": {"cmd/jkd/internal/peertest"},
	// The bench runs programs and imports none of them.
	"bench/internal/httpback":  {},
	"bench/internal/proc":      {},
	"bench/internal/plot":      {},
	"bench/internal/result":    {},
	"bench/internal/measure":   {"bench/internal/proc"},
	"bench/internal/load":      {"bench/internal/proc"},
	"bench/internal/contender": {"bench/internal/proc", "bench/internal/measure"},
	"bench/internal/report":    {"bench/internal/plot", "bench/internal/result"},
	"bench/internal/scenario":  {"bench/internal/contender", "bench/internal/load", "bench/internal/measure", "bench/internal/plot", "bench/internal/proc", "bench/internal/result"},
	"bench":                    {"bench/internal/contender", "bench/internal/httpback", "bench/internal/proc", "bench/internal/report", "bench/internal/result", "bench/internal/scenario"},
	// layer 5, the wiring, may import everything and is not listed.
}

const wiring = "cmd/jkd"

// homes are the only packages that may import a library; "mpm/" means mpm and
// what is below it.
var homes = map[string][]string{
	"github.com/cloudflare/tableflip": {"cmd/jkd/internal/master"},
	"github.com/valyala/fasthttp":     {"cmd/jkd/internal/httpd", "connector/proxy/http1"},
	"gopkg.in/ini.v1":                 {"conf"},
	"github.com/tg123/go-htpasswd":    {"cmd/jkd/internal/users"},
	"golang.org/x/sys":                {"shm", "mpm/"},
	"golang.org/x/term":               {"cmd/jkd/internal/top"},
	"gonum.org/v1":                    {"bench/internal/plot"},
}

// silent packages return errors and do not log.
var silent = []string{"shm", "conf", "conf/apache", "conf/packed", "mpm/sock", "connector", "connector/ajp", "connector/proxy/http1", "connector/files", "connector/redirect", "connector/jk/balance", "connector/jk/jkshm", "connector/jk2/board", "connector/jk2/jk2shm", "connector/jk2/lb", "connector/jk2/status", "connector/sheet", "connector/filestamp", "connector/counters", "connector/dial", "connector/resolve", "connector/forwarduri", "scoreboard"}

func TestLayers(t *testing.T) {
	root := sourceTree(t)
	for _, goos := range []string{"linux", "freebsd"} {
		cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, stderr.String())
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			for _, fault := range layerFaults(fields[0], fields[1:]) {
				t.Errorf("%s: %s", goos, fault)
			}
		}
	}
}

func TestLayerFaults(t *testing.T) {
	for _, tt := range []struct {
		pkg     string
		imports []string
		faults  int
	}{
		{"jkd/mpm", []string{"os", "jkd/shm", "golang.org/x/sys/unix"}, 0},
		{"jkd/mpm/worker", []string{"golang.org/x/sys/unix"}, 0},
		{"jkd/mpm", []string{"jkd/connector"}, 1},
		{"jkd/connector/jk", []string{"jkd/mpm"}, 1},
		{"jkd/shm", []string{"jkd/scoreboard", "github.com/rs/zerolog"}, 2},
		{"jkd/cmd/jkd", []string{"jkd/conf", "jkd/mpm/worker"}, 0},
		{"jkd/cmd/jkd", []string{"github.com/cloudflare/tableflip"}, 1},
		{"jkd/cmd/jkd", []string{"gonum.org/v1/plot"}, 1},
		{"jkd/bench/internal/scenario", []string{"jkd/connector"}, 1},
		{"jkd/somewhere", []string{"os"}, 1},
	} {
		if got := layerFaults(tt.pkg, tt.imports); len(got) != tt.faults {
			t.Errorf("%s %q: %q, want %d faults", tt.pkg, tt.imports, got, tt.faults)
		}
	}
}

// layerFaults tells what is wrong with the imports of one package of ours.
func layerFaults(pkg string, imports []string) (faults []string) {
	pkg = strings.TrimPrefix(pkg, "jkd/")
	allowed, known := mayImport[pkg]
	if !known && pkg != wiring {
		return []string{pkg + " has no place in the drawing: see mayImport"}
	}
	for _, imp := range imports {
		if own, ok := strings.CutPrefix(imp, "jkd/"); ok {
			if pkg != wiring && !slices.Contains(allowed, own) {
				faults = append(faults, pkg+" must not import "+own)
			}
			continue
		}
		if strings.HasPrefix(imp, "github.com/rs/zerolog") && slices.Contains(silent, pkg) {
			faults = append(faults, pkg+" must not log: it imports "+imp)
		}
		for lib, where := range homes {
			if imp != lib && !strings.HasPrefix(imp, lib+"/") {
				continue
			}
			if !slices.ContainsFunc(where, func(home string) bool {
				return pkg == strings.TrimSuffix(home, "/") || strings.HasSuffix(home, "/") && strings.HasPrefix(pkg, home)
			}) {
				faults = append(faults, pkg+" must not import "+imp+": that is for "+strings.Join(where, ", "))
			}
		}
	}
	return faults
}

// sourceTree is the root of the module; without the tree or the go tool the
// test is skipped, as when the test binary runs on another machine.
func sourceTree(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go tool")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(mod), "module jkd\n") {
		t.Skip("needs the source tree")
	}
	return root
}
