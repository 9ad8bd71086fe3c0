package jk

import (
	"strconv"
	"time"

	"jkd/connector/jk/balance"
)

// seconds is a duration as mod_jk writes it into its notes and logs.
func seconds(d time.Duration) string {
	d = max(d, 0)
	us := strconv.FormatInt(int64(d%time.Second/time.Microsecond), 10)
	return strconv.FormatInt(int64(d/time.Second), 10) + "." + "000000"[len(us):] + us
}

// noteMember keeps what is known of a member that was tried, for the access
// log: of the first one and of the last one.
func (t *lbTarget) noteMember(c *call, v *lbView, i int) {
	if !c.req.Notes.Wanted() {
		return
	}
	rec, m := t.rec.Member(i), &c.members[i]
	w := rec.Worker()
	value := rec.LBValue.Load()
	if v.s.Method == balance.ByBusyness {
		value = balance.BusyValue(m.Mult, uint64(w.Busy()))
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	notes := []struct{ name, value string }{
		{"NAME", rec.Name()},
		{"VALUE", number(value)},
		{"ACCESSED", number(rec.Elected.Load())},
		{"SESSIONS", number(rec.Sessions.Load())},
		{"READ", number(w.Read.Load())},
		{"TRANSFERRED", number(w.Transferred.Load())},
		{"ERRORS", number(rec.Errors.Load())},
		{"BUSY", strconv.Itoa(w.Busy())},
		{"ACTIVATION", m.Activation.String()},
		{"STATE", rec.State().String()},
	}
	for _, n := range notes {
		if !c.noted {
			c.note("JK_LB_FIRST_"+n.name, n.value)
		}
		c.note("JK_LB_LAST_"+n.name, n.value)
	}
	c.noted = true
}
