package jk2shm

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// Dump writes what the memory of a segment says as tables, in the columns of
// the scoreboard on mod_jk2's status page: times of day are UTC, lengths of
// time milliseconds. The memory may hold anything; an error is one of writing,
// or says why the memory is no segment.
func Dump(w io.Writer, mem []byte) error {
	s, err := AttachAny(mem)
	if err != nil {
		return err
	}
	var v View
	s.View(&v)
	return v.Write(w)
}

// totals are those over all records.
type totals struct{ requests, errors, max, time uint64 }

// Write writes v as [Dump] does.
func (v *View) Write(to io.Writer) error {
	out := bufio.NewWriter(to)
	fmt.Fprintf(out, "ver=%d slots=%d\n", v.Version, v.LastSlot)
	var all totals
	for i := range v.Slots {
		s := &v.Slots[i]
		fmt.Fprintf(out, "\n%s Cnt=%d size=%d\n", plain(s.Name), s.Cnt, s.StructSize)
		if len(s.Records) == 0 {
			continue
		}
		t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(t, "Id\tWorker\tReq\tErr\tConnectionTime\tTotalTime\tMaxTime\tAvgTime\tReqStart\t+jk\t+end\t  LastReq")
		for id := range s.Records {
			r := &s.Records[id]
			torn := ""
			if r.Torn {
				torn = " (changing)"
			}
			fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s%s\n", id, r.Worker, r.Requests, r.Errors, date(r.Connected),
				millis(r.Total), millis(r.Max), average(r.Total, uint64(r.Requests)+uint64(r.Errors)), date(r.Start),
				since(r.Start, r.JkStart), since(r.Start, r.End), plain(r.Active), torn)
			all.add(r)
		}
		t.Flush()
	}
	fmt.Fprintf(out, "\nTotals: Req=%d Err=%d Max=%s Avg=%s\n", all.requests, all.errors, millis(all.max), average(all.time, all.requests+all.errors))
	return out.Flush()
}

func (t *totals) add(r *Record) {
	t.requests += uint64(r.Requests)
	t.errors += uint64(r.Errors)
	t.time += r.Total
	t.max = max(t.max, r.Max)
}

// date is an instant; those no clock can show are numbers.
func date(us uint64) string {
	const latest = 253402300799 * 1e6 // the end of the year 9999
	switch {
	case us == 0:
		return "-"
	case us > latest:
		return strconv.FormatUint(us, 10)
	}
	return time.UnixMicro(int64(us)).UTC().Format("2006-01-02T15:04:05.000")
}

func millis(us uint64) string { return strconv.FormatUint(us/1000, 10) }

func average(total, n uint64) string {
	if n == 0 {
		return "-"
	}
	return millis(total / n)
}

// since is the time from one instant to another.
func since(from, to uint64) string {
	if from == 0 || to == 0 {
		return "-"
	}
	if to < from {
		return "-" + millis(from-to)
	}
	return millis(to - from)
}

// plain is a text fit for a terminal and a table.
func plain(s string) string {
	q := strconv.QuoteToASCII(s)
	return q[1 : len(q)-1]
}
