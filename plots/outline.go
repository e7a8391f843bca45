package plots

import (
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	gonumfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlines is a canvas that writes text as the outlines of its letters. An SVG then needs
// no font on the reader's machine, and no half a megabyte of font inside. A PDF has every
// letter, and not those of Latin-1 alone.
type outlines struct {
	vg.CanvasSizer
	widths map[int]bool // of the images of a PDF, in pixels; nil elsewhere
}

// FillString implements vg.Canvas.
func (c outlines) FillString(face gonumfont.Face, at vg.Point, text string) {
	var buf sfnt.Buffer
	// Coordinates are in units of the font, so only the font itself rounds them.
	em := fixed.I(int(face.Face.UnitsPerEm()))
	scale := face.Font.Size / vg.Length(face.Face.UnitsPerEm())
	length := func(x fixed.Int26_6) vg.Length { return scale * vg.Length(x) / 64 }
	place := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + length(p.X), Y: at.Y - length(p.Y)}
	}
	var previous sfnt.GlyphIndex
	for i, r := range text {
		glyph, err := face.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := face.Face.Kern(&buf, previous, glyph, em, font.HintingNone); err == nil {
				at.X += length(kern)
			}
		}
		previous = glyph
		segments, err := face.Face.LoadGlyph(&buf, glyph, em, nil)
		if err != nil {
			continue
		}
		var path vg.Path
		for _, s := range segments {
			switch a := s.Args; s.Op {
			case sfnt.SegmentOpMoveTo:
				if len(path) > 0 {
					path.Close()
				}
				path.Move(place(a[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(a[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(a[0]), place(a[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(a[0]), place(a[1]), place(a[2]))
			}
		}
		if len(path) > 0 {
			path.Close()
			c.Fill(path)
		}
		if advance, err := face.Face.GlyphAdvance(&buf, glyph, em, font.HintingNone); err == nil {
			at.X += length(advance)
		}
	}
}

// DrawImage implements vg.Canvas. A PDF has images upside down, so they are turned over before. Their widths in pixels
// differ, as settlePDF needs: columns are repeated, which changes no picture.
func (c outlines) DrawImage(r vg.Rectangle, img image.Image) {
	if c.widths != nil {
		b, times := img.Bounds(), 1
		for c.widths[times*b.Dx()] {
			times++
		}
		c.widths[times*b.Dx()] = true
		turned := image.NewNRGBA(image.Rect(0, 0, times*b.Dx(), b.Dy()))
		for y := range b.Dy() {
			for x := range times * b.Dx() {
				turned.Set(x, b.Dy()-1-y, img.At(b.Min.X+x/times, b.Min.Y+y))
			}
		}
		img = turned
	}
	c.CanvasSizer.DrawImage(r, img)
}
