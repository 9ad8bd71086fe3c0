package scoreboard

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
	"unsafe"
)

var update = flag.Bool("update", false, "write testdata/layout.golden anew")

//go:embed testdata/layout.golden
var golden string

//go:embed layout.go
var layoutSource string

// field is one field of a record: where it is, how many words it has, who
// writes it, and which sequence word guards it ("-": none, it is atomic).
type field struct {
	constant string // name in layout.go
	at, n    int
	writer   string
	guard    string
	unit     string
}

type recordLayout struct {
	name   string
	size   int
	fields []field
}

var recordLayouts = []recordLayout{
	{"header", int(unsafe.Sizeof(header{})), []field{
		{"headerMagic", headerMagic, 1, "master", "-", "text"},
		{"headerVersion", headerVersion, 1, "master", "-", "number"},
		{"headerBuildID", headerBuildID, 1, "master", "-", "number"},
		{"headerGeneration", headerGeneration, 1, "master", "-", "number"},
		{"headerServerLimit", headerServerLimit, 1, "master", "-", "count"},
		{"headerThreadLimit", headerThreadLimit, 1, "master", "-", "count"},
		{"headerSize", headerSize, 1, "master", "-", "bytes"},
		{"headerProcessSize", headerProcessSize, 1, "master", "-", "bytes"},
		{"headerWorkerSize", headerWorkerSize, 1, "master", "-", "bytes"},
		{"headerStartTime", headerStartTime, 1, "master", "-", "Unix ns"},
		{"headerRestartTime", headerRestartTime, 1, "master", "-", "Unix ns"},
	}},
	{"global", int(unsafe.Sizeof(globalRecord{})), []field{
		{"globalSeq", globalSeq, 1, "master", "-", "sequence"},
		{"globalCPUUser", globalCPUUser, 1, "master", "globalSeq", "us"},
		{"globalCPUSystem", globalCPUSystem, 1, "master", "globalSeq", "us"},
		{"globalCPUChildrenUser", globalCPUChildrenUser, 1, "master", "globalSeq", "us"},
		{"globalCPUChildrenSystem", globalCPUChildrenSystem, 1, "master", "globalSeq", "us"},
		{"globalBeforeSeq", globalBeforeSeq, 1, "master", "-", "sequence"},
		{"globalBeforeAccesses", globalBeforeAccesses, 1, "master", "globalBeforeSeq", "count"},
		{"globalBeforeBytes", globalBeforeBytes, 1, "master", "globalBeforeSeq", "bytes"},
		{"globalBeforeDuration", globalBeforeDuration, 1, "master", "globalBeforeSeq", "ns"},
		{"globalBeforeCPUUser", globalBeforeCPUUser, 1, "master", "globalBeforeSeq", "us"},
		{"globalBeforeCPUSystem", globalBeforeCPUSystem, 1, "master", "globalBeforeSeq", "us"},
	}},
	{"process", int(unsafe.Sizeof(processRecord{})), []field{
		{"processSeq", processSeq, 1, "master", "-", "sequence"},
		{"processPID", processPID, 1, "master", "processSeq", "number"},
		{"processGeneration", processGeneration, 1, "master", "processSeq", "number"},
		{"processStartTime", processStartTime, 1, "master", "processSeq", "Unix ns"},
		{"processChildSeq", processChildSeq, 1, "child", "-", "sequence"},
		{"processQuiescing", processQuiescing, 1, "child", "-", "bool"},
		{"processNotAccepting", processNotAccepting, 1, "child", "-", "bool"},
		{"processCPUUser", processCPUUser, 1, "child", "processChildSeq", "us"},
		{"processCPUSystem", processCPUSystem, 1, "child", "processChildSeq", "us"},
		{"processConnections", processConnections, 1, "child", "-", "count"},
		{"processParked", processParked, 1, "child", "-", "count"},
	}},
	{"worker", int(unsafe.Sizeof(workerRecord{})), []field{
		{"workerStatus", workerStatus, 1, "thread", "-", "status"},
		{"workerSeq", workerSeq, 1, "thread", "-", "sequence"},
		{"workerAccessCount", workerAccessCount, 1, "thread", "workerSeq", "count"},
		{"workerBytesServed", workerBytesServed, 1, "thread", "workerSeq", "bytes"},
		{"workerMyAccessBase", workerMyAccessBase, 1, "master", "workerSeq", "count"},
		{"workerMyBytesBase", workerMyBytesBase, 1, "master", "workerSeq", "bytes"},
		{"workerConnBase", workerConnBase, 1, "thread", "workerSeq", "count"},
		{"workerConnByteBase", workerConnByteBase, 1, "thread", "workerSeq", "bytes"},
		{"workerStartTime", workerStartTime, 1, "thread", "workerSeq", "Unix ns"},
		{"workerStopTime", workerStopTime, 1, "thread", "workerSeq", "Unix ns"},
		{"workerLastUsed", workerLastUsed, 1, "thread", "workerSeq", "Unix ns"},
		{"workerDuration", workerDuration, 1, "thread", "workerSeq", "ns"},
		{"workerVHost", workerVHost, workerVHostWords, "thread", "workerSeq", "text"},
		{"workerRequest", workerRequest, workerRequestWords, "thread", "workerSeq", "text"},
		{"workerClient", workerClient, workerClientWords, "thread", "workerSeq", "text"},
		{"workerProtocol", workerProtocol, workerProtocolWords, "thread", "workerSeq", "text"},
	}},
}

