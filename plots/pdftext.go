package plots

import (
	"image/color"
	"strings"

	gonumfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// searchable is a canvas of a PDF whose text is drawn as outlines, and lies transparent upon them,
// so that readers can search and copy it.
type searchable struct{ outlines }

// FillString implements vg.Canvas.
func (c searchable) FillString(face gonumfont.Face, at vg.Point, text string) {
	c.outlines.FillString(face, at, text)
	c.Push()
	c.SetColor(color.Transparent)
	c.CanvasSizer.FillString(face, at, latin(text))
	c.Pop()
}

// latin writes text in the bytes of Latin-1, which is all that gonum's PDF canvas knows. Letters
// that Latin-1 has not are spelled, or left out.
func latin(text string) string {
	text = strings.NewReplacer("−", "-", "–", "-", "…", "...", "σ", "sigma", "κ", "kappa", "η", "eta", "τ", "tau",
		"μ", "mu", "≤", "<=", "≥", ">=").Replace(text)
	var out []byte
	for _, r := range text {
		if r < 256 {
			out = append(out, byte(r))
		}
	}
	return string(out)
}
