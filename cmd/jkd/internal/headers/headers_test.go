package headers

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"jkd/connector"
)

func fieldsOf(text string) (out []connector.Field) {
	for line := range strings.SplitSeq(text, "|") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			out = append(out, connector.Field{Name: []byte(name), Value: []byte(value)})
		}
	}
	return out
}

func textOf(fields []connector.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, string(f.Name)+":"+string(f.Value))
	}
	return strings.Join(out, "|")
}

func TestApply(t *testing.T) {
	env := &connector.Env{}
	env.Set("on", "va\r\nlue")
	c := &Context{Env: env, Start: time.UnixMicro(1500), Now: time.UnixMicro(1700)}
	for _, tt := range []struct {
		action      Action
		name, value string
		match       string
		before      string
		want        string
	}{
		{Set, "X", "v", "", "", "X:v"},
		{Set, "x", "v", "", "A:1|X:2|B:3|X:4|C:5", "A:1|x:v|B:3|C:5"},
		{SetIfEmpty, "X", "v", "", "A:1", "A:1|X:v"},
		{SetIfEmpty, "X", "v", "", "x:1", "x:1"},
		{Add, "X", "v", "", "X:1", "X:1|X:v"},
		{Append, "X", "v", "", "X:1|X:2", "X:1, v|X:2"},
		{Append, "X", "v", "", "", "X:v"},
		{Merge, "X", "v", "", "X:1, v", "X:1, v"},
		{Merge, "X", "v", "", "X:1, V", "X:1, V, v"},
		{Merge, "X", "v", "", "X:1|X:v", "X:1|X:v"},
		{Unset, "X", "", "", "X:1|A:2|x:3", "A:2"},
		{Replace, "X", "<$1>", "a(.)", "X:abac|Y:ab|X:no", "Y:ab|X:<b>ac|X:no"},
		{ReplaceAll, "X", "<$1>", "a(.)", "X:abac", "X:<b><c>"},
		{ReplaceAll, "X", "-", "b*", "X:abba", "X:-a--a-"},
		{Replace, "X", "", "$", "X:a", "X:a"},
		{Replace, "X", "; Secure", "$", "X:a", "X:a; Secure"},
		{Set, "X", "%t %D %{on}e %{off}e %%", "", "", "X:t=1500 D=200 va  lue (null) %"},
	} {
		f, err := ParseFormat(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		e := Edit{Action: tt.action, Name: tt.name, Value: f}
		if tt.match != "" {
			e.Match = regexp.MustCompile(tt.match)
		}
		before := fieldsOf(tt.before)
		if got := textOf(Apply([]Edit{e}, before, c)); got != tt.want {
			t.Errorf("%s %s %q of %q: %q, want %q", Actions[tt.action], tt.name, tt.value, tt.before, got, tt.want)
		}
		if textOf(before) != tt.before {
			t.Errorf("%q was changed: %q", tt.before, textOf(before))
		}
	}
	for _, tt := range []struct {
		env    string
		unless bool
		want   int
	}{{"", false, 1}, {"on", false, 1}, {"on", true, 0}, {"off", false, 0}, {"off", true, 1}} {
		if got := Apply([]Edit{{Action: Add, Name: "X", Env: tt.env, Unless: tt.unless}}, nil, c); len(got) != tt.want {
			t.Errorf("%+v: %d fields", tt, len(got))
		}
	}
	if got := Apply([]Edit{{Action: Add, Name: "X", Env: "on"}}, nil, &Context{}); len(got) != 0 {
		t.Error("a variable of no environment is set")
	}
}

func TestParseFormatFaults(t *testing.T) {
	for _, s := range []string{"%", "%x", "%{a", "%{a}", "%{a}s", "a%b", "%l"} {
		if f, err := ParseFormat(s); err == nil {
			t.Errorf("%q: %v", s, f)
		}
	}
}

// An expression that matches everywhere does not make a value endless.
func TestReplaceBound(t *testing.T) {
	f, _ := ParseFormat(strings.Repeat("x", 1000))
	e := Edit{Action: ReplaceAll, Name: "X", Value: f, Match: regexp.MustCompile("a")}
	got := Apply([]Edit{e}, fieldsOf("X:"+strings.Repeat("a", 8000)), &Context{})
	if n := len(got[0].Value); n > maxValue+1000+8000 {
		t.Error(fmt.Sprint(n, " bytes"))
	}
}
