package errmodel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/code"
	"belsim/theory/latent"
	"belsim/theory/matrix"
	"belsim/theory/parallel"
)

// SharedNoise is the estimate of the part ρ of the classifiers' noise that is one
// displacement of the perceived label, common to all bits.
type SharedNoise struct {
	Rho Interval // from 0 to 0.99; 0.99 also stands for larger values; NaN where it cannot be estimated
	// Excess is a mean over the samples, with its standard error: the variance of the
	// displacement
	//
	//	D = Σ_k d_k·(b_k − C[n,k])
	//
	// minus the variance that independent errors would give. d_k = ±1 is the direction in
	// which bit k changes at its nearest transition (code.Slopes). For unary, D is the
	// error of the decoded level.
	Excess, StdErr float64
	// Most is the excess for ρ = 0.99. It is zero where no two bits can err.
	Most float64
}

// largestRho is the end of the search. There the error probability of a bit, given the
// shared noise, is a step of the width √(1−ρ) = 1/10, which is also the distance of the
// points of sharedExcess. A network with a larger ρ can hardly be told from one with
// ρ = 1.
const largestRho = 0.99

// leastExcess is the largest excess that roundings may give where there is none.
const leastExcess = 1e-9

// NewSharedNoise estimates the ρ of the one-factor Gaussian model of the table e, L × M. With
// this ρ, the variance of D exceeds the variance for independent errors by the given excess,
// when levels occur as in the prior. Given the shared noise t, bit k of level n is wrong with
// the probability
//
//	Φ((−Φ⁻¹(1−e) + g_k·√ρ·t)/√(1−ρ)),  g_k = ±d_k,
//
// independently of the other bits. So the excess is Var_t(Σ g_k·p_k(t)) − Σ Var_t(p_k(t)).
// It grows with ρ, because all covariances g_k·g_l·cov do (Slepian's inequality). workers is
// the number of goroutines, 0 for all processors; it changes no number. The error is about the
// sizes, or the context's.
func NewSharedNoise(ctx context.Context, workers int, c *code.Code, e mat.Matrix, prior []float64, excess, stderr float64) (*SharedNoise, error) {
	if rows, columns := e.Dims(); rows != c.Levels() || columns != c.Bits() || len(prior) != rows {
		return nil, fmt.Errorf("a table of %d × %d and a prior of %d levels for a code of %d levels and %d bits", rows, columns, len(prior), c.Levels(), c.Bits())
	}
	s := &SharedNoise{Excess: excess, StdErr: stderr}
	var err error
	if s.Most, err = sharedExcess(ctx, workers, c, e, prior, largestRho); err != nil {
		return nil, err
	}
	if !(s.Most > leastExcess) || !(stderr > 0) {
		s.Rho = Interval{math.NaN(), math.NaN(), math.NaN()}
		return s, nil
	}
	z := distuv.UnitNormal.Quantile((1 + Confidence) / 2)
	for _, at := range []struct {
		rho    *float64
		excess float64
	}{{&s.Rho.Value, excess}, {&s.Rho.Lo, excess - z*stderr}, {&s.Rho.Hi, excess + z*stderr}} {
		if *at.rho, err = rhoOf(ctx, workers, c, e, prior, at.excess, s.Most); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// rhoOf solves for ρ by false position (Illinois), which keeps the zero enclosed.
func rhoOf(ctx context.Context, workers int, c *code.Code, e mat.Matrix, prior []float64, excess, most float64) (float64, error) {
	if !(excess > 0) {
		return 0, nil
	}
	if excess >= most {
		return largestRho, nil
	}
	b := bracket{below: 0, fBelow: -excess, above: largestRho, fAbove: most - excess}
	for range 60 {
		rho := (b.below*b.fAbove - b.above*b.fBelow) / (b.fAbove - b.fBelow)
		v, err := sharedExcess(ctx, workers, c, e, prior, rho)
		if err != nil {
			return 0, err
		}
		v -= excess
		if math.Abs(v) < 1e-5*excess || b.above-b.below < 1e-5 {
			return rho, nil
		}
		b.narrow(rho, v)
	}
	return (b.below + b.above) / 2, nil
}

// sharedExcess is the mean excess over the prior. It uses the trapezoid rule over the
// shared noise t from −8 to 8. For smooth functions that vanish at both ends, the error of
// this rule falls exponentially with the number of points in the width of the function.
// Here this number is one or more (see largestRho).
func sharedExcess(ctx context.Context, workers int, c *code.Code, e mat.Matrix, prior []float64, rho float64) (float64, error) {
	const points = 161
	var weights [points]float64
	total := 0.0
	at := func(j int) float64 { return 16*float64(j)/(points-1) - 8 }
	for j := range weights {
		weights[j] = math.Exp(-at(j) * at(j) / 2)
		total += weights[j]
	}
	shared, own := math.Sqrt(rho), math.Sqrt(1-rho)
	slopes := c.Slopes()
	excess := make([]float64, c.Levels())
	err := parallel.Each(ctx, workers, c.Levels(), func() (func(context.Context, int) error, error) {
		var row []float64
		slope := make([]int8, c.Bits())
		var sum [points]float64
		return func(_ context.Context, i int) error {
			if prior[i] == 0 {
				return nil
			}
			row = matrix.Row(row, i, e)
			slopes.Row(slope, i)
			clear(sum[:])
			separate := 0.0
			for k, p := range row {
				if slope[k] == 0 || p < 1e-9 {
					continue
				}
				direction := -float64(slope[k]) // of D when the bit errs, by the slope of its one …
				if !c.Bit(i, k) {
					direction = -direction // … or of its zero
				}
				q := -latent.Mean(p)
				var m1, m2 float64
				for j := range sum {
					v := math.Erfc(-(q+direction*shared*at(j))/own/math.Sqrt2) / 2
					sum[j] += direction * v
					m1 += weights[j] * v
					m2 += weights[j] * v * v
				}
				m1, m2 = m1/total, m2/total
				separate += m2 - m1*m1
			}
			var m1, m2 float64
			for j, v := range sum {
				m1 += weights[j] * v
				m2 += weights[j] * v * v
			}
			m1, m2 = m1/total, m2/total
			excess[i] = m2 - m1*m1 - separate
			return nil
		}, nil
	})
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, p := range prior {
		sum += p * excess[i]
	}
	return sum, nil
}
