package status

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"sync"
	"time"

	"jkd/connector/jk2/jk2shm"
)

//go:embed style.css
var style string

//go:embed page.html
var pageText string

// pageTemplate is parsed when the first page is asked for.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(style) },
	}).Parse(pageText))
})

// styleHash is the page's own style in the words of a policy.
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// policy lets the page have its style and its forms, and nothing else. A style
// sheet may be anywhere: the administrator has named it.
func policy(css string) string {
	from := styleHash
	if css != "" {
		from = "*"
	}
	return "default-src 'none'; style-src " + from + "; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// table is one table of the page.
type table struct {
	Title, Note string
	Columns     []string
	Rows        [][]string
	Totals      []string
}

// view is what the template shows.
type view struct {
	*Model
	Server, Token string
	CSS           string
	Action, Done  string
	Tables        []table
	Forms         bool // the page offers changes
}

// page writes the HTML page.
func page(m *Model, in *Input, a *asked) []byte {
	v := view{Model: m, Server: in.ServerName, Token: in.Token, CSS: in.CSS, Action: a.action.String()}
	switch a.action {
	case cfgOriginal, cfgParsed:
		v.Tables = settings(m, a.action == cfgParsed)
	case scoreboard:
		v.Tables = []table{board(m.Board, -1, "Scoreboard of all processes"), slots(m.Board)}
	case endpoints:
		v.Tables = []table{board(m.Board, m.Child, "Endpoints of this process")}
	default:
		v.Forms = true
		v.Tables = append([]table{caches(m)}, components(m)...)
		v.Tables = append(v.Tables, board(m.Board, -1, "Scoreboard of all processes"))
	}
	if a.action.changes() {
		what := a.arg
		if parts := strings.SplitN(what, "|", 3); len(parts) == 3 {
			what = parts[0] + "|" + parts[1] // the value may be a secret
		}
		v.Done = a.action.String() + " " + printable(what)
	}
	var b bytes.Buffer
	if err := pageTemplate().Execute(&b, v); err != nil {
		return []byte("the page cannot be made\n")
	}
	return b.Bytes()
}

// components are tables of all components, one for each type.
func components(m *Model) []table {
	var out []table
	at := map[string]int{}
	for _, c := range m.Components {
		i, ok := at[c.Type]
		if !ok {
			i = len(out)
			at[c.Type] = i
			t := table{Title: c.Type, Columns: []string{"name"}}
			for _, x := range c.row() {
				t.Columns = append(t.Columns, x.Name)
			}
			out = append(out, t)
		}
		row := []string{c.Name}
		for _, x := range c.row() {
			row = append(row, x.Value)
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	return out
}

func caches(m *Model) table {
	t := table{
		Title:   "Endpoint caches of this process",
		Note:    "Each process keeps its own connections; max_connections bounds the endpoints of one process.",
		Columns: []string{"worker", "endpoints", "in use", "idle", "connected", "max_connections", "requests", "errors", "hits", "connects", "refused"},
	}
	for _, c := range m.Caches {
		row := []string{c.Worker}
		for _, n := range []int{c.Endpoints, c.Endpoints - c.Idle, c.Idle, c.Connected} {
			row = append(row, strconv.Itoa(n))
		}
		limit := "-"
		if c.Max > 0 {
			limit = strconv.Itoa(c.Max)
		}
		row = append(row, limit)
		for _, n := range []uint64{c.Requests, c.Errors, c.Hits, c.Connects, c.Refused} {
			row = append(row, strconv.FormatUint(n, 10))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func settings(m *Model, parsed bool) []table {
	t := table{Title: "Configuration as written", Columns: []string{"component", "property", "value"}}
	if parsed {
		t.Title = "Configuration as it counts"
	}
	for _, s := range m.Settings {
		value := s.Written
		if parsed {
			value = s.Value
		}
		t.Rows = append(t.Rows, []string{s.Component, s.Property, value})
	}
	return []table{t}
}

// board is the scoreboard, of one process if child is not negative.
func board(v *jk2shm.View, child int, title string) table {
	t := table{Title: title, Columns: []string{"slot", "Id", "Worker", "Req", "Err", "LastReq", "ConnectionTime", "TotalTime", "MaxTime", "AvgTime", "ReqStart", "+jk", "+end"}}
	if v == nil {
		t.Note = "No Scoreboard available: [shm:] has no file, or is disabled."
		return t
	}
	t.Note = fmt.Sprintf("ver %d, slots %d. Times are milliseconds.", v.Version, v.LastSlot)
	var all totals
	for _, s := range v.Slots {
		if child >= 0 && s.Server != child {
			continue
		}
		for i := range s.Records {
			r := &s.Records[i]
			all.add(r)
			row := []string{
				s.Name, strconv.Itoa(i), number(r.Worker), number(r.Requests), number(r.Errors), r.Active, date(r.Connected),
				millis(r.Total), millis(r.Max), average(r.Total, uint64(r.Requests)+uint64(r.Errors)), date(r.Start), since(r.Start, r.JkStart), since(r.Start, r.End),
			}
			if r.Torn {
				row[5] += " (changing)"
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Totals = []string{"total", "", "", strconv.FormatUint(all.requests, 10), strconv.FormatUint(all.errors, 10), "", "", millis(all.time), millis(all.most), average(all.time, all.requests+all.errors), "", "", ""}
	return t
}

// totals are the sums over records; times are microseconds.
type totals struct{ requests, errors, time, most uint64 }

func (t *totals) add(r *jk2shm.Record) {
	t.requests += uint64(r.Requests)
	t.errors += uint64(r.Errors)
	t.time += r.Total
	t.most = max(t.most, r.Max)
}

// slots are the slots by themselves.
func slots(v *jk2shm.View) table {
	t := table{Title: "Slots", Columns: []string{"slot", "Cnt", "size"}}
	if v == nil {
		return t
	}
	for _, s := range v.Slots {
		t.Rows = append(t.Rows, []string{s.Name, number(s.Cnt), number(s.StructSize)})
	}
	return t
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func millis(us uint64) string { return strconv.FormatUint(us/1000, 10) }

func average(total, n uint64) string {
	if n == 0 {
		return "-"
	}
	return millis(total / n)
}

func date(us uint64) string {
	if us == 0 || us > 1<<62 {
		return "-"
	}
	return time.UnixMicro(int64(us)).UTC().Format("2006-01-02 15:04:05")
}

func since(start, at uint64) string {
	if start == 0 || at < start {
		return "-"
	}
	return millis(at - start)
}
