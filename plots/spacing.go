package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// SpacingData has targets, ascending, and the labels of levels.
type SpacingData struct {
	Title   string
	Targets []float64
	Levels  []float64
	Style   Style
}

// Spacing draws levels over the histogram of the targets, which ends at the end levels.
func Spacing(d SpacingData) (*Figure, error) {
	if len(d.Levels) < 2 || len(d.Targets) == 0 {
		return nil, fmt.Errorf("%d levels of %d targets; want some", len(d.Levels), len(d.Targets))
	}
	lo, hi := d.Levels[0], d.Levels[len(d.Levels)-1]
	if !(lo < hi && math.Abs(lo) <= largest && math.Abs(hi) <= largest) {
		return nil, fmt.Errorf("levels from %v to %v; want finite numbers of at most ±%g", lo, hi, largest)
	}
	within := make(plotter.Values, len(d.Targets))
	for i, y := range d.Targets {
		within[i] = min(max(y, lo), hi)
	}
	bars, err := plotter.NewHist(within, 100)
	if err != nil {
		return nil, err
	}
	bars.FillColor, bars.LineStyle.Width = blue, 0
	_, _, _, most := bars.DataRange()
	p := newPlot(d.Style, "label", "targets")
	p.Add(bars)
	level := draw.LineStyle{Color: vermillion, Width: vg.Points(0.7)}
	for _, v := range d.Levels {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: v}, {X: v, Y: -0.1 * most}}, LineStyle: level})
	}
	margin := 0.01 * (hi - lo)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo-margin, hi+margin, -0.12*most, 1.03*most
	bar := draw.LineStyle{Color: blue, Width: vg.Points(7)}
	key := []series{{name: "targets; those beyond the end levels are in the end bars", line: bar},
		{name: "levels", line: level}}
	return d.Style.keyed(d.Title, p, key, d.Style.of(3.2)), nil
}
