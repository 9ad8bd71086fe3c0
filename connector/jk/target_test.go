package jk

import (
	"testing"
	"time"
)

func TestParseTarget(t *testing.T) {
	c := mapWorkers(t)
	for _, tt := range []struct {
		text string
		want Rule
		err  string
	}{
		{"single", Rule{Worker: "single", Index: 1}, ""},
		{" lb ", Rule{Worker: "lb", Index: 0}, ""},
		{"single;reply_timeout=5; stateless=1", Rule{Worker: "single", Index: 1,
			Extensions: Extensions{ReplyTimeout: 5 * time.Millisecond, ReplyTimeoutSet: true, Stateless: true}}, ""},
		{"single;sticky=1", Rule{Worker: "single", Index: 1}, ""},
		{"single;session_cookie=x", Rule{Worker: "single", Index: 1}, ""},
		{"singel", Rule{}, "JK_WORKER_NAME: singel: there is no worker singel in worker.list (w:1), did you mean single?"},
		{"node1", Rule{}, "JK_WORKER_NAME: node1: worker node1 (w:4) is a member of lb but not in worker.list (w:1)"},
		{"*", Rule{}, "JK_WORKER_NAME: *: worker * (any) is for exclusions only"},
		{"", Rule{}, "JK_WORKER_NAME: the worker's name is missing"},
		{";stateless=1", Rule{}, "JK_WORKER_NAME: ;stateless=1: the worker's name is missing"},
		{"single;reply_timeout=x", Rule{}, `JK_WORKER_NAME: single;reply_timeout=x: extension reply_timeout: "x" is not a whole number`},
	} {
		r, err := ParseTarget(c, tt.text)
		if tt.err != "" {
			same(t, tt.text, lines(err), []string{tt.err})
			if r != nil {
				t.Errorf("%s: a rule in spite of a fault", tt.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		tt.want.Source, tt.want.File = FromEnv, "JK_WORKER_NAME"
		same(t, tt.text, *r, tt.want)
	}
}
