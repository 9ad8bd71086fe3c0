package jk

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"jkd/conf"
)

// F067: a directive with a letter too few, too many or in the wrong place is an
// error with its line, its name and what was meant, whatever the directive.
func TestF067EveryDirectiveMisspelled(t *testing.T) {
	for _, name := range directiveNames {
		n := len(name)
		for _, wrong := range []string{name[:n-1], name + "x", name[:n/2] + name[n/2+1:], name[:n/2] + "_" + name[n/2:], strings.ToUpper(name)} {
			if _, known := directiveTable[wrong]; known || wrong == "" || wrong == "list" {
				continue
			}
			text := "worker.list=w\nworker.w.host=localhost\nworker.w." + wrong + "=1\n"
			c, _, err := ParseConfig(testEnv(), source(text))
			want := "w:3: worker.w." + wrong + ": directive " + wrong + " is not supported - please check"
			if c != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", wrong, err)
				continue
			}
			// Of short names nothing near may be left.
			if _, guess, ok := strings.Cut(err.Error(), "did you mean "); n > 4 && (!ok || !slices.Contains(directiveNames, strings.TrimSuffix(guess, "?"))) {
				t.Errorf("%s: nothing is suggested: %v", wrong, err)
			}
		}
	}
	// What does not begin with "worker." is a variable, however odd.
	for _, key := range []string{"workers.list", "worker", "list", "ps", "workers.java_home", "a.b.c", "-", "[x]"} {
		if _, _, err := ParseConfig(testEnv(), source("worker.list=w\nworker.w.host=localhost\n"+key+"=v\n")); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// F069: how an editor ends lines, indents and marks texts changes nothing.
func TestF069Editors(t *testing.T) {
	const workers = "worker.list=lb,w\nworker.lb.type=lb\nworker.lb.balance_workers=a,b\n# comment\nworker.a.route=gr\xfcn\nworker.w.host=localhost\nworker.b.port=8010\n"
	const rules = "/a/*=w\n# comment\n!/a/no/*=w\n/b|/*=w;reply_timeout=5\n/c=w\n"
	for _, tt := range []struct {
		name string
		edit func(line string) string
		pre  string
		end  bool // cut the last line end off
	}{
		{"CR LF", func(l string) string { return l + "\r" }, "", false},
		{"CR LF without the last", func(l string) string { return l + "\r" }, "", true},
		{"no last line end", func(l string) string { return l }, "", true},
		{"BOM", func(l string) string { return l }, "\xef\xbb\xbf", false},
		{"BOM and CR LF", func(l string) string { return l + "\r" }, "\xef\xbb\xbf", true},
		{"blanks at both ends", func(l string) string { return " \t" + l + " \t\f " }, "", false},
		{"blanks around =", func(l string) string { return strings.Replace(l, "=", " \t=\t ", 1) }, "", false},
		{"empty lines", func(l string) string { return l + "\n\n \t\r\n" }, "", false},
		{"comments of any bytes", func(l string) string { return "#\xff\x80\x01=\n" + l + "\n\t# \xe9=\xe8\\" }, "", false},
		{"comments behind values", func(l string) string { return l + " # c\xf6mment" }, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edited := func(text string) string {
				var out []string
				for l := range strings.Lines(text) {
					out = append(out, tt.edit(strings.TrimSuffix(l, "\n")))
				}
				s := tt.pre + strings.Join(out, "\n")
				if !tt.end {
					s += "\n"
				}
				return s
			}
			plain, _ := mustParse(t, testEnv(), source(workers))
			got, _ := mustParse(t, testEnv(), source(edited(workers)))
			same(t, "workers", got.Workers, plain.Workers)
			want, _, err := NewURIMap(plain, testEnv(), mapFile(rules))
			if err != nil {
				t.Fatal(err)
			}
			u, _, err := NewURIMap(plain, testEnv(), mapFile(edited(rules)))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "rules", rules_(u), rules_(want))
		})
	}
	// A backslash continues nothing.
	p, _, err := ParseProperties(testEnv(), source("a=b\\\nc=d\n"))
	if err != nil || p.Get("a").Value() != "b\\" || p.Get("c").Value() != "d" {
		t.Errorf("%v, %v", p, err)
	}
	// The longest line, and one byte more.
	for n, ok := range map[int]bool{8192: true, 8193: false} {
		_, _, err := ParseProperties(testEnv(), source("a=b\nx="+strings.Repeat("y", n-2)+"\nc=d\n"))
		if (err == nil) != ok || !ok && !strings.HasPrefix(err.Error(), "w:2: ") {
			t.Errorf("a line of %d bytes: %v", n, err)
		}
	}
	// A mark elsewhere than at the very beginning is part of the name.
	if _, w := mustParse(t, testEnv(), source("\n\xef\xbb\xbfworker.list=w\n")); !slices.ContainsFunc(said(w, conf.Warn), func(s string) bool { return strings.Contains(s, "worker.list") }) {
		t.Errorf("nothing is said of a mark in the second line: %v", w)
	}
}

