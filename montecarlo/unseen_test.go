package montecarlo_test

import (
	"fmt"
	"math"
	"testing"

	"belsim/montecarlo"
	"belsim/theory"
	"belsim/theory/base/must"
	"belsim/theory/cost"
	"belsim/theory/decode"
	"belsim/theory/expect"
)

// TestUnseenCosts: where few or no samples err, at most 2 % of the rows are more than 3 standard errors off
// their exact means, and their mean square is not more than 4 times the exact one where a sample errs in
// each row. A binomial number of 20·16 rows with 2 % is above 20 with a probability below 1e-5.
func TestUnseenCosts(t *testing.T) {
	const runs, levels = 20, 16
	for _, tt := range []struct {
		code, decoder, cost string
		r                   float64
		samples             uint64
		often               bool
	}{
		{"unary", "bel-u", "zero-one", 0.01, 150, true}, {"unary", "bel-u", "squared", 0.03, 150, true},
		{"unary", "bel-u", "zero-one", 0.03, 300, true}, {"unary", "bel-u", "beyond:1", 0.2, 200, false},
		{"johnson", "bel-j", "squared", 0.01, 150, true}, {"johnson", "bel-j", "beyond:3", 0.1, 500, false},
		{"hadamard", "gen", "absolute", 0.1, 150, false}, {"gray", "gen", "squared", 0.01, 150, true},
		{"johnson", "gen-ex", "zero-one", 0.02, 150, true}, {"hadamard", "gen-ex", "squared", 0.1, 150, false},
	} {
		p := mixtureProblem(t, tt.code, tt.decoder, levels, tt.r, 1)
		p.Cost = must.Get(cost.Parse(tt.cost, levels, false))(t)
		skip := expect.Skip{AnyLaw: true, Bounds: true, Intervals: true}
		th := must.Get(expect.Of(t.Context(), 1, p.Expected(), theory.Uniform(levels), skip))(t)
		off, square, exact := 0, 0.0, 0.0
		for seed := range uint64(runs) {
			p.Seed = seed
			for i, s := range sampleAll(t, p, tt.samples) {
				of, e := th.Levels[i], s.StdErr()
				if math.Abs(s.Mean()-of.Mean) > 3*e {
					off++
				}
				square += e * e
				exact += (of.MeanSquare - of.Mean*of.Mean) / float64(tt.samples)
			}
		}
		if name := fmt.Sprintf("%+v", tt); off > 20 || tt.often && square > 4*exact {
			t.Errorf("%s: %d of %d rows are off; standard errors are %.2f times as large as they are", name, off,
				runs*levels, math.Sqrt(square/exact))
		}
	}
}

// TestRealCosts: costs of answers between levels are those of the answers as they are. At a high
// temperature answers lie beside levels, on either side of θ = 1. By Bernstein's inequality a mean
// is 7 standard errors of at least 1/samples away with a probability below 1e-4.
func TestRealCosts(t *testing.T) {
	const levels, samples = 6, 4000
	for _, tau := range []float64{1, 4, 12} {
		for _, text := range []string{"beyond:1", "beyond:0.001", "beyond:0.5", "zero-one", "squared"} {
			p := mixtureProblem(t, "johnson", "gen-ex", levels, 0.1, 1)
			p.Decoder, p.Kind = must.Get(decode.NewGenEx(p.Code, tau))(t), montecarlo.DenseBits
			p.Cost = must.Get(cost.Parse(text, levels, false))(t)
			th := must.Get(expect.Of(t.Context(), 1, p.Expected(), theory.Uniform(levels), expect.Skip{Bounds: true}))(t)
			for i, s := range sampleAll(t, p, samples) {
				of := th.Levels[i]
				e := max(1./samples, math.Sqrt(max(0, of.MeanSquare-of.Mean*of.Mean)/samples))
				must.Near(t, fmt.Sprintf("%s, τ = %v, level %d", text, tau, i+1), of.Mean, s.Mean(), 7*e)
			}
		}
	}
}

// TestSumsOnCircle: on a circle, sums of errors are those round it, of levels and of answers between them.
func TestSumsOnCircle(t *testing.T) {
	const levels, samples = 8, 500
	for _, name := range []string{"gen", "gen-ex"} {
		p := mixtureProblem(t, "johnson", name, levels, 0.3, 1)
		p.Code, p.Kind, p.Cost, p.Answers = p.Code.OnCircle(true), montecarlo.DenseBits, cost.Circular(levels), true
		p.Decoder = must.Get(decode.New(name, p.Code))(t)
		for i, s := range sampleAll(t, p, samples) {
			scale := math.Ldexp(1, -int(s.Fraction)) / samples
			must.Near(t, fmt.Sprintf("%s, level %d, mean", name, i+1), s.Costs.Mean, float64(s.Abs)*scale, 1e-5)
			square := s.Costs.Variance*(samples-1)/samples + s.Costs.Mean*s.Costs.Mean
			must.Near(t, fmt.Sprintf("%s, level %d, mean square", name, i+1), square, float64(s.Square)*scale, 1e-4)
		}
	}
}
