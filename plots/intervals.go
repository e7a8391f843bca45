package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// IntervalsData has some predictions with their intervals, and the coverage by level.
type IntervalsData struct {
	Title, Unit string // of labels
	Confidence  float64
	Samples     []Point // X is the prediction, Y the label, from Lo to Hi the interval
	Levels      []Point // X is the level, Y the coverage with its interval
	Style       Style
}

// Intervals draws labels against predictions with their intervals, and below them the coverage by
// level.
func Intervals(d IntervalsData) (*Figure, error) {
	if len(d.Samples) == 0 || len(d.Levels) == 0 {
		return nil, fmt.Errorf("intervals of %d samples and %d levels; want some", len(d.Samples), len(d.Levels))
	}
	for _, p := range d.Samples {
		for _, v := range []float64{p.X, p.Y, p.Lo, p.Hi} {
			if !(math.Abs(v) <= largest) {
				return nil, fmt.Errorf("intervals: %v is drawn; want finite numbers of at most ±%g", v, largest)
			}
		}
	}
	inside := points{glyph: draw.GlyphStyle{Color: blue, Radius: vg.Points(1.6), Shape: draw.RingGlyph{}},
		bar: vg.Points(0.5)}
	outside := points{glyph: draw.GlyphStyle{Color: vermillion, Radius: vg.Points(2.6), Shape: draw.CrossGlyph{}},
		bar: vg.Points(0.9)}
	p := newPlot(d.Style, "prediction"+d.Unit, "label"+d.Unit)
	p.Add(grid())
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, at := range d.Samples {
		if at.Lo <= at.Y && at.Y <= at.Hi {
			inside.at = append(inside.at, at)
		} else {
			outside.at = append(outside.at, at)
		}
		p.X.Min, p.X.Max = min(p.X.Min, at.X), max(p.X.Max, at.X)
		p.Y.Min, p.Y.Max = min(p.Y.Min, at.Y, at.Lo), max(p.Y.Max, at.Y, at.Hi)
	}
	for _, axis := range []struct{ least, most *float64 }{{&p.X.Min, &p.X.Max}, {&p.Y.Min, &p.Y.Max}} {
		margin := 0.03 * (*axis.most - *axis.least)
		if size := max(math.Abs(*axis.least), math.Abs(*axis.most)); margin <= 1e-6*size {
			margin = max(0.01*size, math.SmallestNonzeroFloat32)
		}
		*axis.least, *axis.most = *axis.least-margin, *axis.most+margin
	}
	p.Add(inside, outside)
	key := []series{{name: fmt.Sprintf("label in its %g %% interval", 100*d.Confidence), glyph: inside.glyph},
		{name: "label outside", glyph: outside.glyph}}
	labels := d.Style.keyed(d.Title, p, key, d.Style.of(4.4))

	p = newPlot(d.Style, "level n", "share of labels inside")
	p.Add(grid())
	coverage := points{glyph: draw.GlyphStyle{Color: black, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}},
		bar: vg.Points(0.8), at: d.Levels}
	promised := draw.LineStyle{Color: blue, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(6), vg.Points(2.5)}}
	first, last := d.Levels[0].X-1, d.Levels[len(d.Levels)-1].X+1
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: first, Y: d.Confidence}, {X: last, Y: d.Confidence}}, LineStyle: promised},
		coverage)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = first, last, d.Confidence, 1
	for _, at := range d.Levels {
		p.Y.Min = min(p.Y.Min, at.Lo)
	}
	p.Y.Min = max(0, p.Y.Min-0.05*(1-p.Y.Min))
	key = []series{{name: "observed, 95 % interval", glyph: coverage.glyph},
		{name: "promised over all", line: promised}}
	return Stack(labels, d.Style.keyed("", p, key, d.Style.of(2.8))), nil
}
