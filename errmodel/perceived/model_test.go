package perceived

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

func learn(tb testing.TB, p Model, name string, levels int, prior []float64) *Network {
	tb.Helper()
	return must.Get(p.Learn(context.Background(), 1, named(tb, name, levels), prior))(tb)
}

// TestLearnWorkers compares results to the last bit.
func TestLearnWorkers(t *testing.T) {
	for _, training := range []Training{BCE, CE} {
		learnt := func(workers int) *Network {
			p := Model{Noise: 1.3, Misfit: 0.25, Training: training}
			return must.Get(p.Learn(t.Context(), workers, named(t, "hexj", 32), nil))(t)
		}
		want := learnt(1)
		for _, workers := range []int{2, 5, 0} {
			if got := learnt(workers); !slices.Equal(got.logits, want.logits) ||
				!slices.Equal(got.residualSD, want.residualSD) {
				t.Errorf("%s: %d workers give another result", training, workers)
			}
		}
	}
}

func TestPerceivedRefusals(t *testing.T) {
	good := Model{Noise: 1, Misfit: 0.25, Training: BCE}
	nan, inf := math.NaN(), math.Inf(1)
	fields := map[string]func(p *Model) *float64{
		"noise": func(p *Model) *float64 { return &p.Noise }, "within": func(p *Model) *float64 { return &p.Within },
		"cutoff": func(p *Model) *float64 { return &p.Cutoff }, "misfit": func(p *Model) *float64 { return &p.Misfit },
		"floor": func(p *Model) *float64 { return &p.Floor },
	}
	bad := []Model{{Noise: 1, Misfit: 0.25}, {Noise: 1, Misfit: 0.25, Training: "bits"}}
	for field, values := range map[string][]float64{
		"noise": {0, -1, nan, inf, 0.0199, 64.1, 1e308}, "within": {-1, nan, inf},
		"cutoff": {1e-100, 1e10, -1, nan, inf}, "misfit": {1e155, -0.1, nan, inf}, "floor": {1e-160, 1e160, -0.1, nan},
	} {
		for _, v := range values {
			p := good
			*fields[field](&p) = v
			bad = append(bad, p)
		}
	}
	for _, p := range bad {
		if _, err := p.Learn(t.Context(), 1, named(t, "unary", 4), nil); p.Check(4) == nil || err == nil {
			t.Errorf("%+v is taken, or learnt", p)
		}
	}
	for _, prior := range [][]float64{{1, 2}, {1, -1, 1, 1}, {0, 0, 0, 0}, {1, nan, 1, 1}, {inf, 1, 1, 1}} {
		if _, err := good.Learn(context.Background(), 1, named(t, "unary", 4), prior); err == nil {
			t.Errorf("prior %v is taken", prior)
		}
	}
	real := must.Get(code.FromReal("own", mat.NewDense(4, 2, []float64{-3, 1, -1, 2, 0, -4, 2, 2})))(t)
	if _, err := good.Learn(t.Context(), 1, real, nil); err == nil ||
		err.Error() != "own: want a binary code of 4 levels" {
		t.Errorf("a code of real numbers: %v", err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, training := range []Training{BCE, CE} {
		good.Training = training
		if _, err := good.Learn(ended, 2, named(t, "unary", 16), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want the context's", training, err)
		}
	}
}

// random is a model for codes of so many levels: each parameter is at an end of its range, in it
// or, where it may be, left out.
func random(rng *rand.Rand, levels int) Model {
	of := func(lo, hi float64) float64 {
		switch rng.IntN(4) {
		case 0:
			return lo
		case 1:
			return hi
		}
		return math.Exp(math.Log(lo) + rng.Float64()*(math.Log(hi)-math.Log(lo)))
	}
	p := Model{Noise: of(smallestNoise(levels), mostNoise*float64(levels)),
		Training: []Training{BCE, CE, Soft}[rng.IntN(3)]}
	if rng.IntN(3) == 0 {
		p.Noise, p.Within = of(5e-324, float64(levels)), WithinLevel
	}
	for value, ends := range map[*float64][2]float64{&p.Misfit: {1e-6, mostMisfit},
		&p.Cutoff: {leastCutoff, mostCutoff}, &p.Floor: {leastFloor, mostFloor}} {
		if rng.IntN(3) > 0 {
			*value = of(ends[0], ends[1])
		}
	}
	return p
}

// TestRanges: in its ranges and at their ends, a model gives numbers: logits, residuals, error
// probabilities and the errors of decoders, also where most levels hardly occur.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	count := 75
	if os.Getenv("BELSIM_LONG") != "" {
		count = 1000
	}
	for range count {
		levels := 2 + rng.IntN(23)
		c := named(t, []string{"unary", "gray", "johnson", "onehot", "hadamard"}[rng.IntN(5)], levels)
		p := random(rng, levels)
		prior := make([]float64, levels)
		for i := range prior {
			prior[i] = []float64{0, 5e-324, 1e-9, 1, 3}[rng.IntN(5)]
		}
		prior[0], prior[levels-1] = 3, 1e-9
		if rng.IntN(2) == 0 {
			prior = slices.Repeat([]float64{1}, levels)
		}
		l := must.Get(p.Learn(t.Context(), 1, c, prior))(t)
		f, wrong := make([]float64, c.Bits()), make([]float64, c.Bits())
		sd := l.ResidualSD()
		for _, y := range []float64{-1e30, 0.5, 1, float64(levels) * rng.Float64(), float64(levels) + 0.5, 1e30} {
			l.Logits(f, y)
			l.WrongTo(wrong, 0, y)
			for k, v := range f {
				at := fmt.Sprintf("%s of %d levels, %+v, bit %d at %v: ", c.Name(), levels, p, k+1, y)
				must.Within(t, at+"logit", v, -math.MaxFloat64, math.MaxFloat64)
				must.Within(t, at+"residual", sd[k], 0, 1e9)
				must.Within(t, at+"probability of an error", wrong[k], 0, 1)
				must.Within(t, at+"that of the last level", l.At(levels-1, k), 0, 1)
			}
		}
		gen, ex := must.Get(decode.New("gen", c))(t), must.Get(decode.New("gen-ex", c))(t)
		nodes := must.Get(NewNodes(64, prior, c.Bits(), Seed))(t)
		for i, e := range must.Get(nodes.Errors(t.Context(), 1, l,
			[]observed.Decoding{{Decoder: gen}, {Decoder: gen, Soft: true}, {Decoder: ex, Soft: true}}))(t) {
			if !(e >= 0 && e <= float64(levels-1)) {
				t.Fatalf("%s of %d levels, %+v: error %d is %v", c.Name(), levels, p, i+1, e)
			}
		}
	}
}
