package errmodel_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"belsim/errmodel"
	"belsim/theory"
)

// softError is the mean |error|, in levels, of the decoder that takes the mean level of
// softmax(f(ŷ)·Cᵀ), for a network without misfit.
func softError(l *errmodel.Learned) (float64, error) {
	levels, m := l.Dims()
	sum := 0.0
	f, row, s := make([]float64, m), make([]float64, m), make([]float64, levels)
	for i := 0; i < levels; i++ {
		for j := 0; j < errmodel.Strata; j += 3 {
			l.Logits(f, float64(i+1)+l.Noise()*errmodel.Stratum(j))
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
	return sum / float64(levels*((errmodel.Strata+2)/3)), nil
}

func TestNoiseOf(t *testing.T) {
	ctx := context.Background()
	for _, training := range []errmodel.Training{errmodel.BitByBit, errmodel.ForDecoder} {
		c := mustNew(t, "unary", 32)
		p := errmodel.Perceived{Misfit: 0.25, Training: training}
		tolerance := 1e-3
		if training == errmodel.ForDecoder {
			tolerance = 1e-2 // a hundred steps end near the minimum, and the error wavers with s
		}
		for _, s := range []float64{0.31, 1.6, 6} {
			p.Noise = s
			l := learn(t, p, "unary", 32, nil)
			target, _ := softError(l)
			calls := 0
			got, err := errmodel.NoiseOf(ctx, 1, c, nil, errmodel.Perceived{Misfit: 0.25, Training: training}, target,
				func(l *errmodel.Learned) (float64, error) { calls++; return softError(l) })
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got/s-1) > tolerance || calls > 20 {
				t.Errorf("%s: error %v of s = %v comes from s = %v, found with %d calls", training, target, s, got, calls)
			}
		}
	}
	p := errmodel.Perceived{Misfit: 0.25, Training: errmodel.BitByBit}
	c := mustNew(t, "johnson", 16)
	for _, target := range []float64{1e-9, 15} {
		_, err := errmodel.NoiseOf(ctx, 1, c, nil, p, target, softError)
		if !errors.Is(err, errmodel.ErrNoNoise) || !strings.Contains(err.Error(), "johnson") {
			t.Errorf("error %v: %v, want ErrNoNoise", target, err)
		}
	}
	for _, target := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := errmodel.NoiseOf(ctx, 1, c, nil, p, target, softError); err == nil || errors.Is(err, errmodel.ErrNoNoise) {
			t.Errorf("error %v is taken: %v", target, err)
		}
	}
	own := errors.New("own")
	if _, err := errmodel.NoiseOf(ctx, 1, c, nil, p, 1, func(*errmodel.Learned) (float64, error) { return 0, own }); !errors.Is(err, own) {
		t.Errorf("error %v, want the model's", err)
	}
	if _, err := errmodel.NoiseOf(ctx, 1, c, nil, p, 1, func(*errmodel.Learned) (float64, error) { return math.NaN(), nil }); err == nil {
		t.Error("an error that is no number is taken")
	}
	// An error that steps, as a sampled error may, has its root at the step.
	got, err := errmodel.NoiseOf(ctx, 1, c, nil, p, 1, func(l *errmodel.Learned) (float64, error) {
		if l.Noise() < 1.234 {
			return 0, nil
		}
		return 5, nil
	})
	if err != nil || math.Abs(got/1.234-1) > 2e-4 {
		t.Errorf("the step at 1.234 is found at %v: %v", got, err)
	}
}

// observedNetwork returns what a network of the model shows: the expected counts of n samples of
// each level.
func observedNetwork(t *testing.T, p errmodel.Perceived, name string, levels int, n uint64, withError bool) errmodel.Network {
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
	network := errmodel.Network{Code: l.Code(), Training: p.Training, Counts: counts}
	if withError {
		v, _ := softError(l)
		network.Errors = []errmodel.NetworkError{{Value: v, Stderr: 0.001 * v, Model: softError}}
	}
	return network
}

