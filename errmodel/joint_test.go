package errmodel

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/code"
	"belsim/theory/latent"
)

// sample is a sample of a row, with its label and wrong bits.
type sample struct {
	row   int
	y     float64
	wrong []int
}

// drawn draws samples of the one-factor Gaussian model of a mixture. Real labels are uniform
// in the rows.
func drawn(t testing.TB, rng *rand.Rand, c *code.Code, r, sigma, rho float64, rows []int, n int, real bool) []sample {
	t.Helper()
	e := mustMixture(t, c, r, sigma)
	slopes := c.Slopes()
	p, slope := make([]float64, c.Bits()), make([]int8, c.Bits())
	out := make([]sample, n)
	for j := range out {
		s := &out[j]
		s.row = rows[rng.IntN(len(rows))]
		s.y = float64(s.row + 1)
		if real {
			s.y += rng.Float64() - 0.5
		}
		e.AtLabel(p, s.y)
		slopes.Row(slope, s.row)
		shared := rng.NormFloat64()
		for k, e := range p {
			noise := rng.NormFloat64()
			if g := float64(slope[k]); g != 0 {
				if c.Bit(s.row, k) {
					g = -g
				}
				noise = math.Sqrt(rho)*g*shared + math.Sqrt(1-rho)*noise
			}
			if e > 1e-9 && noise > latent.Mean(e) {
				s.wrong = append(s.wrong, k)
			}
		}
	}
	return out
}

