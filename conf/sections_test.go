package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestReadSections(t *testing.T) {
	long := strings.Repeat("x", MaxLine-len("A = "))
	tests := []struct {
		name string
		in   string
		want []Section
		errs []string
	}{
		{name: "empty"},
		{name: "comments and blanks", in: "# a\n ; b\n\n\t\n"},
		{
			name: "lines are counted", in: "# c\n[server]\n\nListen = 1\nListen=2\n",
			want: []Section{{"server", 2, []Pair{{"Listen", "1", 4}, {"Listen", "2", 5}}}},
		},
		{
			name: "BOM, CR LF, tabs, no final newline", in: "\xef\xbb\xbf[s]\r\n\tA\t=\tb c\t\r\n B=d",
			want: []Section{{"s", 1, []Pair{{"A", "b c", 2}, {"B", "d", 3}}}},
		},
		{
			name: "equal repeated and empty values are all kept", in: "[s]\nA=1\nA=\nA=1\nA=\nA=2\n",
			want: []Section{{"s", 1, []Pair{{"A", "1", 2}, {"A", "", 3}, {"A", "1", 4}, {"A", "", 5}, {"A", "2", 6}}}},
		},
		{
			name: "a section opened again", in: "[s]\nA=1\n[t]\nA=2\n[s]\nA=3\n",
			want: []Section{{"s", 1, []Pair{{"A", "1", 2}}}, {"t", 3, []Pair{{"A", "2", 4}}}, {"s", 5, []Pair{{"A", "3", 6}}}},
		},
		{
			name: "a dotted section inherits nothing", in: "[a]\nK=1\n[a.b]\nL=2\n",
			want: []Section{{"a", 1, []Pair{{"K", "1", 2}}}, {"a.b", 3, []Pair{{"L", "2", 4}}}},
		},
		{
			name: "only '=' separates", in: "[s]\nListen = [::1]:80\nA = b=c:d\n",
			want: []Section{{"s", 1, []Pair{{"Listen", "[::1]:80", 2}, {"A", "b=c:d", 3}}}},
		},
		{
			name: "no inline comments", in: "[s]\nA = w;x=1 # no ; comment\n",
			want: []Section{{"s", 1, []Pair{{"A", "w;x=1 # no ; comment", 2}}}},
		},
		{
			name: "no continuation", in: "[s]\nA = b\\\nC = d\n",
			want: []Section{{"s", 1, []Pair{{"A", `b\`, 2}, {"C", "d", 3}}}},
		},
		{
			name: "no interpolation", in: "[s]\nA = x\nB = %(A)s ${HOME} $(A)\n",
			want: []Section{{"s", 1, []Pair{{"A", "x", 2}, {"B", "%(A)s ${HOME} $(A)", 3}}}},
		},
		{
			name: "indented lines are lines of their own", in: "[s]\nA =\n  B = c\n   D = e\n",
			want: []Section{{"s", 1, []Pair{{"A", "", 2}, {"B", "c", 3}, {"D", "e", 4}}}},
		},
		{
			name: "quotes are kept", in: "[s]\nA = \"b c\"\nD = 'e'\nF = \"\"\nG = it's\n",
			want: []Section{{"s", 1, []Pair{{"A", `"b c"`, 2}, {"D", "'e'", 3}, {"F", `""`, 4}, {"G", "it's", 5}}}},
		},
		{
			name: "escapes are kept", in: "[s]\nA = \\;\\#\\n\\\"\n",
			want: []Section{{"s", 1, []Pair{{"A", `\;\#\n\"`, 2}}}},
		},
		{
			name: "section called DEFAULT", in: "[DEFAULT]\nA=1\n",
			want: []Section{{"DEFAULT", 1, []Pair{{"A", "1", 2}}}},
		},
		{
			name: "longest line", in: "[s]\nA = " + long + "\n",
			want: []Section{{"s", 1, []Pair{{"A", long, 2}}}},
		},
		{name: "too long", in: "[s]\nA = " + long + "x\n", want: []Section{{"s", 1, nil}},
			errs: []string{"f:2: the line is 8193 bytes long, at most 8192 are allowed"}},
		{name: "NUL", in: "[s]\n# a\x00b\n", want: []Section{{"s", 1, nil}}, errs: []string{"f:2: the line contains a NUL byte"}},
		{name: "CR within", in: "[s]\nA = b\rC = d\n", want: []Section{{"s", 1, nil}}, errs: []string{"f:2: the line contains the control byte 0x0d"}},
		{name: "UTF-16", in: "\xff\xfe[\x00s\x00", errs: []string{"f:1: the file is UTF-16; save it as UTF-8"}},
		{name: "not UTF-8", in: "[s]\nA = caf\xe9\n", want: []Section{{"s", 1, nil}}, errs: []string{"f:2: the line is not UTF-8 text"}},
		{name: "any bytes in comments", in: "# caf\xe9 \x01\n[s]\n", want: []Section{{"s", 2, nil}}},
		{name: "no-break space at the end", in: "[s]\nA = b\u00a0\n", want: []Section{{"s", 1, nil}},
			errs: []string{"f:2: A: the value begins or ends with a blank that is not ASCII"}},
		{name: "before any section", in: "A=1\nB=2\n[s]\n", want: []Section{{"s", 3, nil}},
			errs: []string{"f:1: A: no section is open: [server] or another must come first"}},
		{name: "no value", in: "[s]\nListen 80\n", want: []Section{{"s", 1, nil}},
			errs: []string{`f:2: Listen: the line is no section, comment or "key = value" (it has no '=')`}},
		{name: "no name", in: "[s]\n= 80\n", want: []Section{{"s", 1, nil}}, errs: []string{"f:2: there is no name before '='"}},
		{name: "odd names", in: "[s]\n\"a\"=1\n-=2\n`b`=3\na b=4\n", want: []Section{{"s", 1, nil}},
			errs: []string{
				`f:2: "a": a directive's name is letters, digits, '.', '-' and '_'`,
				"f:3: -: a directive's name is letters, digits, '.', '-' and '_'",
				"f:4: `b`: a directive's name is letters, digits, '.', '-' and '_'",
				"f:5: a b: a directive's name is letters, digits, '.', '-' and '_'",
			}},
		{name: "quotes over lines", in: "[s]\nA = `b\nc = d`\nE = \"\"\"f\n", want: []Section{{"s", 1, []Pair{{"c", "d`", 3}}}},
			errs: []string{"f:2: A: a value cannot begin with ` (use \" or ')", `f:4: E: a value cannot begin with " (use " or ')`}},
		{name: "headers", in: "[s\n[s] x\n[]\n[ s ]\n[a]]\nA=1\n",
			want: []Section{{"", 1, nil}, {"", 2, nil}, {"", 3, nil}, {"", 4, nil}, {"", 5, []Pair{{"A", "1", 6}}}},
			errs: []string{
				"f:1: [s: the section header has no closing bracket",
				"f:2: [s]: nothing may follow a section header on its line",
				"f:3: []: a section name is letters, digits, '.', '-' and '_'",
				"f:4: [ s ]: a section name is letters, digits, '.', '-' and '_'",
				"f:5: [a]]: a section name is letters, digits, '.', '-' and '_'",
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, errs := ReadSections("f", []byte(tt.in))
			if !reflect.DeepEqual(got.Sections, tt.want) {
				t.Errorf("sections\n got %+v\nwant %+v", got.Sections, tt.want)
			}
			var texts []string
			for _, e := range errs {
				texts = append(texts, e.Error())
			}
			if !reflect.DeepEqual(texts, tt.errs) {
				t.Errorf("errors\n got %q\nwant %q", texts, tt.errs)
			}
		})
	}
}

func TestSectionsGet(t *testing.T) {
	s, errs := ReadSections("f", []byte("[S]\nA=1\n[t]\nB=2\n[s]\nC=3\n"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := []Pair{{"A", "1", 2}, {"C", "3", 6}}
	if got := s.Get("s"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzSections(f *testing.F) {
	for _, s := range []string{
		"", "[server]\nListen = 8080\n", "\xef\xbb\xbf[a]\r\nb = c\r\n", "[a]\nb=`c\nd`=e", "[a]\nb = \"\"\"x\n", "[a]\n\"b\"=c",
		"[a]\nb\\\n=c\\\n", "[a]\n- = 1\n- = 2", "[DEFAULT]\na=1\n[x]", "a=1\n[", "[a]\nb = %(b)s\n", "[a]\nb=\n c=d\n", "[a]\nb=1\n[A]\nB=2",
		"[a] # ]\nb=c", "[a]\nb=\u00a0c", "\xef\xbb\xbf\xef\xbb\xbf[a]\n", "[a]\nb='c'\nd='e' 'f'\n", "[a]\nk=v\x85\n", "[a]\nb=1\n[a]\nb=1\nb=\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, errs := ReadSections("f", data)
		lines := strings.Count(string(data), "\n") + 1
		last := 0
		for _, sec := range s.Sections {
			if sec.Line <= last || sec.Line > lines {
				t.Fatalf("section %q at line %d after line %d of %d", sec.Name, sec.Line, last, lines)
			}
			last = sec.Line
			for _, p := range sec.Pairs {
				if p.Line <= last || p.Line > lines {
					t.Fatalf("pair %q at line %d after line %d of %d", p.Key, p.Line, last, lines)
				}
				last = p.Line
				// The line that is named must be the one that was read.
				line := strings.Split(string(data), "\n")[p.Line-1]
				key, value, _ := strings.Cut(line, "=")
				if !strings.Contains(key, p.Key) || !strings.Contains(value, p.Value) {
					t.Fatalf("line %d is %q, not %q = %q", p.Line, line, p.Key, p.Value)
				}
			}
		}
		for _, e := range errs {
			if e.Line < 0 || e.Line > lines || e.Msg == "" || strings.Contains(e.Error(), "\n") {
				t.Fatalf("bad error %q", e.Error())
			}
			// The own rules are strict enough that the library never differs.
			if strings.Contains(e.Msg, "more than one way") || strings.Contains(e.Msg, "ini reader") {
				t.Fatalf("%q is read in two ways: %v", data, e)
			}
		}
		// Whatever the text, loading it ends in a configuration or in errors.
		cfg, _, err := Parse("f", data, Options{})
		if cfg == nil && err == nil {
			t.Fatalf("config %v, error %v", cfg, err)
		}
		if len(errs) > 0 && err == nil {
			t.Fatalf("the errors %v were lost", errs)
		}
	})
}
