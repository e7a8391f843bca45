package plots

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ConfusionData is the probability of each answer to each label, L × L.
type ConfusionData struct {
	Title  string
	Levels int
	At     func(i, k int) float64 // P(answer k+1 | label i+1)
	Style  Style
}

// mostDecades is how far below 1 the colours of a confusion matrix reach.
const mostDecades = 8

// logColours are the colours of probabilities, by their decimal logarithms up to 0.
type logColours struct {
	lo     float64 // the end of the bar
	colour palette.ColorMap
}

// Confusion draws a confusion matrix, label 1 at the top, in colours that are logarithms of probabilities:
// the darker the more probable, and white below the end of the colour bar. Of more than 1,600
// levels every few are drawn.
func Confusion(d ConfusionData) *Figure {
	scale := logColours{lo: 0, colour: palette.Reverse(moreland.ExtendedBlackBody())}
	for i := range d.Levels {
		for k := range d.Levels {
			if p := d.At(i, k); p > 0 {
				scale.lo = min(scale.lo, math.Log10(p))
			}
		}
	}
	scale.lo = max(math.Floor(min(scale.lo, -1)), -mostDecades)
	scale.colour.SetMin(scale.lo - 0.15*(-scale.lo)) // the lightest colours are hard to tell from white
	scale.colour.SetMax(0)
	p := newMatrix(d.Style, "answer m", "label n", d.Levels, d.Levels,
		func(i, k int) color.Color { return scale.at(math.Log10(d.At(i, k))) })
	bar := colourBar(d.Style, "probability of answer m to label n; white: below the left end", scale.lo, 0, logTicks, scale)
	const forBar = 50
	return d.Style.titled(d.Title, d.Style.width()+vg.Points(forBar), func(c draw.Canvas) draw.Canvas {
		above, below := draw.Crop(c, 0, 0, vg.Points(forBar+6), 0), draw.Crop(c, 0, 0, 0, vg.Points(forBar-4)-c.Size().Y)
		area, under := drawn(p, above), bar.DataCanvas(below)
		bar.Draw(draw.Crop(below, area.Min.X-under.Min.X, area.Max.X-under.Max.X, 0, 0))
		frame(c, area.Rectangle)
		return area
	})
}

// at is the colour of a logarithm.
func (s logColours) at(v float64) color.Color {
	c, err := s.colour.At(min(v, 0))
	if v < s.lo || err != nil {
		return color.White
	}
	return c
}

// Plot implements plot.Plotter: it draws the colour bar, in strips as colourScale does.
func (s logColours) Plot(c draw.Canvas, p *plot.Plot) {
	strips(c, p, s.at)
	frame(c, c.Rectangle)
}
