//go:build unix

package main_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/connector/ajp/ajptest"
)

// probe is a request that is sent to Apache with mod_jk and to jkd.
type probe struct {
	line   string // method and target, or the whole request line
	fields []string
	body   string
	// differs are the names of the differences between the two that are known
	// and meant.
	differs []string
}

// ask makes a probe without a body.
func ask(line string, fields ...string) probe { return probe{line: line, fields: fields} }

// with adds a body of known length.
func (p probe) with(body string) probe {
	p.body = body
	p.fields = append(slices.Clip(p.fields), "Content-Length: "+strconv.Itoa(len(body)))
	return p
}

// raw adds a body and nothing that announces it.
func (p probe) raw(body string) probe {
	p.body = body
	return p
}

// but names the differences that are known and meant.
func (p probe) but(names ...string) probe {
	p.differs = names
	return p
}

// text is the request as sent. HTTP/1.1 and a Host field are added where they
// are missing; a field "-" only keeps Host from being added.
func (p probe) text() string {
	var b strings.Builder
	b.WriteString(p.line)
	if strings.Count(p.line, " ") < 2 {
		b.WriteString(" HTTP/1.1")
	}
	b.WriteString("\r\n")
	if !slices.ContainsFunc(p.fields, func(f string) bool { return f == "-" || strings.HasPrefix(strings.ToLower(f), "host:") }) {
		b.WriteString("Host: main.test\r\n")
	}
	for _, f := range p.fields {
		if f != "-" {
			b.WriteString(f + "\r\n")
		}
	}
	return b.String() + "\r\n" + p.body
}

// ofAnswer are the fields that do not come from a container.
var ofAnswer = map[string]bool{
	"status": true, "worker": true, "page": true, "set-cookie": true, "www-authenticate": true, "informational": true, "answer": true, "fault": true,
	"location": true, "content-range": true, "accept-ranges": true, "last-modified": true, "content-encoding": true, "allow": true, "retry-after": true,
	"etag": true, "content-type": true, "content-length": true,
}

// name tells probes apart in messages.
func (p probe) name() string {
	s := p.line
	for _, f := range p.fields {
		if f != "-" {
			s += " | " + f
		}
	}
	return s
}

// send sends p on a connection of its own and returns what came of it, field
// by field. Values that depend on the connection are replaced.
// answered takes what of the answer counts.
func (p probe) send(t *testing.T, c *containers, addr string, answered func(seen map[string]string, r *http.Response, body []byte)) map[string]string {
	t.Helper()
	seen := map[string]string{}
	k := dial(t, addr)
	defer k.Close()
	if _, err := io.WriteString(k, p.text()); err != nil {
		t.Fatalf("%s: %v", p.name(), err)
	}
	method, _, _ := strings.Cut(p.line, " ")
	for {
		r, err := k.response(method)
		if err != nil {
			seen["status"] = "none: " + err.Error()
			break
		}
		if r.StatusCode < 200 {
			seen["informational"] += strconv.Itoa(r.StatusCode) + " "
			continue
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			seen["answer"] = "cut: " + err.Error()
		}
		answered(seen, r, body)
		break
	}
	_, port, _ := net.SplitHostPort(addr)
	var workers []string
	for _, a := range c.take() {
		workers = append(workers, a.container)
		arrived(seen, a, port) // the last one counts
	}
	seen["worker"] = strings.Join(workers, " ")
	if faults := c.faults(); faults != "" {
		seen["fault"] = faults
	}
	return seen
}

// answered takes what the client sees of a container's answer.
func answered(seen map[string]string, r *http.Response, body []byte) {
	seen["status"] = strconv.Itoa(r.StatusCode)
	if v := r.Header.Values("Set-Cookie"); v != nil {
		seen["set-cookie"] = strings.Join(v, " | ")
	}
	if v := r.Header.Get("WWW-Authenticate"); v != "" {
		seen["www-authenticate"] = v
	}
	switch {
	case strings.HasPrefix(string(body), "from "):
		seen["page"] = string(body)
	case len(body) > 0:
		seen["page"] = "the front's"
	}
}

// arrived takes what the container has seen.
func arrived(seen map[string]string, a arrival, port string) {
	r := a.request
	maps.DeleteFunc(seen, func(name, _ string) bool { return !ofAnswer[name] })
	seen["method"], seen["protocol"], seen["uri"] = r.Method, r.Protocol, r.URI
	seen["remote_addr"], seen["remote_host"] = r.RemoteAddr, r.RemoteHost
	if r.RemoteHostNull {
		seen["remote_host"] = "null"
	}
	seen["server_name"], seen["server_port"] = r.ServerName, strings.Replace(strconv.Itoa(r.ServerPort), port, "PORT", 1)
	seen["is_ssl"] = strconv.FormatBool(r.IsSSL)
	seen["body"] = a.body
	var fields []string
	for _, h := range r.Headers {
		f := fmt.Sprintf("%s: %s", h.Name, strings.ReplaceAll(h.Value, ":"+port, ":PORT"))
		if h.Coded() {
			f = "coded " + f
		}
		fields = append(fields, f)
	}
	seen["fields"] = strings.Join(fields, "\n")
	for _, at := range r.Attributes {
		v := attribute(r, at.Name)
		if _, err := strconv.Atoi(v); err == nil && at.Name == "AJP_REMOTE_PORT" && v != "0" {
			v = "a port"
		}
		seen["attribute "+at.Name] += "=" + v
	}
	seen["attribute order"] = strings.Join(r.AttrNames(), " ")
	if r.MethodCode == ajptest.MethodStored {
		seen["method"] += " (stored)"
	}
}

