package jkshm

import (
	_ "embed"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/layout.golden anew")

//go:embed testdata/layout.golden
var golden string

//go:embed layout.go
var layoutSource string

// field is one field of a record.
type field struct {
	constant string // name in layout.go
	at, n    int    // words
	writer   string
	unit     string
}

type recordLayout struct {
	name     string
	words    int
	fields   []field
	settings []span // of one copy
	base     int
	copyLen  int
}

var recordLayouts = []recordLayout{
	{"header", headerLength, []field{
		{"headerMagic", headerMagic, 1, "master", "text"},
		{"headerVersion", headerVersion, 1, "master", "number"},
		{"headerSize", headerSize, 1, "master", "bytes"},
		{"headerHash", headerHash, 1, "master", "number"},
		{"headerServers", headerServers, 1, "master", "count"},
		{"headerWorkers", headerWorkers, 1, "master", "count"},
		{"headerBalancers", headerBalancers, 1, "master", "count"},
		{"headerMembers", headerMembers, 1, "master", "count"},
		{"headerMaps", headerMaps, 1, "master", "count"},
		{"headerToken", headerToken, 2, "master", "random"},
	}, nil, 0, 0},
	{"global", globalLength, []field{
		{"globalEdits", globalEdits, 1, "editor", "count"},
		{"globalHigh", globalHigh, 1, "all", "server"},
		{"globalLock", globalLock, 1, "all", "owner"},
	}, nil, 0, 0},
	{"worker", workerLength, []field{
		{"workerBusyHint", workerBusyHint, 1, "all", "count"},
		{"workerConnectedHint", workerConnectedHint, 1, "all", "count"},
		{"workerUsed", workerUsed, 1, "all", "count"},
		{"workerErrors", workerErrors, 1, "all", "count"},
		{"workerClientErrors", workerClientErrors, 1, "all", "count"},
		{"workerReplyTimeouts", workerReplyTimeouts, 1, "all", "count"},
		{"workerTransferred", workerTransferred, 1, "all", "bytes"},
		{"workerRead", workerRead, 1, "all", "bytes"},
		{"workerState", workerState, 1, "all", "state"},
		{"workerErrorTime", workerErrorTime, 1, "all", "Unix s"},
		{"workerSeq", workerSeq, 1, "editor", "sequence"},
		{"workerMaxBusy", workerMaxBusy, 1, "all", "count"},
		{"workerMaxConnected", workerMaxConnected, 1, "all", "count"},
		{"workerLastReset", workerLastReset, 1, "all", "Unix s"},
		{"workerSuspect", workerSuspect, 1, "all", "bool"},
		{"workerLookUps", workerLookUps, 1, "master", "count"},
	}, spansOf(new(workerConfig), workerConfigWords), workerBase, workerConfigWords},
	{"balancer", balancerLength, []field{
		{"balancerMaxBusy", balancerMaxBusy, 1, "all", "count"},
		{"balancerLastReset", balancerLastReset, 1, "all", "Unix s"},
		{"balancerLastMaintenance", balancerLastMaintenance, 1, "master", "Unix s"},
		{"balancerLastLook", balancerLastLook, 1, "master", "Unix s"},
		{"balancerUnknownRoutes", balancerUnknownRoutes, 1, "all", "count"},
		{"balancerForced", balancerForced, 1, "all", "count"},
		{"balancerNext", balancerNext, 1, "all", "member"},
		{"balancerRouteTold", balancerRouteTold, 1, "all", "Unix s"},
		{"balancerLock", balancerLock, 1, "all", "owner"},
		{"balancerSeq", balancerSeq, 1, "editor", "sequence"},
	}, balancerSpans, balancerBase, balancerConfigWords},
	{"member", memberLength, []field{
		{"memberState", memberState, 1, "all", "state, owner, Unix s"},
		{"memberLBValue", memberLBValue, 1, "all", "load"},
		{"memberElected", memberElected, 1, "all", "count"},
		{"memberSessions", memberSessions, 1, "all", "count"},
		{"memberErrors", memberErrors, 1, "all", "count"},
		{"memberReplyTimeouts", memberReplyTimeouts, 1, "all", "count"},
		{"memberFirstError", memberFirstError, 1, "all", "Unix s"},
		{"memberLastError", memberLastError, 1, "all", "Unix s"},
		{"memberSnapshot", memberSnapshot, 1, "master", "count"},
		{"memberLastReset", memberLastReset, 1, "all", "Unix s"},
		{"memberSeq", memberSeq, 1, "editor", "sequence"},
	}, memberSpans, memberBase, memberConfigWords},
}

// dump is the layout as text: offsets and sizes in bytes.
func dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d, magic %#x, words of %d bytes, least significant first\n", version, uint64(magic), wordSize)
	for _, r := range recordLayouts {
		fmt.Fprintf(&b, "\n%s: %d bytes\n", r.name, r.words*wordSize)
		fmt.Fprintf(&b, "%6s %4s  %-18s %-7s %s\n", "offset", "size", "field", "writer", "unit")
		for _, f := range r.fields {
			fmt.Fprintf(&b, "%6d %4d  %-18s %-7s %s\n", f.at*wordSize, f.n*wordSize, strings.TrimPrefix(f.constant, r.name), f.writer, f.unit)
		}
		if r.base == 0 {
			continue
		}
		fmt.Fprintf(&b, "settings: configured at %d, copies at %d and %d\n", r.base*wordSize, (r.base+r.copyLen)*wordSize, (r.base+2*r.copyLen)*wordSize)
		for _, f := range r.settings {
			fmt.Fprintf(&b, "%6d %4d  %s\n", f.at*wordSize, f.n*wordSize, f.name)
		}
	}
	b.WriteString("\nsegment\n")
	for _, l := range []Layout{{Servers: 1}, testLayout(), {Servers: 256, Workers: []WorkerLayout{{"a"}, {"b"}}, Balancers: []BalancerLayout{{"lb", []int{0, 1}}}}} {
		p := l.place()
		fmt.Fprintf(&b, "%d servers, %d workers, %d balancers, %d members, %d maps: directory %d, workers %d, cells %d, balancers %d, members %d, maps %d, end %d, hash %#x\n",
			l.Servers, len(l.Workers), len(l.Balancers), l.members(), len(l.Maps),
			p.directory, p.workers, p.cells, p.balancers, p.members, p.maps, p.end, l.hash())
	}
	return b.String()
}

