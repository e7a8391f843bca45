package montecarlo_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/perceived"
	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// perceivedProblem is a code that a network has learned, with a decoder.
func perceivedProblem(t testing.TB, name, decoder string, levels int, m perceived.Model,
	hard bool) *montecarlo.Problem {
	t.Helper()
	c := must.Get(code.New(name, levels))(t)
	d := must.Get(decode.New(decoder, c))(t)
	l := must.Get(m.Learn(context.Background(), 0, c, theory.Uniform(levels)))(t)
	kind := montecarlo.PerceivedLogits
	if hard {
		kind = montecarlo.PerceivedBits
	}
	return &montecarlo.Problem{Code: c, Decoder: d, Errors: l, Kind: kind, Seed: 3, Within: 1}
}

var network = perceived.Model{Noise: 1.6, Misfit: 0.25, Training: perceived.BCE}

// rarely is of networks that are seldom wrong, at the outer perceived labels alone.
var rarely = perceived.Model{Noise: 0.2, Misfit: 0.02, Training: perceived.BCE}

// perceivedDirectly samples a problem by its definition, in floating point: the mean |error|
// and its standard error, with the strata of the perceived label in turn.
func perceivedDirectly(p *montecarlo.Problem, n int) (mean, stderr float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	l := p.Errors.(decode.Network)
	sd, z := l.ResidualSD(), make([]float64, p.Code.Bits())
	var sum, square float64
	for i := range n * p.Code.Levels() {
		row, j := i%p.Code.Levels(), i/p.Code.Levels()%decode.Strata
		y := float64(row + 1)
		perceived := decode.PerceivedLabel(y, l.Noise(), j)
		answer := 0.0
		l.Logits(z, perceived)
		for k := range z {
			z[k] += sd[k] * rng.NormFloat64()
		}
		if p.Kind.Hard() {
			word := make([]uint64, len(p.Code.Word(0)))
			for k, v := range z {
				if v > 0 {
					word[k/64] |= 1 << (k % 64)
				}
			}
			answer = decode.Value(p.Decoder, word)
		} else {
			answer = p.Decoder.(decode.LogitDecoder).DecodeLogits(z)
		}
		e := math.Abs(answer - y)
		sum += e
		square += e * e
	}
	total := float64(n * p.Code.Levels())
	mean = sum / total
	return mean, math.Sqrt((square/total - mean*mean) / total)
}

// TestPerceived compares samples, on fast paths, with the definition of the model in floating
// point: hard and soft decisions, large logits and small ones.
func TestPerceived(t *testing.T) {
	small := network
	small.Noise = 0.4 // logits far above 16
	for _, tt := range []struct {
		code, decoder string
		levels        int
		model         perceived.Model
		hard          bool
	}{
		{"unary", "bel-u", 32, network, true},
		{"johnson", "gen", 32, network, true},
		{"hexj", "gen", 64, network, true},
		{"hadamard", "gen-ex", 32, network, true},
		{"unary", "gen-ex", 64, network, false},
		{"b1jdj", "gen-ex", 64, network, false},
		{"hexj", "gen", 64, network, false},
		{"gray", "gen-ex", 128, network, false}, // a product of two codes
		{"hadamard", "gen", 64, network, false},
		{"johnson", "gen-ex", 32, small, false},
		{"unary", "gen", 32, small, false},
	} {
		t.Run(fmt.Sprintf("%s/%s/%v/%v", tt.code, tt.decoder, tt.hard, tt.model.Noise), func(t *testing.T) {
			p := perceivedProblem(t, tt.code, tt.decoder, tt.levels, tt.model, tt.hard)
			n := 640
			if tt.levels > 64 { // as many in all
				n = 640 * 64 / tt.levels
			}
			want, sd := perceivedDirectly(p, n)
			got := montecarlo.Average(theory.Uniform(tt.levels), sampleAll(t, p, uint64(n)))
			if d := math.Abs(got.Mean - want); !(d <= 6.5*math.Hypot(sd, got.StdErr)+1e-5) {
				t.Errorf("mean |error| %v ± %v, by definition %v ± %v", got.Mean, got.StdErr, want, sd)
			}
		})
	}
}

// TestStandardErrors: means of 400 seeds scatter by the standard errors that are printed, and 95 %
// of labels are within 1.96 of them, also where errors are rare; 94 % would do. By the laws of χ²
// and of binomial numbers each check fails by chance less than once in 10⁵ times.
func TestStandardErrors(t *testing.T) {
	const seeds, samples, levels, chance = 400, 1024, 8, 1e-5
	mixture := func(r float64, kind montecarlo.Kind) *montecarlo.Problem {
		p := mixtureProblem(t, "unary", "gen", levels, r, 1)
		p.Kind = kind
		return p
	}
	prior := theory.Uniform(levels)
	for name, p := range map[string]*montecarlo.Problem{
		"hard":                perceivedProblem(t, "johnson", "gen", levels, network, true),
		"logits":              perceivedProblem(t, "johnson", "gen", levels, network, false),
		"gen-ex":              perceivedProblem(t, "unary", "gen-ex", levels, network, false),
		"mixture":             mixture(0.3, montecarlo.IndependentBits),
		"logits of a mixture": mixture(0.3, montecarlo.IndependentLogits),
		"rare":                perceivedProblem(t, "unary", "gen", levels, rarely, false),
	} {
		t.Run(name, func(t *testing.T) {
			var means, variances [seeds]float64
			var truth [levels]float64
			labels := make([][]montecarlo.Sums, seeds)
			for seed := range seeds {
				p.Seed = uint64(seed)
				labels[seed] = sampleAll(t, p, samples)
				o := montecarlo.Average(prior, labels[seed])
				means[seed], variances[seed] = o.Mean, o.StdErr*o.StdErr
				for i, s := range labels[seed] {
					truth[i] += s.Mean() / seeds
				}
			}
			law := distuv.ChiSquared{K: seeds - 1}
			x := stat.Variance(means[:], nil) / stat.Mean(variances[:], nil) * law.K
			if tail := law.CDF(x); 1-tail < chance || tail < chance && name != "rare" {
				t.Errorf("means scatter %.3f times as much as their standard errors say", math.Sqrt(x/law.K))
			}
			within := 0
			for _, sums := range labels {
				for i, s := range sums {
					if math.Abs(s.Mean()-truth[i]) <= 1.96*s.StdErr() {
						within++
					}
				}
			}
			normal := distuv.Normal{Mu: 0.94 * seeds * levels, Sigma: math.Sqrt(0.94 * 0.06 * seeds * levels)}
			if normal.CDF(float64(within)) < chance {
				t.Errorf("%.1f %% of the labels are within 1.96 standard errors", 100*float64(within)/seeds/levels)
			}
		})
	}
}

// TestPerceivedRefused: what the model has no meaning for.
func TestPerceivedRefused(t *testing.T) {
	p := perceivedProblem(t, "unary", "gen", 8, network, true)
	p.Code = perceivedProblem(t, "unary", "gen", 9, network, true).Code
	if err := p.Validate(); err == nil {
		t.Error("a network of another number of bits was taken")
	}
}
