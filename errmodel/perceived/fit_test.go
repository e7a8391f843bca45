package perceived

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/decode"
)

// softError is the mean |error|, in levels, of the decoder that takes the mean level of
// softmax(f(ŷ)·Cᵀ), for a network without misfit.
func softError(l *Network) (float64, error) {
	levels, m := l.Dims()
	sum := 0.0
	f, row, s := make([]float64, m), make([]float64, m), make([]float64, levels)
	for i := 0; i < levels; i++ {
		for j := 0; j < decode.Strata; j += 3 {
			l.Logits(f, float64(i+1)+l.Noise()*decode.Stratum(j))
			largest := math.Inf(-1)
			for n := range s {
				l.Code().RowTo(row, n)
				s[n] = floats.Dot(row, f)
				largest = max(largest, s[n])
			}
			var mean, total float64
			for n, v := range s {
				q := math.Exp(v - largest)
				total += q
				mean += q * float64(n+1)
			}
			sum += math.Abs(mean/total - float64(i+1))
		}
	}
	return sum / float64(levels*((decode.Strata+2)/3)), nil
}

// observedNetwork returns what a network of the model shows: the expected counts of n samples of
// each level.
func observedNetwork(t *testing.T, p Model, name string, levels int, n uint64, withError bool) observation {
	t.Helper()
	l := learn(t, p, name, levels, nil)
	counts := errmodel.NewCounts(levels, l.Code().Bits())
	row := make([]float64, l.Code().Bits())
	for i := range levels {
		counts.Samples[i] = n
		l.RowTo(row, i)
		for k, e := range row {
			counts.Row(i)[k] = uint64(math.Round(float64(n) * e))
		}
	}
	network := observation{Code: l.Code(), Training: p.Training, Counts: counts, Prior: theory.Uniform(levels)}
	if withError {
		v, _ := softError(l)
		network.Errors = []observedError{{Value: v, Stderr: 0.001 * v, Model: softError}}
	}
	return network
}

func TestFitObservation(t *testing.T) {
	ctx := context.Background()
	const levels = 32
	start := Model{Misfit: DefaultMisfit, Training: BCE}
	for _, s := range []float64{0.8, 1.7} {
		truth := start
		truth.Noise = s
		easy := observedNetwork(t, truth, "johnson", levels, 4000, true)
		f := must.Get(fitObservation(ctx, 2, easy, start))(t)
		if math.Abs(f.Noise.Value/s-1) > 1e-3 || f.CutoffFitted || f.LogCutoffSD != 0.35 ||
			f.Cutoff.Value != DefaultCutoff(levels, f.Noise.Value) {
			t.Errorf("from an easy code: %+v, want s = %v and the default cutoff", f, s)
		}
		if !(f.Noise.Lo < s && s < f.Noise.Hi && f.Noise.Hi/f.Noise.Lo < 1.2) {
			t.Errorf("interval of s: %+v", f.Noise)
		}
		// From the bits alone.
		easy.Errors = nil
		f = must.Get(fitObservation(ctx, 1, easy, start))(t)
		if math.Abs(f.Noise.Value/s-1) > 1e-3 {
			t.Errorf("from bits alone: %+v, want s = %v", f.Noise, s)
		}
		// A dead bit is set aside.
		for i := range levels {
			easy.Counts.Row(i)[2] = easy.Counts.Samples[i] / 2
		}
		easy.Dead = []int{2}
		f = must.Get(fitObservation(ctx, 1, easy, start))(t)
		if math.Abs(f.Noise.Value/s-1) > 1e-3 {
			t.Errorf("with a dead bit: %+v, want s = %v", f.Noise, s)
		}
	}
}

// TestFitCutoff: a network of the default cutoff is recovered; of another cutoff, a part of the
// difference is: the prior holds back, and s takes the rest. The interval holds the truth.
func TestFitCutoff(t *testing.T) {
	ctx := context.Background()
	const levels = 32
	start := Model{Misfit: DefaultMisfit, Training: BCE}
	for _, s := range []float64{0.8, 1.7} {
		truth := start
		truth.Noise = s
		for _, ratio := range []float64{1, 0.6} {
			truth.Cutoff = ratio * DefaultCutoff(levels, s)
			n := observedNetwork(t, truth, "gray", levels, 4000, true)
			var fits []*Fit
			for _, workers := range []int{1, 3} {
				f := must.Get(fitObservation(ctx, workers, n, start))(t)
				fits = append(fits, f)
			}
			f := fits[0]
			if *f != *fits[1] {
				t.Errorf("3 workers: %+v, 1 worker: %+v", fits[1], f)
			}
			moved := math.Log(f.Cutoff.Value / DefaultCutoff(levels, f.Noise.Value))
			less := math.Abs(math.Log(ratio))
			if moved < -less-0.03 || moved > 0.03-0.2*less || math.Abs(f.Noise.Value/s-1) > 0.02+0.1*less {
				t.Errorf("cutoff %v times the default, s = %v: %+v", ratio, s, f)
			}
			if !(f.CutoffFitted && f.LogCutoffSD < 0.35 && f.Cutoff.Lo < truth.Cutoff && truth.Cutoff < f.Cutoff.Hi) {
				t.Errorf("cutoff %v: %+v", truth.Cutoff, f)
			}
		}
	}
}

// TestFitDecoder fits a network that was trained for the decoder: its counts mean
// nothing, its errors do.
func TestFitDecoder(t *testing.T) {
	truth := Model{Noise: 1.5, Misfit: 0.25, Training: CE}
	n := observedNetwork(t, truth, "unary", 32, 1000, true)
	for i := range n.Counts.Wrong {
		n.Counts.Wrong[i] = 500
	}
	f := must.Get(fitObservation(context.Background(), 1, n, Model{Misfit: 0.25, Training: BCE}))(t)
	if math.Abs(f.Noise.Value/truth.Noise-1) > 1e-3 || f.Model.Training != CE {
		t.Errorf("%+v, want s = %v", f, truth.Noise)
	}
}

func TestFitRefusals(t *testing.T) {
	ctx := context.Background()
	start := Model{Misfit: 0.25, Training: BCE}
	good := observedNetwork(t, Model{Noise: 1, Misfit: 0.25, Training: BCE}, "unary", 16, 500, true)
	alter := func(f func(n *observation)) observation {
		n := good
		f(&n)
		return n
	}
	for name, c := range map[string]struct {
		network observation
		start   Model
		want    error
	}{
		"nothing": {alter(func(n *observation) { n.Errors, n.Counts = nil, nil }), start, ErrNothingObserved},
		"hopeless error": {alter(func(n *observation) { n.Counts = nil; n.Errors[0].Value = 9 }), start,
			ErrNothingObserved},
		"no bit is wrong": {alter(func(n *observation) {
			n.Counts = errmodel.NewCounts(16, 15)
			n.Counts.Samples[0] = 9
			n.Errors = nil
		}), start, ErrNothingObserved},
		"misfit":            {good, Model{Misfit: -1}, nil},
		"prior of 3 levels": {alter(func(n *observation) { n.Prior = theory.Uniform(3) }), start, nil},
		"error out of reach": {alter(func(n *observation) {
			n.Errors = []observedError{{Value: 1e-12,
				Model: softError}}
		}), start, ErrNoNoise},
	} {
		good.Errors = []observedError{{Value: 0.8, Model: softError}}
		f, err := fitObservation(ctx, 1, c.network, c.start)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want an error (%v)", name, f, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := fitObservation(ended, 1, good, start); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
