//go:build unix

package main_test

import (
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/conf"
)

// There is no directive of Apache and the modules beside it that jkd has never
// heard of: whether it acts upon it, says what is not done or refuses it.
func TestKnowsDirectives(t *testing.T) {
	names := apachetest.Directives(t)
	if len(names) < 600 {
		t.Fatalf("Apache tells of %d directives only", len(names))
	}
	for _, name := range names {
		text := "Listen 80\n" + name + " x\n"
		if section, ok := strings.CutPrefix(name, "<"); ok {
			text = "Listen 80\n" + name + " x>\n</" + section + ">\n"
		}
		if _, _, err := conf.Parse("/httpd.conf", []byte(text), conf.Options{}); err != nil && (strings.Contains(err.Error(), "unknown directive") || strings.Contains(err.Error(), "unknown section")) {
			t.Error(err)
		}
	}
}
