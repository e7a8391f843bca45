package forecast

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/perceived"
)

// Comparison puts a network beside the model.
type Comparison struct {
	Errors []float64 // under the model, of each decoding; NaN where the model says nothing
	Rates  []BitRate // after a training bit by bit: by the number of transitions
	// Furthest is the largest distance of an observed error from the model's, as a share of the
	// model's.
	Furthest float64
	// Distance is the largest distance of an observed error from the model's, of a rate from the
	// model's, and of the dispersion of wrong bits where it is smaller than the model's, in
	// standard deviations of what networks of tables differ from the model by.
	Distance float64
	Learnt   *perceived.Network // what a network of the model learns of the code
}

// BitRate is the mean error rate of the bits with a number of transitions, beside the model's.
type BitRate struct {
	// number of transitions of the bits
	Transitions int `json:"transitions" text:"transitions"`
	// number of such bits
	Bits int `json:"bits" text:"bits"`
	// share of the samples in which such a bit is wrong
	Observed float64 `json:"observed" text:"observed"`
	// the same under the perceived-label model
	Model float64 `json:"model" text:"perceived label"`
}

// The standard deviations of what networks differ from the model by, where one is compared with it:
// testdata/coverage says how often networks are rejected that should be, or should not.
const (
	comparedSD = 0.018 // of the logarithm of an error, to which s was fitted
	// observedRate is that of a rate of wrong bits, and relativeRate the same as a share of the
	// rate.
	observedRate, relativeRate = 0.03, 0.15
	// logDispersion is that of the logarithm of a dispersion (perceived.Network.Dispersion), and
	// dispersionNoise the variance that one sample adds. Of 34 networks of five tasks none is more
	// than 0.22 below the model's.
	logDispersion, dispersionNoise = 0.1, 3
)

// Compare puts a network beside the forecaster's model.
func (f *Forecaster) Compare(ctx context.Context, n *perceived.Observed, nodes *perceived.Nodes) (*Comparison, error) {
	l, raw, err := f.code(ctx, nodes, nodes, n.Code, n.Training, n.Decodings)
	if err != nil {
		return nil, err
	}
	out := &Comparison{Learnt: l}
	for i, e := range n.Errors {
		x := &raw[i]
		if !n.Training.Describes(n.Decodings[i]) {
			out.Errors = append(out.Errors, math.NaN())
			continue
		}
		out.Errors = append(out.Errors, x.model)
		if e.Mean > 0 && x.model > 0 {
			off, t := math.Abs(math.Log(e.Mean/x.model)), x.traits()
			sd := math.Hypot(comparedSD, math.Hypot(f.Law.Falls*t.falls, f.Law.Uneven*t.uneven))
			out.Distance = max(out.Distance, off/math.Hypot(sd, relative(e)))
			out.Furthest = max(out.Furthest, math.Abs(e.Mean/x.model-1))
		}
	}
	if n.Training != perceived.BCE {
		return out, nil
	}
	var rates mat.VecDense // over a prior that adds up to 1
	rates.MulVec(l.Table().T(), mat.NewVecDense(len(f.Prior), f.Prior))
	rates.ScaleVec(1/floats.Sum(f.Prior), &rates)
	for k, at := range n.Code.Transitions() {
		if math.IsNaN(n.Rates[k]) {
			continue
		}
		i := slices.IndexFunc(out.Rates, func(r BitRate) bool { return r.Transitions == len(at) })
		if i < 0 {
			i = len(out.Rates)
			out.Rates = append(out.Rates, BitRate{Transitions: len(at)})
		}
		r := &out.Rates[i]
		r.Bits++
		r.Observed += n.Rates[k]
		r.Model += rates.AtVec(k)
	}
	slices.SortFunc(out.Rates, func(a, b BitRate) int { return a.Transitions - b.Transitions })
	for i := range out.Rates {
		r := &out.Rates[i]
		r.Observed /= float64(r.Bits)
		r.Model /= float64(r.Bits)
		// The rate of easy bits is in proportion to s; of others it differs by observedRate.
		sd := math.Hypot(observedRate, relativeRate*r.Model)
		off := math.Abs(r.Observed-r.Model) / math.Hypot(sd, math.Sqrt(r.Model*(1-r.Model)/max(n.Samples, 1)))
		out.Distance = max(out.Distance, off)
	}
	// Bits that err more independently than one perceived label lets them; where they err less so,
	// the noise has long tails.
	if n.Dispersion > 0 {
		off := math.Log(l.Dispersion(f.Prior)/n.Dispersion) / math.Hypot(logDispersion,
			math.Sqrt(dispersionNoise/max(n.Samples, 1)))
		out.Distance = max(out.Distance, off)
	}
	return out, nil
}
