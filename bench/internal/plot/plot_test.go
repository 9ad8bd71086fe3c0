package plot

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestSave(t *testing.T) {
	points := Series{Name: "jkd", X: []float64{0, 0.1, 0.1, 2}, Y: []float64{0.5, 3, 3, 4000}}
	for name, figure := range map[string]interface{ Save(string) error }{
		"scatter": Scatter{"t", []Panel{{"c=5", []Series{points, {Name: "none answered"}}}, {"c=10", []Series{points}}}},
		"bars":    Bars{"t", "µs", []string{"jkd-a", "apache-b", "c"}, []float64{1, 2, 0}, []float64{0.5, 1, 0}, []float64{2, 3, 0}},
		"lines":   Lines{"t", "connections", "ms", []Series{points, {Name: "zero", X: []float64{1}, Y: []float64{0}}}},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := figure.Save(file); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		svg, err := os.ReadFile(file + ".svg")
		if err != nil || !wellFormed(svg) {
			t.Errorf("%s.svg: %v, %.100q", name, err, svg)
		}
		f, err := os.Open(file + ".png")
		if err != nil {
			t.Fatal(err)
		}
		if m, err := png.Decode(f); err != nil || m.Bounds().Dx() < 100 || m.Bounds().Dy() < 50 {
			t.Errorf("%s.png: %v", name, err)
		}
		f.Close()
	}
}

func wellFormed(text []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(text))
	elements := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			return elements > 3
		}
		if err != nil {
			return false
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
}

// Nothing to draw is no fault, and makes no file.
func TestNothing(t *testing.T) {
	for name, figure := range map[string]interface{ Save(string) error }{
		"scatter": Scatter{Panels: []Panel{{"c=5", []Series{{Name: "x"}}}}},
		"lines":   Lines{},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := figure.Save(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(file + ".svg"); err == nil {
			t.Errorf("%s: a file", name)
		}
	}
}
