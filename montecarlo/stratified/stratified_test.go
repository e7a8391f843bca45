package stratified_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/montecarlo"
	"belsim/montecarlo/stratified"
	"belsim/theory"
	"belsim/theory/code"
	"belsim/theory/decode"
	"belsim/theory/enclose"
)

func problem(tb testing.TB, name string, levels int, r, sigma float64) *montecarlo.Problem {
	tb.Helper()
	c, err := code.New(name, levels)
	if err != nil {
		tb.Fatal(err)
	}
	e, err := errmodel.NewMixture(context.Background(), c, r, sigma)
	if err != nil {
		tb.Fatal(err)
	}
	return withGen(tb, c, e)
}

func withGen(tb testing.TB, c *code.Code, e mat.Matrix) *montecarlo.Problem {
	tb.Helper()
	d, err := decode.New("gen", c)
	if err != nil {
		tb.Fatal(err)
	}
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: e, Seed: 1, Within: 2}
}

// random is a problem with a code of random words, and probabilities of very different sizes with
// zeros and ones among them.
func random(tb testing.TB, rng *rand.Rand, levels, bits int) *montecarlo.Problem {
	tb.Helper()
	m, e := mat.NewDense(levels, bits, nil), mat.NewDense(levels, bits, nil)
	most := math.Pow(10, -2*rng.Float64())
	for i, w := range rng.Perm(1 << bits)[:levels] {
		for k := range bits {
			m.Set(i, k, float64(w>>k&1))
			v := most * rng.Float64()
			switch rng.IntN(12) {
			case 0, 1:
				v = 0
			case 2:
				v = float64(rng.IntN(3)) / 2
			case 3, 4, 5:
				v = math.Pow(v, 3)
			}
			e.Set(i, k, v)
		}
	}
	c, err := code.FromMatrix("random", m)
	if err != nil {
		tb.Fatal(err)
	}
	return withGen(tb, c, e)
}

// exact returns mean, variance and mean square of |error| of a level by enumeration.
func exact(tb testing.TB, p *montecarlo.Problem, row int) (mean, variance, within float64) {
	tb.Helper()
	e, err := p.Row(nil, row)
	if err != nil {
		tb.Fatal(err)
	}
	word := p.Code.Word(row)[0]
	square := 0.0
	for wrong := range uint64(1) << len(e) {
		q := 1.0
		for k, v := range e {
			if wrong>>k&1 == 1 {
				q *= v
			} else {
				q *= 1 - v
			}
		}
		if q > 0 {
			d := math.Abs(float64(p.Decoder.Decode([]uint64{word ^ wrong}) - (row + 1)))
			mean += q * d
			square += q * d * d
			if d <= float64(p.Within) {
				within += q
			}
		}
	}
	return mean, square - mean*mean, within
}

// rounding is more than the rounding of an enumeration of at most 2²⁰ products of 20 factors.
const rounding = 1e-10

// TestEnumeration: estimates agree with an enumeration, over random codes and tables with zeros and
// ones, and with so little work that much is left over.
func TestEnumeration(t *testing.T) {
	const samples = 4000
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	mostBits, problems := 13, 60
	if os.Getenv("BELSIM_LONG") != "" {
		mostBits, problems = 18, 300
	}
	var off, variance float64
	sampled := 0
	for range problems {
		bits := 10 + rng.IntN(mostBits-9)
		p := random(t, rng, 4+rng.IntN(12), bits)
		// About what setting a tree up takes, so that little is left to go through it.
		n := p.Code.Levels()
		o := enclose.Options{Width: 1e-6, Work: (2*n*bits*bits + 3*n*n*bits) * (50 + rng.IntN(70)) / 100}
		prior := make([]float64, p.Code.Levels())
		row := rng.IntN(len(prior))
		prior[row] = 1
		levels, err := stratified.Estimate(ctx, 1, p, prior, samples, o, nil)
		if errors.Is(err, enclose.ErrTooWide) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		l := levels[row]
		mean, v, within := exact(t, p, row)
		if !l.Interval.Contains(mean) && math.Abs(l.Interval.Middle()-mean) > (l.Interval.Hi-l.Interval.Lo)/2+rounding*mean {
			t.Errorf("%v does not hold %v", l.Interval, mean)
		}
		if l.Left == 0 {
			if math.Abs(l.Mean-mean) > l.Slack+rounding*mean || l.StdErr != 0 || l.Sums != (stratified.Sums{}) {
				t.Errorf("%v ± %v, want %v; nothing is left", l.Mean, l.StdErr+l.Slack, mean)
			}
			continue
		}
		sampled++
		// By Bernstein's inequality, a larger difference has a probability below 2·e⁻²⁵. The variance of
		// a sample is at most V/Left, and its largest error that of the last level.
		bound := math.Sqrt(50*l.Left*v/samples) + 17*l.Left*float64(len(prior))/samples
		if d := math.Abs(l.Mean - mean); d > bound+l.Slack+rounding {
			t.Errorf("%d levels, %d bits: %v ± %v, want %v: %v away, more than %v", len(prior), bits, l.Mean, l.StdErr, mean, d, bound)
		}
		if d := math.Abs(l.Within - within); d > math.Sqrt(50*l.Left/4/samples)+17*l.Left/samples+1e-6 {
			t.Errorf("within θ: %v, want %v", l.Within, within)
		}
		off += l.Mean - mean
		variance += l.StdErr * l.StdErr
	}
	if z := off / math.Sqrt(variance); !(math.Abs(z) <= 6) {
		t.Errorf("all differences together are %v standard errors", z)
	}
	t.Logf("%d of %d levels were sampled", sampled, problems)
	if sampled < problems/10 {
		t.Errorf("%d of %d levels were sampled: not enough to show anything", sampled, problems)
	}
}

