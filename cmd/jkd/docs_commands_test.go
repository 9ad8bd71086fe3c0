//go:build unix

package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentedCommands holds what the pages for administrators tell to type
// to the command line, to rc.d/jkd and to the files there are.
func TestDocumentedCommands(t *testing.T) {
	script, err := os.ReadFile("../../rc.d/jkd")
	if os.IsNotExist(err) {
		t.Skip("needs the source tree: rc.d/jkd")
	}
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^extra_commands="(.*)"$`).FindSubmatch(script)
	if m == nil {
		t.Fatal("rc.d/jkd has no extra_commands")
	}
	verbs := append(strings.Fields(string(m[1])), "start", "stop", "restart", "status", "VERB")
	variables := names(regexp.MustCompile(`(?m)^# jkd_(\w+)`), string(script))
	// Those are rc.subr's, for any service.
	variables = append(variables, "user", "limits", "login_class", "nice", "fib", "env", "umask", "oomprotect", "svcj", "svcj_options")
	commands := 0
	for _, page := range []string{"operations.md", "freebsd.md"} {
		data, err := os.ReadFile("../../docs/" + page)
		if os.IsNotExist(err) {
			t.Skip("needs the source tree: docs/", page)
		}
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, m := range regexp.MustCompile("(?m)[`\\s;]service jkd (\\w+)").FindAllStringSubmatch(text, -1) {
			commands++
			if !slices.Contains(verbs, m[1]) {
				t.Errorf("%s: rc.d/jkd has no %s", page, m[0])
			}
		}
		for _, m := range regexp.MustCompile(`\bjkd_(?:web\d_)?(\w+)`).FindAllStringSubmatch(text, -1) {
			if !slices.Contains(variables, m[1]) {
				t.Errorf("%s: rc.d/jkd does not speak of %s", page, m[0])
			}
		}
		for _, m := range regexp.MustCompile("(?m)(?:^ {4}|`|&& |; )(?:/usr/local/sbin/)?jkd(?:\\.new)? (-[^`|#;&\\\\\n]*)").FindAllStringSubmatch(text, -1) {
			args := strings.Fields(m[1])
			if i := slices.Index(args, "-k"); i >= 0 && i+1 < len(args) && !slices.Contains(asks, args[i+1]) && (args[i+1] == "graceful" || args[i+1] == "restart") {
				continue // this jkd does not reload
			}
			commands++
			var out strings.Builder
			if _, _, ok := parseFlags(args, &out, &out); !ok {
				t.Errorf("%s: %q: %s", page, strings.TrimSpace(m[0]), out.String())
			}
		}
		for _, m := range regexp.MustCompile(`\bpackaging/[\w./-]*\w`).FindAllString(text, -1) {
			if _, err := os.Stat("../../" + m); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([\w.-]*)(?:#([\w-]+))?\)`).FindAllStringSubmatch(text, -1) {
			target := text
			if m[1] != "" {
				data, err := os.ReadFile("../../docs/" + m[1])
				if err != nil {
					t.Errorf("%s: %v", page, err)
				}
				target = string(data)
			}
			if m[2] != "" && !slices.Contains(anchors(target), m[2]) {
				t.Errorf("%s: %s leads nowhere", page, m[0])
			}
		}
	}
	if commands < 40 {
		t.Errorf("%d commands were found, there should be 40", commands)
	}
}

// anchors are the names of the headings of a page.
func anchors(text string) (list []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		list = append(list, strings.ReplaceAll(name, " ", "-"))
	}
	return list
}
