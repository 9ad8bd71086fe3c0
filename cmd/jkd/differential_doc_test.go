//go:build unix

package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "write the documents that are made of tests")

// comparison is what Apache and jkd are asked, and how they differ.
type comparison struct {
	file        string // the document made of it, below the top of the tree
	test        string // that holds it to the list
	head, tail  string // of the document; the head is told the number of requests
	groups      []probeGroup
	differences []difference
	names       bool // examples tell their group
}

func (c *comparison) difference(name string) *difference {
	i := slices.IndexFunc(c.differences, func(d difference) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return &c.differences[i]
}

// requests is how many there are.
func (c *comparison) requests() (n int) {
	for _, g := range c.groups {
		n += len(g.probes)
	}
	return n
}

var modJk = comparison{
	file: "docs/mod_jk-differences.md", test: "TestDifferencesDocument",
	head: differencesHead, tail: differencesTail, groups: diffGroups, differences: differences,
}

const differencesHead = `# Where jkd differs from Apache with mod_jk

jkd reads the workers.properties and uriworkermap.properties that mod_jk reads,
and what reaches the container is meant to be the same. A test
(` + "`cmd/jkd/differential_test.go`" + `) sends %d requests through Apache 2.4 with
mod_jk 1.2 and through jkd, with the same files for both, and compares which
container each request reaches, everything in the packet (method, path, query,
header fields in their order, attributes, addresses, ports, body) and what the
client sees. These are all the differences it finds, and why they are meant.
Every other request of the test is treated alike.

Apache runs with ` + "`AllowEncodedSlashes NoDecode`" + ` and is otherwise as it
comes. The document is written by the test; edit the list there.
`

// differencesTail is what requests do not show.
const differencesTail = `
## In the files

These concern the start and not requests, and other tests hold them.

- **Mistakes.** A rule of a map file that is wrong, a mount to a worker that is
  not in worker.list, a value that is no number: mod_jk logs some of them and
  goes on without, jkd does not start (` + "`jkd -t`" + ` says where and what). While
  running, a map file that has become wrong leaves the old rules in force;
  mod_jk goes over to older ones.
- **Blanks** around ` + "`;`" + ` in a rule are no part of the worker's name.
- **Switches of rules** take numbers: mod_jk reads ` + "`sticky_ignore=true`" + ` as 0,
  jkd refuses it.
- **recovery_options** that is not given counts as 27: once a request has been
  sent, only GET and HEAD are sent again. mod_jk repeats everything. And nothing
  is ever sent again when a byte of the answer has reached the client.
- **A container that is gone.** A member whose port refuses a connect is in error
  at once, for all processes. mod_jk goes on to try it for
  error_escalation_time while it has other requests in hand, and requests that
  are about to fail there are such.
- **Virtual hosts.** What no virtual host claims is served by the main server.
  Apache gives it to the first virtual host of the address.
- **prefork** has one pool for all balancers' values: its children balance as
  one also in who is next among equals.
- **The status worker** wants a POST or its page's token for changes; its
  documents are mod_jk's, but for what ` + "`go doc ./connector/jk/status`" + ` lists.
`

// render makes the document.
func (c *comparison) render() string {
	var b strings.Builder
	fmt.Fprintf(&b, c.head, c.requests())
	for _, d := range c.differences {
		fmt.Fprintf(&b, "\n## %s\n\n", d.title)
		fmt.Fprintf(&b, "- Apache %s\n- jkd %s\n- Why: %s\n", d.apache, d.jkd, d.reason)
		var shown []string
		total := 0
		for _, g := range c.groups {
			for _, p := range g.probes {
				if !slices.Contains(p.differs, d.name) {
					continue
				}
				total++
				e := p.example()
				if c.names {
					e = g.name + ": " + e
				}
				if len(shown) < 3 && !slices.Contains(shown, e) {
					shown = append(shown, e)
				}
			}
		}
		fmt.Fprintf(&b, "- For example (%d in the test):\n\n", total)
		for _, e := range shown {
			fmt.Fprintf(&b, "      %s\n", e)
		}
	}
	b.WriteString(c.tail)
	return b.String()
}

// example is p in one line of reasonable length.
func (p probe) example() string {
	s := p.name()
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:97], "") + "..."
	}
	return s
}

// document holds the document to the list and the table.
func (c *comparison) document(t *testing.T) {
	names := map[string]bool{}
	for _, d := range c.differences {
		if names[d.name] || d.title == "" || d.apache == "" || d.jkd == "" || d.reason == "" || len(d.fields) == 0 && d.same == nil {
			t.Errorf("difference %q is incomplete or there twice", d.name)
		}
		names[d.name] = true
	}
	for _, g := range c.groups {
		for _, p := range g.probes {
			for _, name := range p.differs {
				if !names[name] {
					t.Errorf("%s: there is no difference named %q", p.name(), name)
				}
			}
		}
	}
	want := c.render()
	path := filepath.Join(sourceTree(t), c.file)
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the list makes; write it with: go test ./cmd/jkd -run %s -update", c.file, c.test)
	}
}

func TestDifferencesDocument(t *testing.T) { modJk.document(t) }
