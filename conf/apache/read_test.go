package apache

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// files is a file system for tests, with absolute paths.
type files map[string]string

func (f files) options() Options {
	return Options{
		Env: func(name string) (string, bool) {
			return strings.ToUpper(name) + " of env", strings.HasPrefix(name, "E")
		},
		Module: func(name string) Module {
			switch name {
			case "core.c", "core_module":
				return Module{"core_module", Builtin}
			case "mod_jk.c", "jk_module":
				return Module{"jk_module", Optional}
			case "mod_jk2.c", "jk2_module":
				return Module{"jk2_module", Optional}
			case "prefork.c", "mpm_prefork_module":
				return Module{"mpm_prefork_module", MPM}
			case "worker.c", "mpm_worker_module":
				return Module{"mpm_worker_module", MPM}
			}
			return Module{}
		},
		MPM:       "mpm_prefork_module",
		Version:   "2.4.62",
		Leave:     func(_, name string) bool { return name == "serverRoot" },
		Directive: func(name string) bool { return name == "Listen" },
		Section:   func(name string) bool { return name == "VirtualHost" },
		Find: func(pattern string) ([]string, error) {
			if !strings.ContainsAny(pattern, "*?[") {
				if _, ok := f[pattern]; ok {
					return []string{pattern}, nil
				}
				return nil, fs.ErrNotExist
			}
			var out []string
			for name := range f {
				if ok, _ := path.Match(pattern, name); ok {
					out = append(out, name)
				}
			}
			slices.Sort(out)
			return out, nil
		},
		Read: func(name string) ([]byte, error) { return []byte(f[name]), nil },
	}
}

// show writes a tree as one line a directive.
func show(list []*Directive, indent string) string {
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintf(&b, "%s%s:%d %s", indent, path.Base(d.File), d.Line, d.Title())
		if !d.Section {
			b.WriteString("|" + d.Args)
		}
		if d.Skipped {
			b.WriteString(" skipped")
		}
		b.WriteString("\n" + show(d.Children, indent+" "))
	}
	return b.String()
}