// A difference means that processes of two builds would misread each other:
// raise version, then write the file anew with -update.
func TestLayoutGolden(t *testing.T) {
	got := dump()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", "layout.golden"), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != golden {
		t.Errorf("the layout is\n%s\nwant\n%s", got, golden)
	}
}

// The table above names every field of layout.go, and no others.
func TestLayoutComplete(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "layout.go", layoutSource, 0)
	if err != nil {
		t.Fatal(err)
	}
	notFields := []string{"headerLength", "globalLength", "globalOffset",
		"workerLength", "workerBase", "workerConfigWords", "balancerLength", "balancerBase", "balancerConfigWords",
		"memberLength", "memberBase", "memberConfigWords"}
	var inSource, inTable []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				for _, r := range recordLayouts {
					if strings.HasPrefix(n.Name, r.name) && !slices.Contains(notFields, n.Name) {
						inSource = append(inSource, n.Name)
					}
				}
			}
		}
	}
	for _, r := range recordLayouts {
		for _, f := range r.fields {
			inTable = append(inTable, f.constant)
		}
	}
	if !slices.Equal(inSource, inTable) {
		t.Errorf("layout.go has\n%v\nthe table has\n%v", inSource, inTable)
	}
}

func TestLayoutRules(t *testing.T) {
	for _, r := range recordLayouts {
		if r.words == 0 || r.words%lineWords != 0 {
			t.Errorf("%s: %d words are not whole lines", r.name, r.words)
		}
		end := 0
		for _, f := range r.fields {
			if f.at < end {
				t.Errorf("%s begins at word %d, inside the field before it", f.constant, f.at)
			}
			end = f.at + f.n
		}
		if r.base != 0 && (end > r.base || r.base+3*r.copyLen != r.words) || end > r.words {
			t.Errorf("%s: fields end at word %d of %d", r.name, end, r.words)
		}
		at := 0
		for _, f := range r.settings {
			if f.at != at {
				t.Errorf("%s: %s is at word %d, not %d", r.name, f.name, f.at, at)
			}
			at += f.n
		}
		if at > r.copyLen {
			t.Errorf("%s: settings of %d words in %d", r.name, at, r.copyLen)
		}
	}
	if s := spansOf(new(workerConfig), workerConfigWords); !slices.Contains(s, span{"generation", workerGeneration, 1}) {
		t.Errorf("the generation is not at word %d: %v", workerGeneration, s)
	}
	// What each request changes and what it only reads are on different lines.
	if workerSeq/lineWords == workerUsed/lineWords || memberSeq/lineWords == memberLBValue/lineWords ||
		globalEdits/lineWords == globalLock/lineWords {
		t.Error("busy words and quiet ones share a line")
	}
}
