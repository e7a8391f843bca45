package montecarlo

import (
	"belsim/montecarlo/internal/lanes"
	"belsim/montecarlo/tables"
	"belsim/theory/decode"
)

// scored is implemented by decoders whose scores may be affine in the logits.
type scored interface {
	Scores() (a *decode.Affine, ok bool)
}

// scoresOf returns the scores of a problem's decoder, where they are affine in logits of bits that
// err independently, and the labels are levels.
func scoresOf(p *Problem) (*decode.Affine, bool) {
	d, ok := p.Decoder.(scored)
	if !ok || p.Kind != IndependentLogits || p.Continuous {
		return nil, false
	}
	return d.Scores()
}

// scorer decodes by the scores of the candidates.
type scorer struct {
	rule    decode.Rule
	tables  *tables.Logits
	sums    []lanes.Ints
	most    lanes.Ints // the largest score of each sample
	place   lanes.Ints // the place of the answer among the candidates
	scratch []lanes.Floats
	offsets []float32 // of each candidate from the true level
}

func scorerOf(p *Problem) (latentDecoder, bool) {
	a, ok := scoresOf(p)
	if !ok {
		return nil, false
	}
	return &scorer{rule: a.Rule}, true
}

func (d *scorer) prepare(p *tables.Logits) {
	d.tables = p
	n := len(p.Levels)
	d.sums, d.scratch = make([]lanes.Ints, n), make([]lanes.Floats, 2*n+2)
	d.offsets = d.offsets[:0]
	for _, level := range p.Levels {
		d.offsets = append(d.offsets, float32(int(level)-p.Row))
	}
}

func (d *scorer) decode(labels *[lanes.Width]float64, logits []lanes.Ints, _ int) {
	p := d.tables
	lanes.Affine(d.sums, &d.most, logits, p.Affine)
	if d.rule == decode.Mean {
		var weight, sum lanes.Floats
		lanes.Softmax(&weight, &sum, d.sums, &d.most, d.offsets, p.Limit, p.Scale)
		softLabels(labels, p.Row, &sum, &weight)
		return
	}
	if d.rule == decode.Median {
		lanes.Median(&d.place, d.sums, &d.most, p.Limit, p.Scale, d.scratch)
	} else {
		lanes.First(&d.place, d.sums, &d.most)
	}
	for i := range labels {
		labels[i] = float64(p.Levels[d.place[i]]) + 1
	}
}