func notes(list []Note) string {
	var b strings.Builder
	for _, n := range list {
		fmt.Fprintf(&b, "%s:%d %s: %s\n", path.Base(n.File), n.Line, n.Key, n.Text)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		files        files
		want         string
		faults, said string
	}{
		{name: "lines", text: "\xef\xbb\xbf# comment \\\ncontinued\n\n  Listen\t 80  \r\nA b \\\n  c\\\nd\n# last", want: "f:4 Listen|80\nf:5 A|b   cd\n"},
		{name: "no newline at the end", text: "A b\\", want: "f:1 A|b\n"},
		{name: "latin1 in a comment", text: "# \xe9\nA b", want: "f:2 A|b\n"},
		{name: "latin1", text: "A \xe9\nB c", want: "f:2 B|c\n", faults: "f:1 : the line is not UTF-8 text\n"},
		{name: "control bytes", text: "A \x01\nB \x00\n", faults: "f:1 : the line contains the control byte 0x01\nf:2 : the line contains the control byte 0x00\n"},
		{name: "utf16", text: "\xff\xfeA\x00", faults: "f:1 : the file is UTF-16; save it as UTF-8\n"},
		{name: "long", text: "A " + strings.Repeat("x", 5000) + "\\\n" + strings.Repeat("y", 5000) + "\nB c", want: "f:3 B|c\n", faults: "f:1 : the line is longer than 8192 bytes\n"},
		{name: "sections", text: "<VirtualHost *:80>\nA b\n<Location \"/x y\" >\nC\n</location>\n</VIRTUALHOST >\n",
			want: "f:1 <VirtualHost *:80>\n f:2 A|b\n f:3 <Location \"/x y\">\n  f:4 C|\n"},
		{name: "text behind a section", text: "<A b> # c\n</A>", want: "f:1 <A b>\n", said: ""},
		{name: "unclosed", text: "<A b>\n<C>\n</C", want: "f:1 <A b>\n f:2 <C>\n",
			faults: "f:3 </C: the section has no closing '>'\nf:2 <C>: is never closed: </C> is missing in this file\nf:1 <A b>: is never closed: </A> is missing in this file\n"},
		{name: "crossed", text: "<A>\n<B>\n</A>\n</B>\nC", want: "f:1 <A>\n f:2 <B>\nf:5 C|\n",
			faults: "f:3 </A>: stands where the section <B> of line 2 is to be closed first\nf:4 </B>: closes a section that is not open\n"},
		{name: "defines", text: "Define x \"1 2\"\nA ${x} ${EV} ${nope} ${rw:x} ${serverRoot} $1 ${open\nUnDefine x\nB ${x}\nDefine\nDefine a b c\nDefine a:b",
			want:   "f:2 A|1 2 EV of env ${nope} ${rw:x} ${serverRoot} $1 ${open\nf:4 B|${x}\n",
			faults: "f:5 Define: needs a name, and perhaps a value; a value with blanks must be quoted\nf:6 Define: needs a name, and perhaps a value; a value with blanks must be quoted\nf:7 Define: \"a:b\" is no name for a variable\n",
			said:   "f:2 A: ${nope} is defined neither above nor in the environment: left as it is\nf:4 B: ${x} is defined neither above nor in the environment: left as it is\n"},
		{name: "growing", text: "Define x " + strings.Repeat("x", 4000) + "\nA ${x}${x}${x}", want: "f:2 A|${x}${x}${x}\n", faults: "f:2 A: is longer than 8192 bytes once ${x} is replaced\n"},
		{name: "modules", text: "<IfModule core.c>\nA\n</IfModule>\n<IfModule mod_jk.c>\nB\n</IfModule>\n<IfModule !jk_module>\nC ${nope}\n<Z>\n</Z>\n</IfModule>\n" +
			"LoadModule jk_module x.so\n<IfModule jk_module>\nD\n<IfModule mod_jk2.c>\nE\n</IfModule>\n</IfModule>\n<IfModule php>\n</IfModule>",
			want: "f:2 A|\nf:5 B|\nf:7 <IfModule !jk_module> skipped\n f:8 C|${nope}\n f:9 <Z>\nf:12 LoadModule|jk_module x.so\nf:14 D|\nf:15 <IfModule mod_jk2.c> skipped\n f:16 E|\nf:19 <IfModule php> skipped\n"},
		{name: "the MPM", text: "<IfModule prefork.c>\nA\n</IfModule>\nLoadModule mpm_worker_module x\n<IfModule prefork.c>\nB\n</IfModule>\n<IfModule worker.c>\nC\n</IfModule>",
			want: "f:2 A|\nf:4 LoadModule|mpm_worker_module x\nf:5 <IfModule prefork.c> skipped\n f:6 B|\nf:9 C|\n"},
		{name: "conditions", text: "Define x\n<IfDefine x>\nA\n</IfDefine>\n<IfDefine !x>\nB\n</IfDefine>\n<IfFile /etc/a>\nC\n</IfFile>\n<IfFile !/etc/a>\nD\n</IfFile>\n" +
			"<IfDirective Listen>\nE\n</IfDirective>\n<IfSection !<VirtualHost>>\nF\n</IfSection>", files: files{"/etc/a": ""},
			want: "f:3 A|\nf:5 <IfDefine !x> skipped\n f:6 B|\nf:9 C|\nf:11 <IfFile !/etc/a> skipped\n f:12 D|\nf:15 E|\nf:17 <IfSection !<VirtualHost>> skipped\n f:18 F|\n"},
		{name: "faulty conditions", text: "<IfModule>\nA\n</IfModule>\n<IfVersion 2.x>\nB\n</IfVersion>\n",
			want:   "f:1 <IfModule> skipped\n f:2 A|\nf:4 <IfVersion 2.x> skipped\n f:5 B|\n",
			faults: "f:1 <IfModule>: needs one argument\nf:4 <IfVersion 2.x>: \"2.x\" is no version such as 2.4.10\n"},
		{name: "include", text: "ServerRoot /srv\n<V>\nInclude conf.d/*.conf\n</V>\nIncludeOptional none/*\nIncludeOptional none\nA",
			files: files{"/srv/conf.d/b.conf": "B\nInclude c", "/srv/conf.d/a.conf": "<A>\n</A>", "/srv/conf.d/x": "no", "/srv/c": "C"},
			want:  "f:1 ServerRoot|/srv\nf:2 <V>\n a.conf:1 <A>\n b.conf:1 B|\n c:1 C|\nf:7 A|\n"},
		{name: "faulty includes", text: "Include none\nInclude n*\nInclude\nInclude \"x\nInclude a",
			files: files{"/etc/a": "Include b\n<S>", "/etc/b": "Include a\nInclude f\nB"},
			want:  "b:3 B|\na:2 <S>\n",
			faults: "f:1 Include: /etc/none: file does not exist\nf:2 Include: no file matches /etc/n*; IncludeOptional is for those that may be missing\nf:3 Include: needs the path of a file, with or without wildcards\n" +
				"f:4 Include: the quote \" is never closed\nb:1 Include: /etc/a is being read already: files include one another in a circle\nb:2 Include: /etc/f: file does not exist\n" +
				"a:2 <S>: is never closed: </S> is missing in this file\n"},
		{name: "error", text: "<IfDefine x>\nError no\n</IfDefine>\nError \"set x\"", want: "f:1 <IfDefine x> skipped\n f:2 Error|no\n", faults: "f:4 Error: \"set x\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := Read("/etc/f", []byte(c.text), "/etc", c.files.options())
			if got := show(tree.Directives, ""); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if got := notes(tree.Faults); got != c.faults {
				t.Errorf("faults\n%swant\n%s", got, c.faults)
			}
			if got := notes(tree.Remarks); c.name != "text behind a section" && got != c.said {
				t.Errorf("remarks\n%swant\n%s", got, c.said)
			} else if c.name == "text behind a section" && !strings.Contains(got, "is ignored: # c") {
				t.Errorf("remarks %s", got)
			}
		})
	}
}

