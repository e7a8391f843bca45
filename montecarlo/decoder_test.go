package montecarlo_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/base/position"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/expect"
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

// verifyCase samples a code and returns it with its true theory.
func verifyCase(t *testing.T, n uint64, seed uint64) (sums []montecarlo.Sums, th []expect.Level, prior []float64) {
	t.Helper()
	p := mixtureProblem(t, "johnson-nonzero", "bel-j", 31, 1, 2)
	p.Seed = seed
	sums = make([]montecarlo.Sums, 31)
	must.Succeed(t, (montecarlo.CPU{}).Sample(context.Background(), p, everyRow(p, n), sums, nil))
	prior = theory.Uniform(31)
	th = must.Get(expect.Of(context.Background(), 0, p.Expected(), prior, expect.Skip{AnyLaw: true}))(t).Levels
	return sums, th, prior
}

// TestVerifyFinds: Verify is silent when theory is right, at few samples and at
// many, and loud when it is wrong by a few per cent.
func TestVerifyFinds(t *testing.T) {
	for n, seeds := range map[uint64]uint64{2: 20, 10: 20, 1000: 20, 30_000: 20, 300_000: 4} {
		for seed := range seeds {
			sums, th, prior := verifyCase(t, n, seed)
			for _, f := range montecarlo.Verify(sums, th, prior, 31, 1e-6) {
				t.Errorf("%d samples, seed %d: false alarm: %v", n, seed, f)
			}
		}
	}
	sums, right, prior := verifyCase(t, 300_000, 1)
	for name, spoil := range map[string]func(*expect.Level){
		"exact value":         func(x *expect.Level) { x.Mean *= 1.05 },
		"bound":               func(x *expect.Level) { x.Bound = 0.95 * x.Mean },
		"smallest of any law": func(x *expect.Level) { x.AnyLaw = &[2]float64{1.05 * x.Mean, 31} },
		"largest of any law":  func(x *expect.Level) { x.AnyLaw = &[2]float64{0, 0.95 * x.Mean} },
	} {
		wrong := append([]expect.Level(nil), right...)
		spoil(&wrong[9])
		checked := []string{"sampled mean", "exact value"} // is checked against the others
		if name == "exact value" {
			checked = checked[:1]
		}
		failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6)
		must.Equal(t, "failures of a wrong "+name, len(checked), len(failures))
		for i, f := range failures {
			if f.Level != 10 || f.What != name || f.Checked != checked[i] ||
				!strings.Contains(position.Count(f.String(), 1), "level 10: "+checked[i]) {
				t.Errorf("wrong %s of level 10: %v", name, f)
			}
		}
	}
	// A hundredth on every level shows in the mean over all, if in none alone.
	wrong := append([]expect.Level(nil), right...)
	for i := range wrong {
		wrong[i].Mean *= 1.01
	}
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) == 0 ||
		failures[len(failures)-1].Level != 0 {
		t.Errorf("1 %% off everywhere: %v", failures)
	}
	// Without exact values the bound is still checked.
	for i := range wrong {
		wrong[i] = expect.Level{Bound: right[i].Bound, Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	wrong[4].Bound = 0.9 * right[4].Mean
	if failures := montecarlo.Verify(sums, wrong, prior, 31, 1e-6); len(failures) != 1 || failures[0].Level != 5 {
		t.Errorf("bound alone, wrong at level 5: %v", failures)
	}
}

// TestAllowance: what chance allows for, by Bernstein and by Maurer and Pontil: of 2·3 comparisons
// each side has α/12.
func TestAllowance(t *testing.T) {
	const n, worst, alpha = 100, 5, 0.01
	sums := []montecarlo.Sums{{Samples: n, Abs: 300, Square: 1100}, {Samples: n, Abs: 300, Square: 1100}}
	l, none := math.Log(12/alpha), math.NaN()
	th := []expect.Level{{Bound: none, Mean: 0.5, MeanSquare: 1}, {Bound: 0, Mean: none, MeanSquare: none}}
	a := worst * l / (3. * n)
	for i, want := range []float64{a + math.Sqrt(a*a+2*0.75/n*l) + 0.5e-9,
		math.Sqrt(2*(200./99)/n*l) + 7*worst*l/(3*(n-1))} {
		got := montecarlo.Verify(sums, th, []float64{0.5, 0.5}, worst, alpha)
		if len(got) != 2 || math.Abs(got[i].Allowance-want) > 1e-14 {
			t.Errorf("%v, want an allowance of %v at level %d", got, want, i+1)
		}
	}
}

// TestDetectable: samples whose means are above theory by the deviation that Detectable says fail
// with the probability Power. Of 60 runs, fewer than 48 fail with a probability of 10⁻⁵; with half
// of the deviation, most pass.
func TestDetectable(t *testing.T) {
	ctx := context.Background()
	p := mixtureProblem(t, "johnson-nonzero", "bel-j", 15, 1e-4, 2)
	prior := theory.Uniform(15)
	th := must.Get(expect.Of(ctx, 0, p.Expected(), prior, expect.Skip{Bounds: true, AnyLaw: true}))(t).Levels
	sample := func(factor float64, seed uint64) []montecarlo.Sums {
		q := *p
		scaled := mat.DenseCopyOf(p.Errors)
		scaled.Scale(factor, scaled)
		q.Errors, q.Seed = scaled, seed
		sums := make([]montecarlo.Sums, 15)
		must.Succeed(t, (montecarlo.CPU{}).Sample(ctx, &q, everyRow(&q, 50_000), sums, nil))
		return sums
	}
	labels, all := montecarlo.Detectable(sample(1, 1), th, prior, 15, 1e-6)
	mean := 0.0
	for i, x := range th {
		mean += x.Mean / 15
		if !(labels[i] > all) {
			t.Errorf("level %d: a deviation of %v is found, and of all levels one of %v", i+1, labels[i], all)
		}
	}
	// Errors are rare: their mean grows as their probabilities do.
	for part, want := range map[float64][2]int{1: {48, 60}, 0.5: {0, 30}} {
		failed := 0
		for seed := range uint64(60) {
			if len(montecarlo.Verify(sample(1+part*all/mean, 2+seed), th, prior, 15, 1e-6)) > 0 {
				failed++
			}
		}
		if failed < want[0] || failed > want[1] {
			t.Errorf("%v of the deviation: %d of 60 runs fail, want %d to %d", part, failed, want[0], want[1])
		}
	}
	// Without theory nothing is found.
	for i := range th {
		th[i] = expect.Level{Bound: math.NaN(), Mean: math.NaN(), MeanSquare: math.NaN()}
	}
	labels, all = montecarlo.Detectable(sample(1, 1), th, prior, 15, 1e-6)
	if !math.IsNaN(labels[0]) || !math.IsNaN(all) {
		t.Errorf("without theory: %v, %v", labels, all)
	}
}
