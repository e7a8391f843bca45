package montecarlo_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// slow is a decoder whose type no fast path knows; slowLogits reads logits, and slowReal answers
// with real numbers.
type (
	slow struct {
		decode.Decoder
		lo, hi int
	}
	slowLogits struct{ decode.LogitDecoder }
	slowReal   struct {
		decode.LogitDecoder
		decode.RealDecoder
	}
)

func (s slow) Range() (lo, hi int) { return s.lo, s.hi }

func (s slowReal) Name() string               { return s.RealDecoder.Name() }
func (s slowReal) Decode(output []uint64) int { return s.RealDecoder.Decode(output) }

// slowly is a problem whose decoder no fast path knows.
func slowly(p *montecarlo.Problem) *montecarlo.Problem {
	q := *p
	real, isReal := p.Decoder.(decode.RealDecoder)
	switch logits, _ := p.Decoder.(decode.LogitDecoder); {
	case isReal:
		q.Decoder = slowReal{logits, real}
	case p.Kind.Hard():
		lo, hi := decode.Range(p.Code, p.Decoder)
		q.Decoder = slow{p.Decoder, lo, hi}
	default:
		q.Decoder = slowLogits{logits}
	}
	return &q
}

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
		montecarlo.Sampling{Samples: n}, prior, nil)
	must.Succeed(t, err)
	return sums
}

// TestBitsAlone: a decoder that reads bits alone is refused where logits are wanted.
func TestBitsAlone(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj"} {
		p := slowly(mixtureProblem(t, name, "auto", 11, 0.6, 1.5))
		if p.Kind = montecarlo.IndependentLogits; p.Validate() == nil {
			t.Errorf("%s: a decoder that reads bits alone is given logits", name)
		}
	}
}

// TestSlowPaths: where a fast path draws the same random numbers, a decoder that it does
// not know gives the same sums, to the bit. The softmax of gen-ex is in single precision there, and
// errors of both round to 2⁻¹⁶ of a level.
func TestSlowPaths(t *testing.T) {
	for _, tt := range []struct {
		code, decoder string
		levels        int
		low, high     float64
		kind          montecarlo.Kind
	}{
		{"unary", "bel-u", 2, 0.1, 0.9, montecarlo.IndependentBits},
		{"unary", "bel-u", 65, 0.1, 0.9, montecarlo.IndependentBits},
		{"unary", "bel-u", 200, 0.001, 0.3, montecarlo.IndependentBits},
		{"johnson", "bel-j", 2, 0.1, 0.9, montecarlo.IndependentBits},
		{"johnson", "bel-j", 256, 0.1, 0.9, montecarlo.IndependentBits},
		{"johnson-nonzero", "bel-j", 255, 0.1, 0.9, montecarlo.IndependentBits},
		{"johnson", "gen", 40, 0.01, 0.1, montecarlo.IndependentBits},
		{"unary", "gen", 150, 0.01, 0.9, montecarlo.IndependentBits},
		{"gray", "gen", 100, 0.1, 0.9, montecarlo.IndependentBits},
		{"johnson", "bel-j", 30, 0.001, 0.3, montecarlo.IndependentBits},
		{"johnson-nonzero", "bel-j", 300, 0.001, 0.7, montecarlo.IndependentBits},
		{"hexj", "gen", 64, 0.01, 0.3, montecarlo.IndependentBits},
		{"hadamard", "gen", 64, 0.01, 0.3, montecarlo.IndependentBits},
		{"hadamard", "gen", 64, 0.01, 0.3, montecarlo.DenseBits},
		{"unary", "bel-u", 64, 0.01, 0.3, montecarlo.DenseBits},
		{"johnson", "gen", 64, 0.01, 0.3, montecarlo.DenseBits},
		{"gray", "gen", 32, 0.3, 0.4, montecarlo.IndependentLogits}, // all bits are drawn
		{"b1jdj", "gen", 16, 0.3, 0.4, montecarlo.IndependentLogits},
		{"gray", "gen-ex", 16, 0.3, 0.4, montecarlo.DenseBits},
		{"gray", "gen-ex", 16, 0.3, 0.4, montecarlo.IndependentLogits},
	} {
		t.Run(fmt.Sprintf("%s/%s/%d/%d", tt.code, tt.decoder, tt.levels, tt.kind), func(t *testing.T) {
			p := mixtureProblem(t, tt.code, tt.decoder, tt.levels, 0.1, 1)
			p.Errors, p.Kind = table(tt.levels, p.Code.Bits(), tt.low, tt.high), tt.kind
			want, got := sampleAll(t, p, 700), sampleAll(t, slowly(p), 700)
			for i := range got {
				if tt.decoder == "gen-ex" && math.Abs(got[i].Mean()-want[i].Mean()) < 1e-4 {
					want[i].Abs, want[i].Square = got[i].Abs, got[i].Square
				}
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("level %d: %+v, and %+v on the fast path", i+1, got[i], want[i])
				}
			}
		})
	}
}