func TestIfVersion(t *testing.T) {
	for arg, want := range map[string]bool{
		"2.4.62": true, "= 2.4.62": true, "2.4": false, ">= 2.4": true, ">=2.4": true, "< 2.4": false, "> 2.4.61": true, "<= 2.4.62": true, "< 3": true,
		"!< 2.4": true, "!2.4.62": false, "/^2\\.[24]\\./": true, "~ ^2.2": false, `>= "2.4"`: true,
	} {
		tree := Read("f", []byte("<IfVersion "+arg+">\nA\n</IfVersion>"), "/", Options{Version: "2.4.62"})
		if got := !tree.Directives[0].Skipped; got != want || len(tree.Faults) > 0 {
			t.Errorf("%s: %v %v", arg, got, tree.Faults)
		}
	}
	for _, arg := range []string{"", "x", "2.4.1.1", "<> 2.4", "> /2/", "~ (", ">= -1"} {
		if tree := Read("f", []byte("<IfVersion "+arg+">\n</IfVersion>"), "/", Options{Version: "2.4.62"}); len(tree.Faults) != 1 {
			t.Errorf("%q: %v", arg, tree.Faults)
		}
	}
}

// Sections and files that are nested without end are faults, not endless work.
func TestBounds(t *testing.T) {
	tree := Read("f", []byte(strings.Repeat("<A>\n", 100)+strings.Repeat("</A>\n", 100)+"B"), "/", Options{})
	if len(tree.Faults) != 1 || !strings.Contains(tree.Faults[0].Text, "more than 64 sections") {
		t.Errorf("%v", tree.Faults)
	}
	if n := len(tree.Directives); n != 2 {
		t.Errorf("%d directives", n)
	}
	many := files{}
	for i := range 40 {
		many[fmt.Sprintf("/d%d", i)] = fmt.Sprintf("Include d%d", i+1)
	}
	tree = Read("/f", []byte("Include d0"), "/", many.options())
	if len(tree.Faults) != 1 || !strings.Contains(tree.Faults[0].Text, "more than 20 files include one another") {
		t.Errorf("%v", tree.Faults)
	}
	// Each file reads all those behind it: 2^40 without a bound.
	for i := range 40 {
		many[fmt.Sprintf("/d%d", i)] = fmt.Sprintf("Include d%d\nInclude d%d", i+1, i+1)
	}
	many["/d10"] = strings.Repeat("# \n", 1<<17)
	tree = Read("/f", []byte("Include d0"), "/", many.options())
	if len(tree.Faults) == 0 || !strings.Contains(tree.Faults[0].Text, "bytes together") {
		t.Errorf("%v", tree.Faults)
	}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                  "[]",
		"a  b\tc ":          "[a][b][c]",
		`"a b" 'c d'`:       "[a b][c d]",
		`"a\"b" 'c\'d'`:     `[a"b][c'd]`,
		`"a\\b" "a\nb" a\b`: `[a\b][a\nb][a\b]`,
		`"a"b`:              "[a][b]",
		`a"b c"`:            `[a"b][c"]`,
		`"" ''`:             "[][]",
		`"it's"`:            "[it's]",
	} {
		got, err := Words(in)
		text := ""
		for _, w := range got {
			text += "[" + w + "]"
		}
		if text == "" {
			text = "[]"
		}
		if err != nil || text != want {
			t.Errorf("%s: %s %v, want %s", in, text, err, want)
		}
	}
	if _, err := Words(`a "b`); err == nil {
		t.Error("a quote that is not closed")
	}
}

func FuzzRead(f *testing.F) {
	fs := files{"/etc/a.conf": "A\nInclude b.conf", "/etc/b.conf": "<IfModule mod_jk.c>\nInclude a.conf\n</IfModule>", "/etc/c.conf": "</V>"}
	for _, text := range []string{
		"Listen 80\n<VirtualHost *:80>\nJkMount /* lb\n</VirtualHost>",
		"Define x ${x}y\nA ${x}\\\n${E}\n<IfVersion >= 2.4>\nInclude *.conf\n</IfVersion>",
		"<IfModule !worker.c>\nLoadModule mpm_worker_module x\n<A>\n</B>\n</IfModule>\nInclude c.conf",
		"<A \"\\\\\"> x\n</A>\n<\n</\n<>\n</>",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree := Read("/etc/f", data, "/etc", fs.options())
		var check func(list []*Directive, depth int)
		check = func(list []*Directive, depth int) {
			if depth > maxNesting {
				t.Fatal("too deep")
			}
			for _, d := range list {
				if d.Line < 1 || len(d.Args) > MaxLine || strings.ContainsAny(d.Name+d.Args, "\n\r\x00") || !d.Section && len(d.Children) > 0 {
					t.Fatalf("%+v", d)
				}
				Words(d.Args)
				check(d.Children, depth+1)
			}
		}
		check(tree.Directives, 0)
	})
}