// TestStdErr: over many seeds, estimates have no bias, the standard error that is reported is theirs, and
// it is at most √(P·V/n), with the part P that is left over, the variance V of |error|, and the
// number n of samples.
func TestStdErr(t *testing.T) {
	const seeds, samples = 200, 100
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 8))
	checked := 0
	for tried := 0; tried < 40 && checked < 4; tried++ {
		p := random(t, rng, 12, 14)
		prior := make([]float64, 12)
		row := rng.IntN(12)
		prior[row] = 1
		mean, v, _ := exact(t, p, row)
		var sum, square, se2, se4, left float64
		for seed := range uint64(seeds) {
			p.Seed = seed
			levels, err := stratified.Estimate(ctx, 1, p, prior, samples, enclose.Options{Width: 1e-6, Work: 15_000}, nil)
			if errors.Is(err, enclose.ErrTooWide) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			l := levels[row]
			if l.Left == 0 {
				break
			}
			d := l.Mean - mean
			sum, square = sum+d, square+d*d
			se2, se4, left = se2+l.StdErr*l.StdErr, se4+math.Pow(l.StdErr, 4), l.Left
		}
		if se2 == 0 {
			continue
		}
		checked++
		variance, said := square/seeds, se2/seeds
		spread := math.Sqrt(max(0, se4/seeds-said*said) / seeds) // of said
		if z := sum / seeds / math.Sqrt(said/seeds); math.Abs(z) > 6 {
			t.Errorf("the mean of %d estimates is %.1f of its standard errors away", seeds, z)
		}
		// The variance of a variance of normal estimates is 2/seeds; these are sums of few numbers that
		// differ from 0, with a larger one.
		if d := math.Abs(variance - said); d > 8*math.Sqrt(2./seeds)*said+8*spread {
			t.Errorf("the variance of estimates is %v, but %v is said", variance, said)
		}
		if most := left * v / samples; said-6*spread > most {
			t.Errorf("the variance is %v, more than %v", said, most)
		}
	}
	t.Logf("%d levels were sampled", checked)
	if checked < 4 {
		t.Errorf("%d levels were sampled: not enough to show anything", checked)
	}
}

// TestWorkers: any number of workers gives the same numbers. Only labels with a weight are sampled.
func TestWorkers(t *testing.T) {
	p := random(t, rand.New(rand.NewPCG(9, 10)), 12, 14)
	prior := theory.Uniform(12)
	prior[3], prior[4] = 0, prior[3]+prior[4]
	o := enclose.Options{Width: 1e-12, Work: 15_000}
	var first []stratified.Level
	for workers := 1; workers <= 3; workers++ {
		var told atomic.Uint64
		levels, err := stratified.Estimate(context.Background(), workers, p, prior, 999, o, func(n uint64) { told.Add(n) })
		if err != nil {
			t.Fatal(err)
		}
		if told.Load() != 11*999 {
			t.Errorf("the follower was told of %d samples", told.Load())
		}
		if first == nil {
			first = levels
		}
		if !reflect.DeepEqual(levels, first) {
			t.Fatalf("%d workers give %v, but one gives %v", workers, levels, first)
		}
	}
	if first[3] != (stratified.Level{}) || first[8].Sums.Pairs != 500 {
		t.Errorf("a level without weight has %v; level 9 has %d pairs", first[3], first[8].Sums.Pairs)
	}
	want := 0.0
	for i, w := range prior {
		if w > 0 {
			mean, _, _ := exact(t, p, i)
			want += w * mean
		}
	}
	got := stratified.Average(prior, first)
	if d := math.Abs(got.Mean - want); d > 6*got.StdErr || got.Samples == 0 {
		t.Errorf("%v ± %v of %d samples, want %v", got.Mean, got.StdErr, got.Samples, want)
	}
	if v := stratified.Interval(prior, first); !v.Contains(want) {
		t.Errorf("%v does not hold %v", v, want)
	}
}

