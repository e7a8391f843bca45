package montecarlo

import (
	"belsim/montecarlo/internal/lanes"
	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// scoresOf returns the scores of a problem's decoder, where they are affine in logits of bits that
// err independently and levels are on a line.
func scoresOf(p *Problem) (*decode.Affine, bool) {
	d, ok := p.Decoder.(*decode.Posterior)
	if !ok || p.Kind != IndependentLogits || d.Circular() {
		return nil, false
	}
	a, ok := d.Scores()
	return a, ok && a.Rule == decode.Median
}

// scorer decodes by the scores of the candidates: the median.
type scorer struct {
	tables  *tables.Logits
	sums    []lanes.Ints
	most    lanes.Ints // the largest score of each sample
	place   lanes.Ints // the place of the answer among the candidates
	scratch []lanes.Floats
}

func (d *scorer) prepare(p *tables.Logits) {
	d.tables = p
	n := len(p.Levels)
	d.sums, d.scratch = make([]lanes.Ints, n), make([]lanes.Floats, 2*n+2)
}

func (d *scorer) decode(labels *[lanes.Width]float64, logits []lanes.Ints, _ int) {
	p := d.tables
	lanes.Affine(d.sums, &d.most, logits, p.Affine)
	lanes.Median(&d.place, d.sums, &d.most, p.Limit, p.Scale, d.scratch)
	for i := range labels {
		labels[i] = float64(p.Levels[d.place[i]]) + 1
	}
}