func TestFitPerceived(t *testing.T) {
	ctx := context.Background()
	const levels = 32
	start := errmodel.Perceived{Misfit: errmodel.DefaultMisfit, Training: errmodel.BitByBit}
	for _, s := range []float64{0.8, 1.7} {
		truth := start
		truth.Noise = s
		easy := observedNetwork(t, truth, "johnson", levels, 4000, true)
		f, err := errmodel.FitPerceived(ctx, 2, []errmodel.Network{easy}, start)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Noise.Value/s-1) > 1e-3 || f.CutoffFitted || f.LogCutoffSD != 0.35 || f.Cutoff.Value != errmodel.DefaultCutoff(levels, f.Noise.Value) {
			t.Errorf("from an easy code: %+v, want s = %v and the default cutoff", f, s)
		}
		if !(f.Noise.Lo < s && s < f.Noise.Hi && f.Noise.Hi/f.Noise.Lo < 1.2) {
			t.Errorf("interval of s: %+v", f.Noise)
		}
		// From the bits alone.
		easy.Errors = nil
		f, err = errmodel.FitPerceived(ctx, 1, []errmodel.Network{easy}, start)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Noise.Value/s-1) > 1e-3 {
			t.Errorf("from bits alone: %+v, want s = %v", f.Noise, s)
		}
		// A dead bit is set aside.
		for i := range levels {
			easy.Counts.Row(i)[2] = easy.Counts.Samples[i] / 2
		}
		easy.Dead = []int{2}
		f, err = errmodel.FitPerceived(ctx, 1, []errmodel.Network{easy}, start)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(f.Noise.Value/s-1) > 1e-3 {
			t.Errorf("with a dead bit: %+v, want s = %v", f.Noise, s)
		}
		// A network of the default cutoff is recovered; of another cutoff, most of the
		// difference is, since the prior holds back.
		for _, ratio := range []float64{1, 0.6} {
			truth.Cutoff = ratio * errmodel.DefaultCutoff(levels, s)
			networks := []errmodel.Network{observedNetwork(t, truth, "johnson", levels, 4000, true), observedNetwork(t, truth, "gray", levels, 4000, true)}
			var fits []*errmodel.PerceivedFit
			for _, workers := range []int{1, 3} {
				f, err := errmodel.FitPerceived(ctx, workers, networks, start)
				if err != nil {
					t.Fatal(err)
				}
				fits = append(fits, f)
			}
			f := fits[0]
			if *f != *fits[1] {
				t.Errorf("3 workers: %+v, 1 worker: %+v", fits[1], f)
			}
			moved := math.Log(f.Cutoff.Value / errmodel.DefaultCutoff(levels, f.Noise.Value))
			if math.Abs(moved-math.Log(ratio)) > 0.03+0.5*math.Abs(math.Log(ratio)) || math.Abs(f.Noise.Value/s-1) > 0.02 {
				t.Errorf("cutoff %v times the default, s = %v: %+v", ratio, s, f)
			}
			if !(f.CutoffFitted && f.LogCutoffSD < 0.35 && f.Cutoff.Lo < truth.Cutoff && truth.Cutoff < f.Cutoff.Hi) {
				t.Errorf("cutoff %v: %+v", truth.Cutoff, f)
			}
			if f.ChiSquare > 3 {
				t.Errorf("χ² = %v for a network of the model itself", f.ChiSquare)
			}
		}
	}
}

// TestFitPerceivedDecoder fits a network that was trained for the decoder: its counts mean
// nothing, its errors do.
func TestFitPerceivedDecoder(t *testing.T) {
	truth := errmodel.Perceived{Noise: 1.5, Misfit: 0.25, Training: errmodel.ForDecoder}
	n := observedNetwork(t, truth, "unary", 32, 1000, true)
	for i := range n.Counts.Wrong {
		n.Counts.Wrong[i] = 500
	}
	f, err := errmodel.FitPerceived(context.Background(), 1, []errmodel.Network{n}, errmodel.Perceived{Misfit: 0.25, Training: errmodel.BitByBit})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(f.Noise.Value/truth.Noise-1) > 1e-3 || f.Model.Training != errmodel.ForDecoder {
		t.Errorf("%+v, want s = %v", f, truth.Noise)
	}
}

func TestFitPerceivedRefusals(t *testing.T) {
	ctx := context.Background()
	start := errmodel.Perceived{Misfit: 0.25, Training: errmodel.BitByBit}
	good := observedNetwork(t, errmodel.Perceived{Noise: 1, Misfit: 0.25, Training: errmodel.BitByBit}, "unary", 16, 500, true)
	alter := func(f func(n *errmodel.Network)) []errmodel.Network {
		n := good
		f(&n)
		return []errmodel.Network{n}
	}
	for name, c := range map[string]struct {
		networks []errmodel.Network
		start    errmodel.Perceived
		want     error
	}{
		"no network":     {nil, start, errmodel.ErrNothingObserved},
		"nothing":        {alter(func(n *errmodel.Network) { n.Errors, n.Counts = nil, nil }), start, errmodel.ErrNothingObserved},
		"hopeless error": {alter(func(n *errmodel.Network) { n.Counts = nil; n.Errors[0].Value = 9 }), start, errmodel.ErrNothingObserved},
		"no bit is wrong": {alter(func(n *errmodel.Network) {
			n.Counts = errmodel.NewCounts(16, 15)
			n.Counts.Samples[0] = 9
			n.Errors = nil
		}), start, errmodel.ErrNothingObserved},
		"levels differ":      {append(alter(func(*errmodel.Network) {}), observedNetwork(t, errmodel.Perceived{Noise: 1, Training: errmodel.BitByBit}, "unary", 8, 50, true)), start, nil},
		"bits differ":        {alter(func(n *errmodel.Network) { n.Counts = errmodel.NewCounts(16, 3) }), start, nil},
		"impossible counts":  {alter(func(n *errmodel.Network) { n.Counts = &errmodel.Counts{Levels: 16, Bits: 15} }), start, nil},
		"training":           {alter(func(n *errmodel.Network) { n.Training = "" }), start, nil},
		"misfit":             {[]errmodel.Network{good}, errmodel.Perceived{Misfit: -1}, nil},
		"no model":           {alter(func(n *errmodel.Network) { n.Errors = []errmodel.NetworkError{{Value: 1}} }), start, nil},
		"wrong error":        {alter(func(n *errmodel.Network) { n.Errors = []errmodel.NetworkError{{Value: -1, Model: softError}} }), start, nil},
		"prior of 3 levels":  {alter(func(n *errmodel.Network) { n.Prior = theory.Uniform(3) }), start, nil},
		"error out of reach": {alter(func(n *errmodel.Network) { n.Errors = []errmodel.NetworkError{{Value: 1e-12, Model: softError}} }), start, errmodel.ErrNoNoise},
	} {
		good.Errors = []errmodel.NetworkError{{Value: 0.8, Model: softError}}
		f, err := errmodel.FitPerceived(ctx, 1, c.networks, c.start)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want an error (%v)", name, f, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := errmodel.FitPerceived(ended, 1, []errmodel.Network{good}, start); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}
