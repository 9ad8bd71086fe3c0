package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter shows the times of requests over their begin: a row for each
// contender, a column for each panel, all with the same axis of times.
type Scatter struct {
	Title  string
	Panels []Panel
}

// Panel is one load.
type Panel struct {
	Title  string
	Series []Series
}

// Series are the points of a contender: seconds, milliseconds.
type Series struct {
	Name string
	X, Y []float64
}

// Save writes name.svg and name.png.
func (s Scatter) Save(name string) error {
	rows := 0
	low, high := math.Inf(1), 0.0
	for _, p := range s.Panels {
		rows = max(rows, len(p.Series))
		for _, q := range p.Series {
			for _, y := range q.Y {
				low, high = min(low, y), max(high, y)
			}
		}
	}
	if rows == 0 || high <= 0 {
		return nil // no request was answered
	}
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, len(s.Panels))
		for j, panel := range s.Panels {
			p := plot.New()
			p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = vg.Points(6), vg.Points(6)
			p.Title.TextStyle.Font.Size, p.Y.Label.TextStyle.Font.Size, p.X.Label.TextStyle.Font.Size = vg.Points(8), vg.Points(7), vg.Points(7)
			// The axis of times is logarithmic: requests of 1 ms and those of
			// a second are both to be seen.
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
			p.Y.Min, p.Y.Max = math.Pow(10, math.Floor(math.Log10(max(low, 0.01)))), math.Pow(10, math.Ceil(math.Log10(high)))
			if p.Y.Max <= p.Y.Min {
				p.Y.Max = 10 * p.Y.Min
			}
			if i < len(panel.Series) {
				p.Title.Text = panel.Series[i].Name + ", " + panel.Title
				p.Add(dots{panel.Series[i], palette[i%len(palette)]})
				p.X.Min, p.X.Max = 0, 1e-3
				for _, x := range panel.Series[i].X {
					p.X.Max = max(p.X.Max, x)
				}
			}
			if j == 0 {
				p.Y.Label.Text = "ms"
			}
			if i == rows-1 {
				p.X.Label.Text = "start, s"
			}
			grid[i][j] = p
		}
	}
	return save(name, vg.Length(max(2, len(s.Panels)))*2.2*vg.Inch, vg.Length(rows)*1.3*vg.Inch, func(dc draw.Canvas) {
		tiles := draw.Tiles{Rows: rows, Cols: len(s.Panels), PadX: vg.Points(4), PadY: vg.Points(4), PadTop: vg.Points(4), PadRight: vg.Points(8), PadBottom: vg.Points(2), PadLeft: vg.Points(2)}
		for i, row := range plot.Align(grid, tiles, dc) {
			for j, c := range row {
				grid[i][j].Draw(c)
			}
		}
	})
}

// dots draws points as one path. Points that would cover each other are drawn
// once: ten thousand requests would make megabytes otherwise.
type dots struct {
	Series
	color color.Color
}

func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	const size = 0.8 // points
	type spot struct{ x, y int }
	drawn := map[spot]bool{}
	x, y := p.Transforms(&c)
	var lines [][]vg.Point
	for i := range d.X {
		at := spot{int(float64(x(d.X[i])) / size), int(float64(y(max(d.Y[i], p.Y.Min))) / size)}
		if drawn[at] {
			continue
		}
		drawn[at] = true
		px, py := vg.Length(at.x)*size, vg.Length(at.y)*size
		lines = append(lines, []vg.Point{{X: px, Y: py}, {X: px + size, Y: py}})
	}
	c.StrokeLines(draw.LineStyle{Color: d.color, Width: size}, lines...)
}