// rules_ is everything about the rules of a map but where they stand.
func rules_(u *URIMap) (out []string) {
	for _, r := range u.Rules() {
		out = append(out, fmt.Sprintf("%s %s %+v", r.key(), r.Worker, r.Extensions))
	}
	return out
}

// F074: in every directive a name that is not defined leaves the text alone and
// is warned of, where a number is wanted the default is used; one that is
// defined above is replaced, one that is defined below is not; and what a
// template says is what the worker says.
func TestF074EveryDirective(t *testing.T) {
	values := map[string]string{ // other than a number
		"type": "ajp13", "reference": "worker.t", "mount": "/x", "host": "localhost", "source": "127.0.0.1", "ping_mode": "A", "activation": "disabled",
		"balance_workers": "m", "method": "B", "lock": "P", "good": "a.o", "bad": "e", "user": "u", "session_path": ";sid",
	}
	kind := map[use]string{forAJP: "ajp13", forLB: "lb", forStatus: "status"}
	for _, name := range directiveNames {
		if name == "type" || name == "reference" {
			continue
		}
		value, own := values[name]
		if !own {
			value = "8192"
		}
		for u, typ := range kind {
			d := directiveTable[name]
			if d.use&u == 0 && !(u == forAJP && d.use&forMember != 0) {
				continue
			}
			begin := "worker.list=w\nworker.w.type=" + typ + "\n"
			if typ == "lb" && name != "balance_workers" {
				begin += "worker.w.balance_workers=m\n"
			}
			what := typ + " " + name
			if _, _, err := ParseConfig(testEnv(), source(begin+"worker.w."+name+"="+value+"\n")); err != nil {
				value = "1"
			}
			plain, _ := mustParse(t, testEnv(), source(begin+"worker.w."+name+"="+value+"\n"))
			for how, text := range map[string]string{
				"macro":       "v=" + value + "\n" + begin + "worker.w." + name + "=$(v)\n",
				"environment": begin + "worker.w." + name + "=$(V)\n",
				"template":    begin + "worker.w.reference=worker.t\nworker.t." + name + "=" + value + "\n",
			} {
				got, _ := mustParse(t, testEnv("V", value), source(text))
				if name == "mount" { // which has its line
					for i := range got.Workers[0].Mounts {
						got.Workers[0].Mounts[i].Line = plain.Workers[0].Mounts[i].Line
					}
				}
				if !reflect.DeepEqual(got.Workers, plain.Workers) {
					t.Errorf("%s by %s:\n got %+v\nwant %+v", what, how, got.Workers, plain.Workers)
				}
				same(t, what+" by "+how, len(got.Workers), 1)
			}
			_, warnings, err := ParseConfig(testEnv(), source(begin+"worker.w."+name+"=$(below)\nbelow="+value+"\n"))
			all := fmt.Sprint(warnings, err)
			if !strings.Contains(all, "$(below) is defined neither above nor in the environment") {
				t.Errorf("%s, defined below: %s", what, all)
			}
			if err != nil && !own {
				t.Errorf("%s, defined below, is an error: %v", what, err)
			}
		}
	}
}
