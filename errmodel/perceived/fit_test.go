package perceived

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"belsim/errmodel"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
)

// softError is the mean |error|, in levels, of the decoder that takes the mean level of
// softmax(f(ŷ)·Cᵀ), for a network without misfit.
func softError(l *Network) (float64, error) {
	levels, m := l.Dims()
	sum, f := 0.0, make([]float64, m)
	for i := range levels {
		for j := 0; j < strata; j += 3 {
			l.Logits(f, float64(i+1)+l.Noise()*stratum(j))
			mean, _ := softmax(l.c, f)
			sum += math.Abs(mean - float64(i+1))
		}
	}
	return sum / float64(levels*((strata+2)/3)), nil
}

// shown is a network of the model with what it shows: the expected counts of n samples of each
// level, and its softError as a target.
func shown(t *testing.T, p Model, c *code.Code, n uint64) (*Observed, []target) {
	t.Helper()
	l := must.Get(p.Learn(t.Context(), 1, c, nil))(t)
	counts, row := errmodel.NewCounts(c.Dims()), make([]float64, c.Bits())
	for i := range c.Levels() {
		counts.Samples[i] = n
		l.RowTo(row, i)
		for k, e := range row {
			counts.Row(i)[k] = uint64(math.Round(float64(n) * e))
		}
	}
	v := must.Get(softError(l))(t)
	return &Observed{Code: c, Training: p.Training, Counts: counts, Rates: make([]float64, len(row))},
		[]target{{value: v, sd: 0.001 * v, model: softError}}
}

// width is the difference of the logarithms of the ends of an interval; widest is that of the prior
// of a cutoff.
func width(interval [2]float64) float64 { return math.Log(interval[1] / interval[0]) }

const widest = 2 * 1.959963984540054 * 0.35

// TestFitEasy: codes of few transitions tell s, by an error, by the bits alone, and where a bit is
// set aside. After a training for the decoder the counts mean nothing.
func TestFitEasy(t *testing.T) {
	const levels = 32
	start := Model{Misfit: DefaultMisfit}
	for _, s := range []float64{0.8, 1.7} {
		truth := Model{Noise: s, Misfit: DefaultMisfit, Training: BCE}
		johnson, errors := shown(t, truth, named(t, "johnson", levels), 4000)
		truth.Training = CE
		unary, last := shown(t, truth, named(t, "unary", levels), 1000)
		for i := range unary.Counts.Wrong {
			unary.Counts.Wrong[i] = 500
		}
		dead := *johnson
		dead.Rates = slices.Clone(dead.Rates)
		dead.Rates[2] = math.NaN()
		dead.Counts = errmodel.NewCounts(levels, len(dead.Rates))
		for i := range levels {
			dead.Counts.Samples[i] = johnson.Counts.Samples[i]
			copy(dead.Counts.Row(i), johnson.Counts.Row(i))
			dead.Counts.Row(i)[2] = dead.Counts.Samples[i] / 2
		}
		for what, tt := range map[string]struct {
			network *Observed
			errors  []target
			wide    float64 // Hi over Lo: e^(4·0.036) of an error, and e^(4·0.076) of a rate
		}{
			"an error": {johnson, errors, 1.2}, "bits alone": {johnson, nil, 1.4}, "a dead bit": {&dead, nil, 1.4},
			"CE": {unary, last, 1.2},
		} {
			f := must.Get(tt.network.fit(t.Context(), 2, theory.Uniform(levels), tt.errors, start))(t)
			want := start
			want.Training, want.Noise, want.Floor = tt.network.Training, s, DefaultFloor
			want.Cutoff = want.DefaultCutoff(levels)
			at := fmt.Sprintf("s = %v from %s", s, what)
			must.Equal(t, at, want, f.Model, cmpopts.EquateApprox(1e-3, 0))
			if wide := width(f.CutoffInterval); f.CutoffFitted || math.Abs(wide-widest) > 1e-9 {
				t.Errorf("%s: the cutoff is fitted: %v, ln hi/lo %v", at, f.CutoffFitted, wide)
			}
			must.Within(t, at, s, f.NoiseInterval[0], f.NoiseInterval[1])
			must.Within(t, at+": ln hi/lo", width(f.NoiseInterval), 2*1.96*0.03, math.Log(tt.wide))
		}
	}
}

// TestFitCutoff: a network of the default cutoff is recovered; of another cutoff, a part of the
// difference is: the prior holds back, and s takes the rest. The interval holds the truth.
func TestFitCutoff(t *testing.T) {
	const levels = 32
	for _, s := range []float64{0.8, 1.7} {
		truth := Model{Noise: s, Misfit: DefaultMisfit, Training: BCE}
		for _, ratio := range []float64{1, 0.6} {
			truth.Cutoff = ratio * truth.DefaultCutoff(levels)
			n, errors := shown(t, truth, named(t, "gray", levels), 4000)
			fit := func(workers int) *Fit {
				return must.Get(n.fit(t.Context(), workers, theory.Uniform(levels), errors,
					Model{Misfit: DefaultMisfit}))(t)
			}
			f := fit(1)
			must.Equal(t, "fit of 3 workers", f, fit(3))
			moved := math.Log(f.Cutoff / f.DefaultCutoff(levels))
			less := math.Abs(math.Log(ratio))
			at := fmt.Sprintf("cutoff %v times the default, s = %v: ", ratio, s)
			must.Within(t, at+"logarithm of the cutoff over the default", moved, -less-0.03, 0.03-0.2*less)
			must.Within(t, at+"error of the noise", f.Noise/s-1, -0.02-0.1*less, 0.02+0.1*less)
			must.Equal(t, at+"the cutoff is fitted", true, f.CutoffFitted)
			must.Within(t, at+"the cutoff", truth.Cutoff, f.CutoffInterval[0], f.CutoffInterval[1])
			must.Within(t, at+"its ln hi/lo", width(f.CutoffInterval), 0, widest-1e-9)
		}
	}
}

func TestFitRefusals(t *testing.T) {
	good, observed := shown(t, Model{Noise: 1, Misfit: 0.25, Training: BCE}, named(t, "unary", 16), 500)
	start, uniform := Model{Misfit: 0.25}, theory.Uniform(16)
	of := func(value float64) []target { return []target{{value: value, model: softError}} }
	nothing, right := *good, *good
	nothing.Counts, right.Counts = nil, errmodel.NewCounts(16, 15)
	right.Counts.Samples[0] = 9
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, tt := range map[string]struct {
		ctx     context.Context
		network *Observed
		prior   []float64
		errors  []target
		start   Model
		want    error
	}{
		"nothing":            {t.Context(), &nothing, uniform, nil, start, ErrNothingObserved},
		"hopeless error":     {t.Context(), &nothing, uniform, of(9), start, ErrNothingObserved},
		"no bit is wrong":    {t.Context(), &right, uniform, nil, start, ErrNothingObserved},
		"misfit":             {t.Context(), good, uniform, observed, Model{Misfit: -1}, nil},
		"prior of 3 levels":  {t.Context(), good, theory.Uniform(3), observed, start, nil},
		"error out of reach": {t.Context(), good, uniform, of(1e-12), start, ErrNoNoise},
		"cancelled":          {ended, good, uniform, observed, start, context.Canceled},
	} {
		if f, err := tt.network.fit(tt.ctx, 1, tt.prior, tt.errors, tt.start); err == nil ||
			tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v; want an error (%v)", what, f, err, tt.want)
		}
	}
}