// dump is the layout as text: offsets and sizes in bytes.
func dump() string {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d, magic %#x, words of %d bytes, least significant first\n", version, uint64(magic), wordSize)
	for _, r := range recordLayouts {
		fmt.Fprintf(&b, "\n%s: %d bytes\n", r.name, r.size)
		fmt.Fprintf(&b, "%6s %4s  %-18s %-7s %-9s %s\n", "offset", "size", "field", "writer", "guard", "unit")
		for _, f := range r.fields {
			fmt.Fprintf(&b, "%6d %4d  %-18s %-7s %-9s %s\n", f.at*wordSize, f.n*wordSize,
				strings.TrimPrefix(f.constant, r.name), f.writer, strings.TrimPrefix(f.guard, r.name), f.unit)
		}
	}
	b.WriteString("\nsegment\n")
	for _, l := range []Layout{{1, 1}, {256, 1}, {16, 64}} {
		fmt.Fprintf(&b, "%d x %d: header 0, global %d, processes %d, workers %d, end %d\n",
			l.ServerLimit, l.ThreadLimit, globalOffset, processOffset, l.workerOffset(), l.size())
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
	notFields := []string{"headerLength", "globalLength", "processLength", "workerLength", "workerText",
		"workerVHostWords", "workerRequestWords", "workerClientWords", "workerProtocolWords",
		"globalOffset", "processOffset", "processSize", "workerSize"}
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
		if r.size == 0 || r.size%line != 0 {
			t.Errorf("%s: %d bytes are no multiple of %d", r.name, r.size, line)
		}
		end := 0
		lineWriter := map[int]string{}
		for _, f := range r.fields {
			if f.at < end {
				t.Errorf("%s begins at word %d, inside the field before it", f.constant, f.at)
			}
			end = f.at + f.n
			// The words the master writes into a worker record are written when
			// there is no thread.
			if r.name != "worker" {
				for w := f.at; w < end; w++ {
					at := w * wordSize / line
					if other := lineWriter[at]; other != "" && other != f.writer {
						t.Errorf("%s: line %d is written by %s and %s", f.constant, at, other, f.writer)
					}
					lineWriter[at] = f.writer
				}
			}
		}
		if end*wordSize > r.size {
			t.Errorf("%s: fields end at %d, the record at %d", r.name, end*wordSize, r.size)
		}
	}
	if globalOffset%line != 0 || processOffset%line != 0 || (Layout{1, 1}).workerOffset()%line != 0 {
		t.Error("records do not begin on lines")
	}
	if end := workerProtocol + workerProtocolWords; end != workerLength {
		t.Errorf("text ends at word %d of %d", end, workerLength)
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		l    Layout
		want int // 0: refused
	}{
		{Layout{1, 1}, 128 + 128 + 256 + 256},
		{Layout{256, 1}, 256 + 256*256 + 256*256},
		{Layout{16, 64}, 256 + 16*256 + 1024*256},
		{Layout{200000, 1}, 256 + 200000*512},
		{Layout{1, 20000}, 256 + 256 + 20000*256},
		{Layout{1024, 1024}, 256 + 1024*256 + 1024*1024*256},
		{Layout{}, 0},
		{Layout{0, 1}, 0},
		{Layout{1, 0}, 0},
		{Layout{-1, 1}, 0},
		{Layout{1, -1}, 0},
		{Layout{-1, -1}, 0},
		{Layout{200001, 1}, 0},
		{Layout{1, 20001}, 0},
		{Layout{1024, 1025}, 0},
		{Layout{200000, 20000}, 0},
		{Layout{1 << 62, 4}, 0},
	}
	for _, tt := range tests {
		got, err := Size(tt.l)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("Size(%+v) = %d, %v; want %d", tt.l, got, err, tt.want)
		}
	}
}
