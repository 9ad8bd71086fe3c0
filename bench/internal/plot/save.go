package plot

import (
	"errors"
	"fmt"
	"os"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg" // PNG
	_ "gonum.org/v1/plot/vg/vgsvg" // SVG
)

// save draws a figure into both formats.
func save(name string, width, height vg.Length, paint func(draw.Canvas)) error {
	for _, format := range []string{"svg", "png"} {
		c, err := draw.NewFormattedCanvas(width, height, format)
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		paint(draw.New(c))
		f, err := os.Create(name + "." + format)
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		_, err = c.WriteTo(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("plot: %s: %w", name, err)
		}
	}
	return nil
}
