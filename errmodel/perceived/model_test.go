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

// TestSharedMisfit computes the misfit after a training for the decoder bit by bit from its
// definition.
func TestSharedMisfit(t *testing.T) {
	const levels = 16
	for _, name := range []string{"unary", "onehot", "hexj", "gray"} {
		l := learn(t, Model{Noise: 0.9, Misfit: 0.25, Training: CE}, name, levels, nil)
		c, m, ch := l.Code(), l.Code().Bits(), newChannel(levels, l.Noise(), must.Get(shares(nil, levels))(t))
		at := func(g, k int) float64 { return l.logits[min(max(g, 0), len(ch.weight)-1)*m+k] }
		for k, got := range l.ResidualSD() {
			slopes, floors, count := 0.0, 0.0, 0.0
			for i := range levels - 1 {
				if c.Bit(i, k) == c.Bit(i+1, k) {
					continue
				}
				count++
				floors += 1 / float64(c.Distance(i, i+1))
				for g, w := range ch.weight {
					rise, wide := 0.0, float64(min(g+1, len(ch.weight)-1)-max(g-1, 0))*ch.step
					for j := range m {
						if c.Bit(i, j) != c.Bit(i+1, j) {
							rise += map[bool]float64{true: 1, false: -1}[c.Bit(i+1, j)] * (at(g+1, j) - at(g-1,
								j)) / wide
						}
					}
					slopes += w * rise * rise / float64(c.Distance(i, i+1))
				}
			}
			if count == 0 {
				if got != 0 {
					t.Errorf("%s, bit %d: %v", name, k, got)
				}
				continue
			}
			floor := 1 / (4*count/(0.04*floors) + 1/(1.75*1.75*(l.variances[k]+1e-12)))
			if want := math.Sqrt(0.25*0.25*slopes/count + floor); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%s, bit %d: %v, want %v", name, k, got, want)
			}
		}
	}
}

// TestLearnPrototype compares with an implementation of the same model in NumPy, written by itself:
// Newton's method on a dense matrix of features. The numbers are the logits of four bits (first
// row: their index from 0) at two perceived labels, on grid points, by label and bit; and their
// misfits and their mean error probability, by integration over the grid instead of strata. η is
// 0.25, and the prior is uniform.
//
// Both find the minimum: only far logits, without weight, differ by more than rounding of the last
// printed digit. TestReference compares networks after CE.
func TestLearnPrototype(t *testing.T) {
	for _, c := range []struct {
		code                 string
		levels               int
		noise                float64
		bits                 []int
		labels               []float64
		logits, misfits, err []float64
	}{
		{"unary", 64, 1.6, []int{0, 21, 31, 62}, []float64{13.95, 34.09},
			[]float64{11.2653, -9.84615, -21.3864, -41.9871, 27.9849, 13.3496, 1.83053, -25.3525}, []float64{0.287747,
				0.349965, 0.350321, 0.287747}, []float64{0.0137493, 0.0199833, 0.0199847, 0.0137493}},
		{"hadamard", 64, 1.6, []int{0, 21, 32, 63}, []float64{13.95, 34.09},
			[]float64{20, -0.0543953, 21.3663, 0.0039135, 20, -0.0319435, -1.83036, 0.0279295}, []float64{0, 0.095539,
				0.350577, 0.0307652}, []float64{0, 0.487345, 0.0199852, 0.490379}},
		{"onehot", 64, 1.6, []int{0, 21, 32, 63}, []float64{13.95, 34.09},
			[]float64{-11.2275, -3.57361, -4.45282, -41.9229, -27.8927, -4.1914, -3.57766,
				-25.2618}, []float64{0.287721, 0.19875, 0.194241, 0.287721},
			[]float64{0.0137488, 0.015625, 0.015625, 0.0137488}},
		{"hexj", 64, 1.6, []int{0, 5, 8, 15}, []float64{13.95, 34.09}, []float64{-20, -39.7463, 3.07296, -2.10021, -20,
			-16.583, -3.20314, 1.77795}, []float64{0, 0.350298, 0.237236, 0.213843},
			[]float64{0, 0.0199837, 0.0805312, 0.148367}},
		{"gray", 64, 5, []int{0, 2, 3, 5}, []float64{7.5, 35.5}, []float64{-9.22125, 0.1246, 0.0601748, 0.00321522,
			1.08448, -0.620823, -0.0289271, -0.00152985}, []float64{0.220351, 0.201456, 0.144837, 0.0120519},
			[]float64{0.0626948, 0.254424, 0.484545, 0.499357}},
		{"hadamard", 256, 5.0, []int{0, 85, 128, 255}, []float64{55.1667, 133.5},
			[]float64{20, 0.00134337, 26.5881, 3.84766e-05, 20, -0.00179606, -1.81275, -6.5554e-05}, []float64{0,
				0.00179759, 0.219578, 6.88381e-05}, []float64{0, 0.499128, 0.0157126, 0.499707}},
	} {
		cutoff := 0.95 * math.Pow(float64(c.levels)/c.noise, 0.75) // the prototype's default
		l := learn(t, Model{Noise: c.noise, Misfit: 0.25, Training: BCE, Cutoff: cutoff}, c.code, c.levels, nil)
		near := func(what string, got, want, tolerance float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
				t.Errorf("%s of %d levels: %s is %v, want %v", c.code, c.levels, what, got, want)
			}
		}
		f := make([]float64, l.Code().Bits())
		for i, y := range c.labels {
			l.Logits(f, y)
			for j, k := range c.bits {
				near("a logit", f[k], c.logits[i*len(c.bits)+j], 1e-3)
			}
		}
		for j, k := range c.bits {
			near("a misfit", l.ResidualSD()[k], c.misfits[j], 2e-4)
			mean := 0.0
			for i := range c.levels {
				mean += l.At(i, k) / float64(c.levels)
			}
			near("an error rate", mean, c.err[j], 2e-4)
		}
	}
}

