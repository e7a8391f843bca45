package fitdecoder

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// candidate is a decoder that Fit may choose. The candidates of a stage have the same kind.
type candidate struct {
	stage stage
	rule  decode.Rule

	decoding  int // of the stages up to stretched: which decoding,
	of        int // and which of the baseline candidates
	bandwidth int // of the stage affine
	// the weights of the fitted posterior, 0 but for the stage affine, and of the code's
	// correlations
	model, code float64
}

// stage says how rich a candidate is. A richer one must be better by more than its standard error.
type stage int

const (
	baseline stage = iota
	shifted
	stretched
	temperature
	affine
	stages
)

// kinds are the names of the stages besides baseline.
var kinds = [stages]string{shifted: KindOffset, stretched: KindLine, temperature: KindTemperature, affine: KindAffine}

// corrections are the lines through the labels of all candidates, fitted to the samples of all folds but some:
// the slope is that of least squares, and the offset is the median of what is left.
func (f *fitting) corrections(without []int) []observed.Line {
	out := slices.Repeat([]observed.Line{{Slope: 1}}, len(f.all))
	for at, c := range f.all {
		if c.stage != shifted && c.stage != stretched {
			continue
		}
		var sums observed.LineSums
		var rest []float64
		each := func(do func(answer, target float64)) {
			for k, fold := range f.folds {
				for _, i := range fold {
					if !slices.Contains(without, k) {
						do(f.baseline[i*len(f.Decodings)+c.decoding], f.Samples.Exact[i])
					}
				}
			}
		}
		each(sums.Add)
		slope := 1.0
		if s := sums.Line().Slope; c.stage == stretched && s > 0.5 && s < 2 { // else it is no scale of labels
			slope = s
		}
		each(func(answer, target float64) { rest = append(rest, target-slope*answer) })
		slices.Sort(rest)
		out[at] = observed.Line{Offset: rest[len(rest)/2], Slope: slope}
	}
	return out
}

// The grids. Correlations of the code are a product of experts with the fitted posterior: the
// network knows what it learned from many more samples. Temperatures go from 1/16 to 16.
var (
	modelWeights = [...]float64{0.25, 0.5, 0.75, 1}
	codeShares   = [...]float64{0, 0.2, 0.4, 0.8}
)

const temperatures = 17

// readerForm is the rule, and the scores, of a baseline decoder in the form of a Decoder; nil where
// it has none.
func readerForm(c *code.Code, r observed.Decoding) *decode.Affine {
	levels, m := c.Dims()
	offsets := make([]float64, levels)
	switch d := r.Decoder.(type) {
	case decode.Gen:
		return &decode.Affine{Rule: decode.MAP, Weights: codeWeights(c, 1), Offsets: offsets}
	case decode.GenEx:
		return &decode.Affine{Rule: decode.Mean, Weights: codeWeights(c, d.Temperature()), Offsets: offsets}
	case decode.BelU:
		// the level next to the number of ones + 1: −(n − 1 − Σ(1+z_k)/2)², less what all levels share
		weights := mat.NewDense(levels, m, nil)
		weights.Apply(func(i, _ int, _ float64) float64 { return float64(i) }, weights)
		for i := range offsets {
			offsets[i] = float64(i*m - i*i)
		}
		return &decode.Affine{Rule: decode.MAP, Weights: weights, Offsets: offsets}
	}
	return nil
}

// candidates lists them all, stage by stage.
func (f *fitting) candidates() []candidate {
	var out []candidate
	for i, r := range f.Decodings {
		if form := readerForm(f.Code, r); form != nil {
			out = append(out, candidate{stage: baseline, rule: form.Rule, decoding: i, of: len(out)})
		}
	}
	for _, c := range slices.Clone(out) {
		for c.stage = shifted; c.stage <= stretched && !f.Code.Circular(); c.stage++ {
			out = append(out, c)
		}
	}
	add := func(c candidate) {
		for _, c.rule = range []decode.Rule{decode.Median, decode.Mean} {
			out = append(out, c)
		}
	}
	for i := range temperatures {
		add(candidate{stage: temperature, code: f.Temperature * math.Exp2(float64(i-temperatures/2)/2)})
	}
	if f.tooLarge {
		return out
	}
	for b := range bandwidths {
		for _, model := range modelWeights {
			for _, code := range codeShares {
				add(candidate{stage: affine, bandwidth: b, model: model, code: f.Temperature * code})
			}
		}
	}
	return out
}

// decoder returns a candidate as a decoder. The labels of levels are values.
func (f *fitting) decoder(c candidate, with *fitted, values []float64, about About) (*Decoder, error) {
	d := &Decoder{logits: f.Logits, values: values, about: about}
	d.scores = &decode.Affine{Rule: c.rule, Weights: codeWeights(f.Code, c.code), Offsets: make([]float64, f.levels)}
	d.about.Kind, d.about.Circular = kinds[c.stage], f.Code.Circular()
	switch c.stage {
	case baseline, shifted, stretched:
		r := f.Decodings[c.decoding]
		if d.scores, d.logits = readerForm(f.Code, r), r.Soft; c.stage == baseline {
			d.about.Kind = r.Decoder.Name()
			break
		}
		by := with.corrections[slices.Index(f.all, c)]
		d.about.Offset, d.about.Slope = by.Offset, by.Slope
		d.values = d.about.corrected(values)
	case affine:
		p := with.posteriors[c.bandwidth]
		axpy(d.scores.Offsets, c.model, p.Offsets)
		axpy(d.scores.Weights.RawMatrix().Data, c.model, p.Weights.RawMatrix().Data)
	}
	d.sorted = f.sorted && d.logits
	return d, d.complete()
}

// baselineSpreads are those of the baseline candidates, N × candidates: no fold changes them.
func (f *fitting) baselineSpreads(ctx context.Context, workers int) ([]spread, error) {
	var decoders []*Decoder
	for _, c := range f.all {
		if c.stage != baseline {
			break
		}
		d, err := f.decoder(c, nil, f.places(), About{})
		if err != nil {
			return nil, err
		}
		decoders = append(decoders, d)
	}
	out := make([]spread, f.Samples.Len()*len(decoders))
	return out, parallel.Each(ctx, workers, f.Samples.Len(), func() (func(context.Context, int) error, error) {
		sample := observed.NewSample(f.m, nil)
		return func(_ context.Context, i int) error {
			sample.Set(f.Samples.Row(i))
			for at, d := range decoders {
				out[i*len(decoders)+at] = d.spread(sample.Outputs(d.logits))
			}
			return nil
		}, nil
	})
}