// disagreements are the fields in which two observations differ. What a
// container has seen is compared only if both requests reached one.
func disagreements(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	if a["worker"] == "" || b["worker"] == "" {
		maps.DeleteFunc(all, func(name, _ string) bool { return !ofAnswer[name] })
	}
	var out []string
	for name := range all {
		va, oka := a[name]
		vb, okb := b[name]
		if va != vb || oka != okb {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// TestDifferential sends the same requests through Apache with mod_jk and
// through jkd, both with the same workers.properties and
// uriworkermap.properties, and compares what reaches the containers and what
// the client sees. Where the two differ, the probe must say so, and for each
// such difference there is a reason.
func TestDifferential(t *testing.T) {
	apachetest.Require(t)
	c := newContainers(t, "c1", "c2", "c3", "c4", "c5", "c6")
	workers := c.properties(strings.ReplaceAll(diffWorkers, "@dead@", strconv.Itoa(deadPort(t))))
	files := map[string]string{"uriworkermap.properties": diffMap, "workers.properties": workers}

	apache := apachetest.StartT(t, apachetest.Options{
		MPM: "worker", Modules: []string{"env", "setenvif"}, Config: diffHTTPD, Files: files,
	})
	jkd := start(t, binary(t), config{mpm: "prefork", name: "main.test", workers: workers, jk: strings.Split(diffJkd, "\n"), files: files})

	used := map[string]bool{}
	reached := map[string]int{}
	for _, group := range modJk.groups {
		// One after the other, so that balancers of both see the same requests
		// in the same order.
		t.Run(group.name, func(t *testing.T) {
			want := make([]map[string]string, len(group.probes))
			for i, p := range group.probes {
				want[i] = p.send(t, c, apache.Addr(), answered)
			}
			for i, p := range group.probes {
				got := p.send(t, c, jkd.addr, answered)
				for _, w := range strings.Fields(got["worker"]) {
					reached[w]++
				}
				modJk.compare(t, p, fmt.Sprintf("%d. %.200s", i+1, p.name()), want[i], got, used)
			}
		})
	}
	for _, share := range diffShares {
		for name, addr := range map[string]string{"Apache": apache.Addr(), "jkd": jkd.addr} {
			got := map[string]int{}
			for range 60 {
				got[ask("GET "+share.mount+"x").send(t, c, addr, answered)["worker"]]++
			}
			if !maps.Equal(got, share.want) {
				t.Errorf("%s: %s gives %v of 60 requests, want %v", name, share.mount, got, share.want)
			}
		}
	}
	n := modJk.requests()
	if n < 200 {
		t.Errorf("%d requests, want at least 200", n)
	}
	for name := range c.byName {
		if reached[name] < 3 {
			t.Errorf("%d requests reached %s: the table is of little use", reached[name], name)
		}
	}
	if t.Failed() {
		return // the rest would only repeat it
	}
	modJk.unused(t, used)
	t.Logf("%d requests, %d kinds of difference", n, len(differences))
}

// unused reports differences that no request has shown.
func (c *comparison) unused(t *testing.T, used map[string]bool) {
	t.Helper()
	for _, d := range c.differences {
		if !used[d.name] {
			t.Errorf("no request shows the difference %q", d.name)
		}
	}
}

// compare checks that the two observations differ exactly where p says.
func (c *comparison) compare(t *testing.T, p probe, name string, apache, jkd map[string]string, used map[string]bool) {
	t.Helper()
	all := disagreements(apache, jkd)
	left := slices.Clone(all)
	fieldsA, fieldsJ := apache["fields"], jkd["fields"]
	explained := false
	for _, id := range p.differs {
		d := c.difference(id)
		if d == nil {
			t.Errorf("%s: there is no difference named %q", name, id)
			continue
		}
		before := len(left)
		left = slices.DeleteFunc(left, func(field string) bool { return d.covers(field) })
		if len(left) == before && !d.unsteady && d.same == nil {
			t.Errorf("%s: does not show the difference %q", name, id)
		}
		if d.check != nil && !d.check(p, apache, jkd) {
			t.Errorf("%s: differs otherwise than %q says:\n%s", name, id, show(all, apache, jkd))
		}
		if d.same != nil {
			a, j := d.same(fieldsA), d.same(fieldsJ)
			if a == fieldsA && j == fieldsJ {
				t.Errorf("%s: does not show the difference %q", name, id)
			}
			fieldsA, fieldsJ, explained = a, j, true
		}
		used[id] = true
	}
	if explained && fieldsA != fieldsJ {
		t.Errorf("%s: the header fields differ in more than %q:\n  Apache %q\n  jkd    %q", name, p.differs, fieldsA, fieldsJ)
	}
	if len(left) > 0 {
		t.Errorf("%s: differs in %s:\n%s", name, strings.Join(left, ", "), show(left, apache, jkd))
	}
}

func show(fields []string, apache, jkd map[string]string) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "  %s:\n    Apache %q\n    jkd    %q\n", f, apache[f], jkd[f])
	}
	return b.String()
}

// target is the request target of p.
func (p probe) target() string {
	return strings.Fields(p.line)[1]
}