// TestOtherNumbers: where a fast path draws other random numbers than a decoder that it does not
// know, errors have the same law: each of the 10 differences of means is within 5 standard errors,
// with false alarms below 10⁻⁵. The decoders that know the model have levels of no prior, and with
// r = 2 and σ = 1 some bits are more often wrong than right.
func TestOtherNumbers(t *testing.T) {
	tilted := theory.Uniform(24)
	tilted[3], tilted[4], tilted[20] = 0, 0.2, 0.01
	problems := map[string]*montecarlo.Problem{}
	for _, of := range []struct {
		name     string
		r, sigma float64
	}{{"unary", 0.6, 1.5}, {"hexj", 0.6, 1.5}, {"gray", 0.6, 1.5}, {"b1jdj", 0.6, 1.5}, {"unary", 2, 1}} {
		for _, logits := range []bool{false, true} {
			problems[fmt.Sprintf("%s, r = %v, logits %v", of.name, of.r, logits)] = informed(t, of.name, 24, of.r,
				of.sigma, logits, tilted)
		}
	}
	weights := theory.Uniform(24) // levels of no prior are sampled too
	for name, p := range problems {
		q := *p
		q.Decoder = slowLogits{p.Decoder.(decode.LogitDecoder)}
		got := montecarlo.Average(weights, sampleAll(t, p, 1500))
		want := montecarlo.Average(weights, sampleAll(t, &q, 1500))
		if !(math.Abs(got.Mean-want.Mean) <= 5*math.Hypot(got.StdErr, want.StdErr)) ||
			!(math.Abs(got.RMS/want.RMS-1) < 0.1) {
			t.Errorf("%s: %+v, slowly %+v", name, got, want)
		}
	}
}

// mixtureProblem is a named code under the Gaussian mixture of one r and σ.
func mixtureProblem(tb testing.TB, name, decoder string, levels int, r, sigma float64) *montecarlo.Problem {
	tb.Helper()
	c := must.Get(code.New(name, levels))(tb)
	d := must.Get(decode.New(decoder, c))(tb)
	e := must.Get(errmodel.NewMixture(context.Background(), c, r, sigma))(tb)
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1}
}

// everyRow samples every row of a problem n times.
func everyRow(p *montecarlo.Problem, n uint64) []montecarlo.Span {
	spans := make([]montecarlo.Span, p.Code.Levels())
	for row := range spans {
		spans[row] = montecarlo.Span{Row: row, Samples: n}
	}
	return spans
}

// informed is a problem whose decoder knows the error probabilities and a prior.
func informed(tb testing.TB, code string, levels int, r, sigma float64, logits bool,
	prior []float64) *montecarlo.Problem {
	tb.Helper()
	p := mixtureProblem(tb, code, "median", levels, r, sigma)
	d := must.Get(p.Decoder.(decode.Informed).Inform(decode.Model{Errors: p.Errors, Logits: logits, Prior: prior}))(tb)
	p.Decoder = d
	if logits {
		p.Kind = montecarlo.IndependentLogits
	}
	return p
}

// TestBeside: samples beside an exact value are drawn to 1 %, unless a number of samples or a wider
// target was asked for.
func TestBeside(t *testing.T) {
	for _, tt := range []struct{ relErr, exact, want float64 }{{0.002, 3, 0.01}, {0.02, 3, 0.02},
		{0.002, math.NaN(), 0.002}} {
		s := montecarlo.DefaultSampling()
		if s.RelErr = tt.relErr; s.CheckingExact(tt.exact).RelErr != tt.want || s.Fixed(9).CheckingExact(tt.exact).RelErr != 0 {
			t.Errorf("%+v: %+v", tt, s.CheckingExact(tt.exact))
		}
	}
}
