package status

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseQuery(t *testing.T) {
	tests := []struct {
		query, form string
		want        Query
		err         error
	}{
		{"", "", Query{}, nil},
		{"cmd=show&w=a&mime=xml", "", Query{Cmd: Show, W: "a", Mime: XML}, nil},
		{"&&cmd=list&", "", Query{}, nil},
		{"cmd=update&mime=txt", "w=a+b&sw=%2a%3F&att=vwa", Query{Cmd: Update, Mime: Text, W: "a b", SW: "*?", Att: "vwa"}, nil},
		{"w=a&w=b", "w=c", Query{W: "c"}, nil},
		{"w=a=b", "", Query{W: "a=b"}, nil},
		{"w", "", Query{}, nil},
		{"re=15&opt=3", "", Query{Refresh: 15, Options: NoMembers | NoMaps}, nil},
		{"re=-4&opt=-1", "", Query{}, nil},
		{"re=99999999&opt=65535", "", Query{Refresh: 86400, Options: allOptions}, nil},
		{"re=x&opt=0x10", "", Query{}, nil},
		{"from=show&token=AbC", "", Query{From: Show, Token: "AbC"}, nil},
		{"from=update", "", Query{}, nil},
		{"cmd=nonsense&mime=prop&w=a", "", Query{Mime: Prop, W: "a"}, errCmd},
		{"cmd=LIST", "", Query{}, errCmd},
		{"cmd=show&mime=html5", "", Query{}, errMime},
		{"w=%zz", "", Query{}, errParams},
		{"w=%4", "", Query{}, errParams},
		{"%=1", "", Query{}, errParams},
		{"w=%+1", "", Query{}, errParams},
		{"w=" + strings.Repeat("x", maxValue+1), "", Query{}, errMany},
		{strings.Repeat("x", maxName+1), "", Query{}, errMany},
		{"", strings.Repeat("a", MaxBody+1), Query{}, errMany},
	}
	for _, tt := range tests {
		q, err := ParseQuery([]byte(tt.query), []byte(tt.form))
		got := *q
		got.params = nil
		if err != tt.err || fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("ParseQuery(%.60q, %.60q) = %+v, %v, want %+v, %v", tt.query, tt.form, got, err, tt.want, tt.err)
		}
	}
	var many strings.Builder
	for i := range maxParams + 1 {
		fmt.Fprintf(&many, "p%d&", i)
	}
	if _, err := ParseQuery([]byte(many.String()), nil); err != errMany {
		t.Errorf("%d parameters: %v", maxParams+1, err)
	}
}

// Whatever comes, the answer is bounded, well-formed, and changes nothing
// without a reason to.
func FuzzQuery(f *testing.F) {
	for _, pg := range pages {
		f.Add([]byte(pg.query), []byte("mime=xml"))
	}
	f.Add([]byte("cmd=show&w=%3Cscript%3E"), []byte("mime=html"))
	f.Add([]byte("cmd=edit&w=cart&att=vamps&opt=511&re=3"), []byte("mime=html&psw=%00%ff"))
	f.Add([]byte("cmd=update&w=cart&sw=*&vwn=a%0d%0ab"), []byte("mime=prop"))
	f.Fuzz(func(t *testing.T, query, form []byte) {
		r := newRig()
		r.in.Token = "" // else the seeds have it
		in := r.in
		in.Query = append(append(query, '&'), form...)
		out := Serve(in, r, r.config)
		if len(r.calls) > 0 {
			t.Fatalf("a GET without a token did %q", r.calls)
		}
		checkOutput(t, &out)
		out = r.post(string(query), string(form))
		q, _ := ParseQuery(query, form)
		if out.Status != 200 && (out.Status != 403 || q.Options&ReadOnly == 0) {
			t.Fatalf("a POST is answered %d", out.Status)
		}
		checkOutput(t, &out)
		for _, line := range r.log {
			if plain(line) != line {
				t.Fatalf("line of the log %q", line)
			}
		}
	})
}