// TestLearnedConstant: bits without transitions are known, here the first two of those and binary.
func TestLearnedConstant(t *testing.T) {
	words := mat.NewDense(8, 5, nil)
	words.Apply(func(i, k int, _ float64) float64 {
		if k < 2 {
			return float64(1 - k)
		}
		return float64(i >> (4 - k) & 1)
	}, words)
	c := must.Get(code.FromMatrix("own", words))(t)
	for _, training := range []Training{BCE, CE} {
		l := must.Get(Model{Noise: 1, Misfit: 0.3, Training: training}.Learn(t.Context(), 2, c,
			[]float64{1, 2, 3, 1, 2, 3, 1, 2}))(t)
		for k, sd := range l.ResidualSD() {
			for i := range 8 {
				if known := k < 2; (l.At(i, k) == 0) != known || (sd == 0) != known || !known && sd < DefaultFloor {
					t.Errorf("%s: row %d, bit %d: %v, with a misfit of %v", training, i+1, k+1, l.At(i, k), sd)
				}
			}
		}
	}
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
		count = 3000
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

// TestEnds: at the ends of κ and sd₀ a model is what it is a decade further in, and with the
// largest misfit every bit is as likely wrong as right. What is left of the penalty, or of the
// residual, is below 1e-6 there; Newton's method stops at a loss that is 1e-9 above the least,
// where a logit f of weight w is off by √(2e-9/(w·f·(1−f))).
func TestEnds(t *testing.T) {
	for _, name := range []string{"unary", "gray"} {
		table := func(cutoff, floor, misfit float64) *mat.Dense {
			return mat.DenseCopyOf(learn(t, Model{Noise: 1, Misfit: misfit, Cutoff: cutoff, Floor: floor,
				Training: BCE}, name, 16, nil))
		}
		for _, at := range [][4]float64{{leastCutoff, 1, 10 * leastCutoff, 1}, {mostCutoff, 1, mostCutoff / 10, 1},
			{5, leastFloor, 5, 10 * leastFloor}, {5, mostFloor, 5, mostFloor / 10}} {
			if a, b := table(at[0], at[1], 0.25), table(at[2], at[3], 0.25); !mat.EqualApprox(a, b, 1e-4) {
				t.Errorf("%s: with κ and sd₀ of %v and %v it differs from %v and %v", name, at[0], at[1], at[2], at[3])
			}
		}
		half := table(0, 0, mostMisfit)
		half.Apply(func(_, _ int, e float64) float64 { return e - 0.5 }, half)
		if most := max(mat.Max(half), -mat.Min(half)); most > 5e-4 {
			t.Errorf("%s: with the largest misfit, error probabilities differ by %v from ½", name, most)
		}
	}
}

// TestLearnedLarge reads a table that is too large to keep.
func TestLearnedLarge(t *testing.T) {
	l := learn(t, Model{Noise: 100, Misfit: 0.25, Training: BCE}, "unary", 1100, nil)
	row := make([]float64, 1099)
	l.RowTo(row, 500)
	for _, k := range []int{0, 499, 500, 1098} {
		if got := l.At(500, k); got != row[k] {
			t.Errorf("e[501,%d] is %v and %v", k+1, got, row[k])
		}
	}
	if !(row[499] > 0.4 && row[499] < 0.6) || row[0] > 0.01 {
		t.Errorf("e[501,500] = %v, e[501,1] = %v", row[499], row[0])
	}
}
