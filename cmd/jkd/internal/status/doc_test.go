package status

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// Every member of the JSON document is in its description.
func TestJSONDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/status.md")
	if err != nil {
		t.Skip("needs the source tree")
	}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(x reflect.Type) {
		for x.Kind() == reflect.Pointer || x.Kind() == reflect.Slice {
			x = x.Elem()
		}
		if x.Kind() != reflect.Struct || seen[x] || !strings.HasPrefix(x.Name(), "Document") {
			return
		}
		seen[x] = true
		for f := range x.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !strings.Contains(string(text), "`"+name+"`") && !strings.HasSuffix(name, "_bytes") {
				t.Errorf("%s.%s (%q) is not described", x.Name(), f.Name, name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Document]())
	if len(seen) < 10 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}