// TestRefused: what cannot be sampled so is said; a context that has ended ends the work.
func TestRefused(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	uniform := theory.Uniform(64)
	p := problem(t, "b1jdj", 64, 0.6, 1.5)
	for _, tt := range []struct {
		name    string
		change  func(p *montecarlo.Problem)
		samples uint64
		want    error
	}{
		{"gen-ex", func(p *montecarlo.Problem) {
			d, err := decode.New("gen-ex", p.Code)
			if err != nil {
				t.Fatal(err)
			}
			p.Decoder, p.Latent = d, &montecarlo.Latent{}
		}, 100, theory.ErrNoClosedForm},
		{"frequent errors", func(p *montecarlo.Problem) { *p = *problem(t, "hadamard", 64, 0.6, 1.5) }, 100, enclose.ErrTooWide},
		{"one sample", func(*montecarlo.Problem) {}, 1, nil},
	} {
		q := *p
		tt.change(&q)
		if _, err := stratified.Estimate(ctx, 0, &q, uniform, tt.samples, enclose.Options{Width: 1e-6, Work: 1 << 16}, nil); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
	cancel()
	if _, err := stratified.Estimate(ctx, 0, p, uniform, 100, enclose.Usual(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: error %v", err)
	}
}

// BenchmarkGain compares stratified samples with plain ones at the command's usual number. It reports
// the standard error relative to the mean, the part that is left over, how many times the time of the
// plain samples it takes ("time"), and how many times smaller its standard error is after
// the same time ("gain", missing where no plain sample erred). Where errors are too frequent "time"
// is what finding that out costs besides.
func BenchmarkGain(b *testing.B) {
	const samples = 100_000
	for _, bb := range []struct {
		name     string
		levels   int
		r, sigma float64
	}{
		{"b1jdj", 256, 0.5, 3}, {"b2jdj", 256, 0.5, 3}, {"hexj", 256, 0.5, 3}, {"hadamard", 256, 0.02, 3},
		{"b1jdj", 256, 1, 3}, {"hexj", 256, 1, 3}, {"hadamard", 256, 0.05, 3},
		{"b1jdj", 256, 2, 5}, {"b2jdj", 256, 2, 5}, {"hexj", 256, 2, 5},
	} {
		b.Run(fmt.Sprintf("%s/L=%d/r=%g/σ=%g", bb.name, bb.levels, bb.r, bb.sigma), func(b *testing.B) {
			ctx := context.Background()
			p := problem(b, bb.name, bb.levels, bb.r, bb.sigma)
			prior := theory.Uniform(bb.levels)
			for b.Loop() {
				began := time.Now()
				sums, _, err := montecarlo.Estimate(ctx, montecarlo.CPU{Workers: 1}, p, montecarlo.Target{Prior: prior, Samples: samples}, nil)
				if err != nil {
					b.Fatal(err)
				}
				plain := time.Since(began).Seconds()
				sampled := montecarlo.Average(prior, sums)
				began = time.Now()
				levels, err := stratified.Estimate(ctx, 1, p, prior, samples, enclose.Usual(), nil)
				took := time.Since(began).Seconds()
				b.ReportMetric(took/plain, "time")
				if errors.Is(err, enclose.ErrTooWide) {
					continue
				}
				if err != nil {
					b.Fatal(err)
				}
				o := stratified.Average(prior, levels)
				left := 0.0
				for i, l := range levels {
					left += prior[i] * l.Left
				}
				// Where no plain sample erred, its standard error says nothing.
				if d := math.Abs(o.Mean - sampled.Mean); d > 6*math.Hypot(o.StdErr, sampled.StdErr)+25./samples {
					b.Errorf("%v ± %v is not near %v ± %v", o.Mean, o.StdErr, sampled.Mean, sampled.StdErr)
				}
				b.ReportMetric(left, "left")
				b.ReportMetric(o.StdErr/o.Mean, "stderr")
				if sampled.StdErr > 0 {
					b.ReportMetric(sampled.StdErr*math.Sqrt(plain/took)/o.StdErr, "gain")
				}
			}
		})
	}
}
