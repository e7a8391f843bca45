package fitdecoder

import (
	"context"
	"math"

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

	decoding  int // of the stage baseline: which decoding
	bandwidth int // of the stage affine
	// the weights of the fitted posterior, 0 but for the stage affine, and of the code's
	// correlations
	model, code float64
}

// stage says how rich a candidate is. A richer one must be better by more than its standard error.
type stage int

const (
	baseline stage = iota
	temperature
	affine
	stages
)

// kinds are the names of the stages besides baseline.
var kinds = [stages]string{temperature: KindTemperature, affine: KindAffine}

// The grids. Correlations of the code are a product of experts with the fitted posterior: the
// network knows what it learned from many more samples. Temperatures go from 1/16 to 16.
var (
	modelWeights = [...]float64{0.25, 0.5, 0.75, 1}
	codeShares   = [...]float64{0, 0.2, 0.4, 0.8}
)

const temperatures = 17

func temperatureAt(i int) float64 { return math.Exp2(float64(i-temperatures/2) / 2) }

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
		if readerForm(f.Code, r) != nil {
			out = append(out, candidate{stage: baseline, decoding: i})
		}
	}
	add := func(c candidate) {
		for _, c.rule = range []decode.Rule{decode.Median, decode.Mean} {
			out = append(out, c)
		}
	}
	for i := range temperatures {
		add(candidate{stage: temperature, code: f.Temperature * temperatureAt(i)})
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
func (f *fitting) decoder(c candidate, with []*decode.Affine, values []float64, about About) (*Decoder, error) {
	d := &Decoder{logits: f.Logits, values: values, about: about}
	d.scores = &decode.Affine{Rule: c.rule, Weights: codeWeights(f.Code, c.code), Offsets: make([]float64, f.levels)}
	d.about.Kind, d.about.Circular = kinds[c.stage], f.Code.Circular()
	switch c.stage {
	case baseline:
		r := f.Decodings[c.decoding]
		d.scores, d.logits, d.about.Kind = readerForm(f.Code, r), r.Soft, r.Decoder.Name()
	case affine:
		p := with[c.bandwidth]
		axpy(d.scores.Offsets, c.model, p.Offsets)
		axpy(d.scores.Weights.RawMatrix().Data, c.model, p.Weights.RawMatrix().Data)
	}
	d.sorted = f.sorted && d.logits
	return d, d.complete()
}

// baselineSpreads are those of the baseline candidates, N × candidates.
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
				z := f.Samples.Row(i)
				if !d.logits {
					z = d.signs(sample.Word)
				}
				out[i*len(decoders)+at] = d.spread(z)
			}
			return nil
		}, nil
	})
}
