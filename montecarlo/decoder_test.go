package montecarlo_test

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/montecarlo"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// slow is a decoder whose type no fast path knows.
type slow struct{ decode.Decoder }

// slowLogits is a decoder of logits whose type no fast path knows.
type slowLogits struct{ decode.LogitDecoder }

// table has the probabilities low at most bits and high at some.
func table(levels, bits int, low, high float64) *mat.Dense {
	e := mat.NewDense(levels, bits, nil)
	for i := range levels {
		for k := range bits {
			e.Set(i, k, low)
			if (i+k)%3 == 0 {
				e.Set(i, k, high)
			}
		}
	}
	return e
}

// sampleAll returns the sums of all labels.
func sampleAll(t *testing.T, p *montecarlo.Problem, n uint64) []montecarlo.Sums {
	t.Helper()
	prior := make([]float64, p.Code.Levels())
	for i := range prior {
		prior[i] = 1 / float64(len(prior))
	}
	sums, _, err := montecarlo.Estimate(context.Background(), montecarlo.CPU{}, p,
		montecarlo.Target{Samples: n, Prior: prior, EachLabel: true}, nil)
	must.Succeed(t, err)
	return sums
}

// TestBitsAlone: a decoder that reads bits alone is refused where logits are wanted.
func TestBitsAlone(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj"} {
		p := mixtureProblem(t, name, "auto", 11, 0.6, 1.5)
		p.Decoder, p.Kind = slow{p.Decoder}, montecarlo.IndependentLogits
		if err := p.Validate(); err == nil {
			t.Errorf("%s: a decoder that reads bits alone is given logits", name)
		}
	}
}

// TestSlowPaths: where a fast path draws the same random numbers, a decoder that it does
// not know gives the same sums, to the bit.
func TestSlowPaths(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		levels        int
		low, high     float64
		kind          montecarlo.Kind
	}{
		{"unary", "bel-u", 200, 0.001, 0.3, montecarlo.IndependentBits},
		{"johnson", "bel-j", 30, 0.001, 0.3, montecarlo.IndependentBits},
		{"johnson-nonzero", "bel-j", 300, 0.001, 0.7, montecarlo.IndependentBits},
		{"hexj", "gen", 64, 0.01, 0.3, montecarlo.IndependentBits},
		{"hadamard", "gen", 64, 0.01, 0.3, montecarlo.IndependentBits},
		{"hadamard", "gen", 64, 0.01, 0.3, montecarlo.DenseBits},
		{"unary", "bel-u", 64, 0.01, 0.3, montecarlo.DenseBits},
		{"gray", "gen", 32, 0.3, 0.4, montecarlo.IndependentLogits}, // all bits are drawn
		{"b1jdj", "gen", 16, 0.3, 0.4, montecarlo.IndependentLogits},
	} {
		c := must.Get(code.New(tt.code, tt.levels))(t)
		d := must.Get(decode.New(tt.decoder, c))(t)
		p := montecarlo.Problem{Code: c, Decoder: d, Errors: table(tt.levels, c.Bits(), tt.low, tt.high), Seed: 5,
			Within: 1, Kind: tt.kind}
		want := sampleAll(t, &p, 700)
		if lo, hi := decode.Range(c, d); hi > c.Levels() || lo < 1 {
			p.Decoder = ranged{slow{d}, lo, hi}
		} else {
			p.Decoder = slow{d}
		}
		if !tt.kind.Hard() {
			p.Decoder = slowLogits{d.(decode.LogitDecoder)}
		}
		for i, got := range sampleAll(t, &p, 700) {
			if got != want[i] {
				t.Fatalf("%s with %s, kind %d, level %d: %+v, and %+v on the fast path", tt.code, tt.decoder, tt.kind,
					i+1, got, want[i])
			}
		}
	}
}

type ranged struct {
	slow
	lo, hi int
}

func (r ranged) Range() (lo, hi int) { return r.lo, r.hi }

// TestSlowRealDecoder: gen-ex without its fast path, whose softmax is in single
// precision and whose errors both round to 2⁻¹⁶ of a level.
func TestSlowRealDecoder(t *testing.T) {
	c := must.Get(code.New("gray", 16))(t)
	for _, kind := range []montecarlo.Kind{montecarlo.DenseBits, montecarlo.IndependentLogits} {
		d := must.Get(decode.New("gen-ex", c))(t)
		p := montecarlo.Problem{Code: c, Decoder: d, Errors: table(16, c.Bits(), 0.3, 0.4), Seed: 5, Kind: kind}
		want := sampleAll(t, &p, 2000)
		p.Decoder = slowReal{d.(decode.LogitDecoder), d.(decode.RealDecoder)}
		for i, got := range sampleAll(t, &p, 2000) {
			if a, b := got.Mean(), want[i].Mean(); a < b-1e-4 || a > b+1e-4 || got.Fraction != want[i].Fraction {
				t.Errorf("kind %d, level %d: mean error %v, and %v on the fast path", kind, i+1, a, b)
			}
		}
	}
}

type slowReal struct {
	decode.LogitDecoder
	real decode.RealDecoder
}

func (s slowReal) Value(word []uint64) float64 { return s.real.Value(word) }
