package montecarlo

import (
	"fmt"
	"math"
)

// Theory holds the bound and the exact moments of the |error| of one label, in levels; NaN
// where there are none.
type Theory struct {
	Bound      float64
	Mean       float64 // exact expectation
	MeanSquare float64 // exact second moment
}

// Failure is a check of Verify that failed.
type Failure struct {
	Level     int     // from 1; 0 for the mean over the prior
	What      string  // "bound" or "exact value"
	Sampled   float64 // sampled mean
	Theory    float64 // what it was compared with
	Allowance float64 // how far chance may take the sampled mean
}

func (f Failure) String() string {
	where := fmt.Sprintf("level %d", f.Level)
	if f.Level == 0 {
		where = "all levels"
	}
	return fmt.Sprintf("%s: sampled mean %.6g, %s %.6g; chance allows for %.2g", where, f.Sampled, f.What, f.Theory, f.Allowance)
}

// Verify checks sampled means against theory, for every label and for the mean
// over the prior: none may exceed its bound, and none may differ from its exact
// value, by more than chance allows. The probability of any failure when theory
// is right is at most alpha.
//
// The allowance is Bernstein's inequality with the exact variance: for the mean
// of N independent values within b of their expectation and of variance v,
//
//	P(|mean − expectation| ≥ t) ≤ 2·exp(−t²/(2·(v/N + b/N·t/3))),
//
// which holds for every N and however skewed the values are, as errors are when
// they are rare; a normal approximation would not. Where there is a bound and no
// exact variance, the empirical Bernstein inequality of Maurer and Pontil (COLT
// 2009, Theorem 4) takes the sampled one. alpha is shared by all checks
// (Bonferroni).
//
// worst is the largest |error| a label can have.
func Verify(sums []Sums, theory []Theory, prior []float64, worst int, alpha float64) []Failure {
	checks := float64(2 * (len(sums) + 1))
	logTerm := math.Log(2 * checks / alpha)
	b := float64(worst)

	var failures []Failure
	rounding := 0.0 // of a sampled mean
	check := func(level int, mean float64, t Theory, allowance float64) {
		allowance += rounding
		// Theory itself is computed in floating point: add what that can be off.
		if allowed := allowance + 1e-9*t.Mean; !math.IsNaN(t.Mean) && math.Abs(mean-t.Mean) > allowed {
			failures = append(failures, Failure{level, "exact value", mean, t.Mean, allowed})
		}
		if allowed := allowance + 1e-9*t.Bound; !math.IsNaN(t.Bound) && mean-t.Bound > allowed {
			failures = append(failures, Failure{level, "bound", mean, t.Bound, allowed})
		}
	}
	bernstein := func(variance, step float64) float64 {
		a := step * logTerm / 3
		return a + math.Sqrt(a*a+2*variance*logTerm)
	}
	var mean, variance, step float64
	var all Theory
	for row, s := range sums {
		if s.Samples == 0 {
			continue
		}
		n, t := float64(s.Samples), theory[row]
		rounding = max(rounding, s.rounding())
		v := max(0, t.MeanSquare-t.Mean*t.Mean)
		switch {
		case !math.IsNaN(v):
			check(row+1, s.Mean(), t, bernstein(v/n, b/n))
		case n > 1:
			check(row+1, s.Mean(), t, math.Sqrt(2*s.Variance()/n*logTerm)+7*b*logTerm/(3*(n-1)))
		}
		if p := prior[row]; p > 0 {
			mean += p * s.Mean()
			all.Bound += p * t.Bound
			all.Mean += p * t.Mean
			variance += p * p * v / n
			step = max(step, p*b/n)
		}
	}
	// Without exact values, a check of the mean over the labels adds nothing to the checks of
	// the labels.
	if !math.IsNaN(variance) {
		check(0, mean, all, bernstein(variance, step))
	}
	return failures
}
