package result

import (
	"path/filepath"
	"reflect"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{3, 1, 2}, Spread{2, 1, 3}},
		{[]float64{4, 1, 3, 2}, Spread{2.5, 1, 4}},
	} {
		if got := SpreadOf(tt.values); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.values, got, tt.want)
		}
	}
}

func TestOver(t *testing.T) {
	for over, want := range map[Over]float64{Middle: 2, Sum: 10, Greatest: 7, Least: 1} {
		if got := over.Of([]float64{7, 1, 2}); got != want {
			t.Errorf("%v: %v, want %v", over, got, want)
		}
		if got := over.Of(nil); got != 0 {
			t.Errorf("%v of nothing: %v", over, got)
		}
	}
}

func section() Section {
	s := Section{Scenario: "s"}
	for round, v := range []float64{1, 2, 4} {
		s.Add("x", "a", round, map[string]float64{CPU: v})
		s.Add("x", "b", round, map[string]float64{CPU: 2})
		s.Add("y", "b", round, map[string]float64{Rate: 7})
	}
	s.Add("x", "a", 3, map[string]float64{CPU: 100}) // a round that b has not
	return s
}

func TestSection(t *testing.T) {
	s := section()
	if got := s.Cases(); !reflect.DeepEqual(got, []string{"x", "y"}) {
		t.Errorf("cases %q", got)
	}
	if got := s.Contenders("x"); !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("contenders of x: %q", got)
	}
	if got := s.Contenders("y"); !reflect.DeepEqual(got, []string{"b"}) {
		t.Errorf("contenders of y: %q", got)
	}
	if r, ok := s.Ratio("x", "a", "b", CPU); !ok || r != (Spread{1, 0.5, 2}) {
		t.Errorf("ratio %v, %v", r, ok)
	}
	for _, tt := range [][2]string{{"x", "c"}, {"y", "a"}, {"z", "a"}} {
		if r, ok := s.Ratio(tt[0], tt[1], "b", CPU); ok {
			t.Errorf("ratio of %v: %v", tt, r)
		}
	}
	if v, ok := s.Median("x", "a", CPU); !ok || v != 3 {
		t.Errorf("median %v, %v", v, ok)
	}
	if v, ok := s.Median("y", "b", CPU); ok {
		t.Errorf("median of nothing: %v", v)
	}
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.json")
	r, err := Read(name)
	if err != nil || len(r.Sections) != 0 {
		t.Fatalf("a file that is not there: %+v, %v", r, err)
	}
	names := []string{"r", "s", "t"}
	r.Put(Section{Scenario: "t"}, names)
	r.Put(section(), names)
	r.Put(Section{Scenario: "t", About: "again"}, names)
	if err := r.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil || !reflect.DeepEqual(got, r) {
		t.Fatalf("%+v, %v\nwant %+v", got, err, r)
	}
	if len(got.Sections) != 2 || got.Sections[0].Scenario != "s" || got.Section("t").About != "again" || got.Section("r") != nil {
		t.Errorf("%+v", got.Sections)
	}
}