// every are all rows of a code.
func every(c *code.Code) []int {
	rows := make([]int, c.Levels())
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// fitted fits samples, and reads them again.
func fitted(t testing.TB, c *code.Code, samples []sample, real bool) (*Fit, *Joint) {
	t.Helper()
	ctx := context.Background()
	counts := NewCounts(c.Levels(), c.Bits())
	if real {
		counts = NewFineCounts(c.Levels(), c.Bits(), 16)
	}
	for _, s := range samples {
		counts.Add(s.row, s.y, s.wrong)
	}
	f, err := NewFit(ctx, counts, c.Transitions())
	if err != nil {
		t.Fatal(err)
	}
	j, err := NewJoint(ctx, c, counts, f, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		j.Add(s.row, s.y, s.wrong)
	}
	return f, j
}

// TestLocal has the error probabilities of the mixture at levels, and at the middles of parts of
// levels the means of the mixture over the part. Their derivatives are differences.
func TestLocal(t *testing.T) {
	for _, name := range []string{"unary", "johnson", "hexj", "hadamard"} {
		c := mustCode(t, name, 20)
		for _, parts := range []int{0, 4} {
			f := &Fit{R: Interval{Value: 0.05}, Sigma: Interval{Value: 0.6}}
			g := grid{parts: 1}
			if parts > 0 {
				g = grid{parts: parts, spread: 1 / (12 * float64(parts*parts))}
			}
			l := f.local(c.Transitions(), g, 20)
			e := mustMixture(t, c, 0.05, 0.6)
			row, sum := make([]float64, c.Bits()), make([]float64, c.Bits())
			const h = 1e-5
			wider := &Fit{R: f.R, Sigma: Interval{Value: g.narrow(g.wide(0.6) * math.Exp(h))}}
			other := wider.local(c.Transitions(), g, 20)
			for cell := range 20 * g.parts {
				clear(sum)
				const points = 64
				for j := range points {
					y := float64(cell/g.parts + 1)
					if parts > 0 {
						y = 0.5 + (float64(cell)+(float64(j)+0.5)/points)/float64(parts)
					}
					e.AtLabel(row, y)
					for k, v := range row {
						sum[k] += v / points
					}
				}
				for k, at := range c.Transitions() {
					if len(at) == 0 {
						continue
					}
					p, q := l.bit(cell, k)
					// The mean over a part is a Gaussian but for (w²/12σ²)² = 2·10⁻⁴ of itself, and more of it
					// in its tails.
					slack := 1e-12
					if parts > 0 {
						slack = 1e-3*0.05 + 0.02*sum[k]
					}
					if math.Abs(p-sum[k]) > slack {
						t.Errorf("%s, cell %d, bit %d: %v, want %v", name, cell, k, p, sum[k])
					}
					if p2, _ := other.bit(cell, k); p > 1e-200 && math.Abs(math.Log(p2/p)/h-q) > 1e-2*(1+math.Abs(q)) {
						t.Errorf("%s, cell %d, bit %d: derivative %v, by differences %v", name, cell, k, q, math.Log(p2/p)/h)
					}
				}
			}
		}
	}
}

// TestSharedExcess compares the excess of two classifiers with Sheppard's formula:
// with e = ½ the errors of both are correlated normal signs, P(both) = ¼ +
// asin(ρ)/2π. Products of the two, ±¼, have the variance of a sign.
func TestSharedExcess(t *testing.T) {
	c := mustCode(t, "unary", 3)
	rng := rand.New(rand.NewPCG(1, 1))
	f, j := fitted(t, c, drawn(t, rng, c, 0.9, 0.8, 0.3, []int{1}, 500, false), false)
	f.Sigma.Value = 0.8
	f.R.Value = 0.5 / (Transition{R: 1, Sigma: 0.8}.At(0.5))
	j.local = f.local(c.Transitions(), newGrid(j.counts), 3)
	m := j.sharedModel(1)
	for _, rho := range []float64{0, 0.1, 0.5, 0.9, largestRho} {
		at, err := m.at(context.Background(), rho, true)
		if err != nil {
			t.Fatal(err)
		}
		// D has the covariance of the signs, twice; v = 2·u·u with u = ±½.
		want := 2 * math.Asin(rho) / (2 * math.Pi)
		if math.Abs(at.excess-want) > 1e-6 || math.Abs(at.vv-(0.25-want*want)) > 1e-6 {
			t.Errorf("ρ = %v: excess %v, variance %v; want %v, %v", rho, at.excess, at.vv, want, 0.25-want*want)
		}
		if light, err := m.at(context.Background(), rho, false); err != nil || light.excess != at.excess {
			t.Errorf("ρ = %v: excess alone %v, with all moments %v", rho, light.excess, at.excess)
		}
	}
}

// TestSharedMoments compares the model's moments of the excess and of the scores with those of many
// samples: 300,000 tell the fourth moments to about a percent.
func TestSharedMoments(t *testing.T) {
	c := mustCode(t, "unary", 12)
	rng := rand.New(rand.NewPCG(2, 3))
	samples := drawn(t, rng, c, 1, 1.6, 0.5, []int{3, 5, 6}, 300_000, false)
	_, j := fitted(t, c, samples, false)
	m := j.sharedModel(0)
	const h = 1e-4
	at, err := m.at(context.Background(), 0.5, true)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := m.eachAt(context.Background(), 0.5, true)
	if err != nil {
		t.Fatal(err)
	}
	var v, vv, va, vb float64
	for i, cell := range m.cells {
		s, e := j.excess[cell], cells[i].excess
		v += s.v / m.samples
		vv += (s.vv - 2*e*s.v + s.n*e*e) / m.samples
		va += (s.va - e*s.a) / m.samples
		vb += (s.vb - e*s.b) / m.samples
	}
	for name, p := range map[string][2]float64{
		"excess": {v, at.excess}, "its variance": {vv, at.vv}, "with the score of r": {va, at.va}, "with the score of σ": {vb, at.vb},
		"scores of r": {j.scores[0] / m.samples, at.aa}, "of both": {j.scores[1] / m.samples, at.ab}, "of σ": {j.scores[2] / m.samples, at.bb},
	} {
		if math.Abs(p[0]-p[1]) > 0.03*math.Sqrt(p[1]*p[1]+0.01) {
			t.Errorf("%s: %v of the samples, %v of the model", name, p[0], p[1])
		}
	}
	// The derivatives of the excess.
	was := j.fit.R.Value
	j.fit.R.Value = was * (1 + h)
	more, err := j.sharedModel(0).at(context.Background(), 0.5, true)
	if err != nil || math.Abs((more.excess-at.excess)/h-at.a) > 1e-3*math.Abs(at.a) {
		t.Errorf("∂E/∂ln r = %v, by differences %v, %v", at.a, (more.excess-at.excess)/h, err)
	}
	j.fit.R.Value = was
	j.fit.Sigma.Value *= 1 + h
	more, err = j.sharedModel(0).at(context.Background(), 0.5, true)
	if err != nil || math.Abs((more.excess-at.excess)/h-at.b) > 1e-3*(math.Abs(at.b)+math.Abs(at.a)) {
		t.Errorf("∂E/∂ln s = %v, by differences %v, %v", at.b, (more.excess-at.excess)/h, err)
	}
}

// TestLogChance: of normal x about μ ≥ 0, 95 % are inside.
func TestLogChance(t *testing.T) {
	for _, mu := range []float64{0, 0.3, 1, 2, 5} {
		inside := 0.0
		const step = 1e-3
		for x := mu - 8; x < mu+8; x += step {
			if logChance(x, mu) >= math.Log(1-Confidence) {
				inside += step * distuv.UnitNormal.Prob(x-mu)
			}
		}
		if math.Abs(inside-Confidence) > 1e-3 {
			t.Errorf("μ = %v: %v are inside, want %v", mu, inside, Confidence)
		}
	}
	if v := logChance(100, 1); !(v < -1000) || math.IsInf(v, 0) {
		t.Errorf("far out: %v", v)
	}
}

// TestRealLabels: the estimates from real labels have no bias by quantization. Of 12 fits, the mean is
// within 6 standard errors of the truth (by Student's distribution 9·10⁻⁵ each); rates by level give a σ of
// 0.576 and a ρ of 0.414, which are some 15 and 10 standard errors off.
func TestRealLabels(t *testing.T) {
	c := mustCode(t, "johnson", 32)
	rng := rand.New(rand.NewPCG(4, 5))
	truth := [3]float64{0.6, 0.5, 0.3}
	var got [3][]float64
	held := 0
	for range 12 {
		f, j := fitted(t, c, drawn(t, rng, c, truth[0], truth[1], truth[2], every(c), 2500, true), true)
		if _, err := f.Inflate(context.Background(), j.Spread); err != nil {
			t.Fatal(err)
		}
		s, err := NewSharedNoise(context.Background(), 0, j)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range []Interval{f.R, f.Sigma, s.Rho} {
			got[i] = append(got[i], v.Value)
			if v.Lo <= truth[i] && truth[i] <= v.Hi {
				held++
			}
		}
	}
	for i, x := range got {
		mean, sd := stat.MeanStdDev(x, nil)
		if stderr := sd / math.Sqrt(12); math.Abs(mean-truth[i]) > 6*stderr {
			t.Errorf("parameter %d: mean %v ± %v, want %v", i, mean, stderr, truth[i])
		}
	}
	// Of 36 intervals of 95 %, fewer than 26 hold the truth with a probability of 3·10⁻⁶.
	if held < 26 {
		t.Errorf("%d of 36 intervals hold the truth", held)
	}
}

// TestSharedInterval: with ordinary errors the interval of ρ is as wide as the estimates spread, and
// with rare ones it holds the truth, too. Of 24, fewer than 16 hold it with a probability of 3·10⁻⁶; the
// half-width is 1.96 standard deviations of 24 estimates. These are known to 15 %: the ratio is above 1.75 or
// below 0.6 with a probability of less than 10⁻³.
func TestSharedInterval(t *testing.T) {
	for _, tt := range []struct {
		r, rho  float64
		samples int
		width   bool
	}{{1, 0.6, 1500, true}, {0.02, 0.3, 3000, false}} {
		c := mustCode(t, "johnson", 64)
		rng := rand.New(rand.NewPCG(6, 7))
		var estimates, half []float64
		held := 0
		for range 24 {
			_, j := fitted(t, c, drawn(t, rng, c, tt.r, 2, tt.rho, every(c), tt.samples, false), false)
			s, err := NewSharedNoise(context.Background(), 0, j)
			if err != nil {
				t.Fatal(err)
			}
			estimates, half = append(estimates, s.Rho.Value), append(half, (s.Rho.Hi-s.Rho.Lo)/2)
			if s.Rho.Lo <= tt.rho && tt.rho <= s.Rho.Hi {
				held++
			}
		}
		if held < 16 {
			t.Errorf("r = %v: %d of 24 intervals hold the truth", tt.r, held)
		}
		if ratio := stat.Mean(half, nil) / (1.96 * stat.StdDev(estimates, nil)); tt.width && (ratio > 1.75 || ratio < 0.6) {
			t.Errorf("r = %v: the interval is %v times as wide as the estimates spread", tt.r, ratio)
		}
	}
}

// TestGoodness: the deviance is as far from its mean as its standard deviation says, with shared noise
// and with half of the levels missing, too. The sum of 24 squares is below 75 but for 4·10⁻⁷ for normal
// ones, and above 4.5 but for 10⁻⁵; as if bits erred independently, the squares are about 6 times as
// large. Another mixture is rejected.
func TestGoodness(t *testing.T) {
	c := mustCode(t, "unary", 64)
	var odd []int
	for i := 0; i < 64; i += 2 {
		odd = append(odd, i)
	}
	for name, rows := range map[string][]int{"all levels": every(c), "half of the levels": odd} {
		rng := rand.New(rand.NewPCG(8, 9))
		sum := 0.0
		for range 24 {
			_, j := fitted(t, c, drawn(t, rng, c, 2, 6, 0.95, rows, 2500, false), false)
			g, err := j.Goodness(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			z := (g.Deviance - g.Expected) / g.SD
			sum += z * z
			if g.DoF < 50 || len(g.Worst) != worstCells || g.Worst[0].Deviance < g.Worst[1].Deviance || !(g.P >= 0 && g.P <= 1) {
				t.Fatalf("%+v", g)
			}
		}
		if sum > 75 || sum < 4.5 {
			t.Errorf("%s: the squares of 24 deviances in standard deviations add up to %v", name, sum)
		}
	}
	// Samples of two widths.
	rng := rand.New(rand.NewPCG(10, 11))
	_, j := fitted(t, c, append(drawn(t, rng, c, 0.5, 1, 0.3, every(c), 5000, false), drawn(t, rng, c, 0.5, 8, 0.3, every(c), 5000, false)...), false)
	g, err := j.Goodness(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if g.P > 1e-6 || g.Explained() > 0.99 || g.Explained() < 0.5 {
		t.Errorf("another model: %+v, %v explained", g, g.Explained())
	}
}

// TestFewSamples: Student's quantile widens intervals that rest on few samples, and one sample is
// nothing to rest on.
func TestFewSamples(t *testing.T) {
	s := Spread{Square: [2]float64{10, 3}, Fourth: [2]float64{10, 9}}
	if n := s.Samples(); n != [2]float64{10, 1} {
		t.Errorf("%v, want 10 and 1", n)
	}
	c := mustCode(t, "johnson", 32)
	f, j := fitted(t, c, drawn(t, rand.New(rand.NewPCG(12, 13)), c, 1, 2, 0.3, every(c), 20, false), false)
	effect, err := f.Inflate(context.Background(), j.Spread)
	if err != nil || !(effect[0] > 0) {
		t.Fatal(effect, err)
	}
	n := j.Spread.Samples()[0]
	want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n}.Quantile(0.975) / 1.96
	plain := *f
	if err := plain.intervals(context.Background(), effect, [2]float64{threshold(), threshold()}); err != nil {
		t.Fatal(err)
	}
	got := math.Log(f.R.Hi/f.R.Lo) / math.Log(plain.R.Hi/plain.R.Lo)
	if n > 25 || math.Abs(got/want-1) > 0.2 { // the likelihood is no parabola
		t.Errorf("with %v samples the interval is %v times as wide as by the normal distribution, want about %v", n, got, want)
	}
}
