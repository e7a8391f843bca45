package assess

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/head"
	"belsim/errmodel/mixturefit"
	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// mixture is the Gaussian mixture of a network.
type mixture struct {
	*mixturefit.Fit
	intervals [2][2]float64      // of r and σ
	erring    uint64             // samples with a wrong bit
	errors    mat.Matrix         // L × M; observed for the bits that are set aside
	shared    *mixturefit.Shared // noise that all bits share; nil where it is not fitted
	unfit     string             // why r and σ are not fitted to wrong outputs; "" where they are, or none is wrong
}

// fitMixture fits r and σ by maximum likelihood, and reads all samples again for their intervals, which
// a network that was not trained bit by bit has not. Without a wrong output r is 0. It refuses targets
// that are all alike.
func fitMixture(ctx context.Context, workers int, n *network, done func(uint64)) (*mixture, error) {
	counts := n.seen.Counts
	samples, wrong := counts.Total()
	if lowest, highest := occurring(counts.Prior()); lowest == highest {
		return nil, fmt.Errorf("%s: all %d targets are level %s; want at least two levels", n.source.Targets.Name(),
			samples, position.At(lowest))
	}
	model, err := mixturefit.New(ctx, workers, n.code, counts, n.live())
	switch {
	case errors.Is(err, mixturefit.ErrNoFit):
		none := &mixture{Fit: &mixturefit.Fit{Sigma: math.NaN()}, intervals: [2][2]float64{unknown(), unknown()},
			errors: mat.NewDense(n.code.Levels(), n.code.Bits(), nil)}
		if done(samples); wrong > 0 {
			none.R, none.unfit = math.NaN(), fmt.Sprintf("r and σ are not fitted: %v", err)
		}
		return none, nil
	case err != nil:
		return nil, err
	}
	e, err := model.Table(ctx)
	if err != nil {
		return nil, err
	}
	e = withDead(n, e)
	if n.training != head.BCE {
		done(samples)
		return &mixture{Fit: model, intervals: [2][2]float64{unknown(), unknown()}, erring: samples, errors: e}, nil
	}
	joint, err := mixturefit.NewJoint(ctx, model)
	if err != nil {
		return nil, err
	}
	words := mixturefit.NewWords(n.code)
	if err := observed.Wrong(ctx, n.source, n.code, func(i int, wrong []int) {
		joint.Add(i, wrong)
		words.Add(i, wrong)
	}, done); err != nil {
		return nil, err
	}
	shared, err := mixturefit.FitShared(ctx, words, n.live())
	if err != nil && !errors.Is(err, mixturefit.ErrNoFit) {
		return nil, err
	}
	return &mixture{Fit: model, intervals: joint.Intervals(), erring: joint.Erring, errors: e, shared: shared}, nil
}

// withDead is a table of error probabilities, L × M, with the observed rates of the bits that
// are set aside.
func withDead(n *network, e mat.Matrix) mat.Matrix {
	if len(n.aside()) == 0 {
		return e
	}
	counts, out := n.seen.Counts, mat.DenseCopyOf(e)
	all, _ := counts.Total()
	for i, samples := range counts.Samples {
		for _, k := range n.aside() {
			rate := float64(counts.Bit(k-1)) / float64(all)
			if samples > 0 {
				rate = float64(counts.Row(i)[k-1]) / float64(samples)
			}
			out.Set(i, k-1, rate)
		}
	}
	return out
}

// remarks are sentences about the mixture: how many bits are wrong, and what the data do not tell.
func (n *network) remarks(f *Fit, m *mixture) []string {
	none := when(table.Missing(f.SigmaInterval[0]), "r and σ have no intervals: errors hardly depend on the distance from a "+
		"transition, or all lie beside one")
	switch {
	case m.unfit != "":
		none = m.unfit
	case n.training != head.BCE && !f.predicts():
		none = "r and σ have no intervals: the outputs were not trained bit by bit, so their thresholds at 0 mean nothing"
	case m.erring < mixturefit.FewestErring:
		none = fmt.Sprintf("%d samples %s: too few for intervals, which need %d", m.erring,
			map[bool]string{true: "are wrong", false: "have a wrong bit"}[f.predicts()], mixturefit.FewestErring)
	}
	share := float64(f.WrongBits) / float64(f.Samples) / float64(f.Bits)
	return sentences(when(m.Limited, "r is as large as it can be: some error probability of the fit is 1"), none,
		when(!f.predicts(), fmt.Sprintf("%.3g %% of the bits are wrong", 100*share)))
}

// unknown is an interval without ends.
func unknown() [2]float64 { return [2]float64{math.NaN(), math.NaN()} }
