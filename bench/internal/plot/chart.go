package plot

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is one value for each name, with the range it had.
type Bars struct {
	Title, Unit string
	Names       []string
	Values      []float64
	Low, High   []float64
}

// Save writes name.svg and name.png.
func (b Bars) Save(name string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = b.Title, b.Unit
	p.X.Min = 0
	n := len(b.Names)
	names := make([]string, n)
	for i := range b.Names { // the first one on top
		k := n - 1 - i
		names[i] = b.Names[k]
		bars, err := plotter.NewBarChart(plotter.Values{b.Values[k]}, vg.Points(12))
		if err != nil {
			return err
		}
		bars.Horizontal, bars.XMin, bars.Color, bars.LineStyle.Width = true, float64(i), palette[family(b.Names[k])], 0
		ends, err := plotter.NewLine(plotter.XYs{{X: b.Low[k], Y: float64(i)}, {X: b.High[k], Y: float64(i)}})
		if err != nil {
			return err
		}
		p.Add(bars, ends)
	}
	p.NominalY(names...)
	return save(name, 7*vg.Inch, vg.Length(n)*vg.Points(20)+vg.Points(70), func(dc draw.Canvas) { p.Draw(dc) })
}

// family gives programs of one kind one color.
func family(name string) int {
	switch {
	case len(name) >= 3 && name[:3] == "jkd":
		return 0
	case len(name) >= 6 && name[:6] == "apache":
		return 1
	}
	return 2
}

// Lines are values over a quantity; both axes are logarithmic.
type Lines struct {
	Title, XLabel, YLabel string
	Series                []Series
}

// Save writes name.svg and name.png. Values that are not above 0 are left out.
func (l Lines) Save(name string) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = l.Title, l.XLabel, l.YLabel
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	var ticks plot.ConstantTicks
	seen := map[float64]bool{}
	high := 0.0
	for i, s := range l.Series {
		var points plotter.XYs
		for k := range s.X {
			if s.X[k] <= 0 || s.Y[k] <= 0 {
				continue
			}
			points = append(points, plotter.XY{X: s.X[k], Y: s.Y[k]})
			high = max(high, s.Y[k])
			if !seen[s.X[k]] {
				seen[s.X[k]] = true
				ticks = append(ticks, plot.Tick{Value: s.X[k], Label: strconv.FormatFloat(s.X[k], 'g', -1, 64)})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, dot, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, dot.Color, dot.Shape = palette[i%len(palette)], palette[i%len(palette)], draw.CircleGlyph{}
		p.Add(line, dot)
		p.Legend.Add(s.Name, line, dot)
	}
	if len(ticks) == 0 {
		return nil
	}
	p.X.Tick.Marker = ticks
	p.Y.Max = math.Pow(10, math.Ceil(math.Log10(high))+0.5) // room for the legend
	return save(name, 7*vg.Inch, 5*vg.Inch, func(dc draw.Canvas) { p.Draw(dc) })
}

// palette is one that the color-blind can tell apart (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0, 114, 178, 255}, color.RGBA{213, 94, 0, 255}, color.RGBA{0, 158, 115, 255}, color.RGBA{204, 121, 167, 255},
	color.RGBA{86, 180, 233, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{0, 0, 0, 255}, color.RGBA{120, 120, 120, 255},
}
