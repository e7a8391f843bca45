package montecarlo

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/theory/base/position"
	"belsim/theory/expect"
)

// limit is what theory says of an expectation: it is not below or not above a value, or neither.
type limit struct {
	what        string
	value       float64
	least, most bool
	rounding    float64 // of the value, in parts of the largest error
}

// limits are what theory says.
func limits(t expect.Level) (out []limit) {
	if !math.IsNaN(t.Mean) {
		out = append(out, limit{exactValue, t.Mean, true, true, 0})
	}
	if !math.IsNaN(t.Bound) {
		out = append(out, limit{"bound", t.Bound, false, true, 0})
	}
	if t.AnyLaw != nil {
		// The ends are sums of probabilities of which some are 1 less a small one: each has a rounding of
		// 2⁻⁵³, and there are no more of them than bits, for which 512 are allowed.
		const rounding = 0x1p-44
		out = append(out, limit{"smallest of any law", t.AnyLaw[0], true, false, rounding},
			limit{"largest of any law", t.AnyLaw[1], false, true, rounding})
	}
	return out
}

const exactValue = "exact value"

// Failure is a check of Verify that failed.
type Failure struct {
	Level     int     // from 1; 0 for the mean over the prior
	Checked   string  // "sampled mean" or "exact value"
	What      string  // what contradicts it, such as "bound"
	Value     float64 // what was checked
	Theory    float64 // what it was compared with
	Allowance float64 // how far chance may take a sampled mean, and rounding an exact value
}

func (f Failure) String() string {
	where := "level " + position.At(f.Level)
	if f.Level == 0 {
		where = "all levels"
	}
	by := "chance"
	if f.Checked == exactValue {
		by = "rounding"
	}
	return fmt.Sprintf("%s: %s %.6g, %s %.6g; %s allows for %.2g", where, f.Checked, f.Value, f.What, f.Theory, by,
		f.Allowance)
}

// Verify checks sampled means against theory, for every label and for the mean
// over the prior: none may exceed its bound, none may differ from its exact
// value, and none may lie outside of what any law can reach, by more than chance allows. An exact
// value is checked against the others, too. The probability of any failure when theory
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
// worst is the largest cost a label can have. The numbers of samples may not depend on
// the samples that are checked; those of Estimate do not.
func Verify(sums []Sums, theory []expect.Level, prior []float64, worst, alpha float64) []Failure {
	var failures []Failure
	for _, c := range checks(sums, theory, prior, worst, alpha) {
		for _, l := range limits(c.theory) {
			check := func(checked string, value, allowed float64) {
				allowed += 1e-9*l.value + l.rounding*worst // theory itself is computed in floating point
				if off := value - l.value; l.most && off > allowed || l.least && -off > allowed {
					failures = append(failures, Failure{c.level, checked, l.what, value, l.value, allowed})
				}
			}
			check("sampled mean", c.mean, c.allowance)
			if c.level > 0 && l.what != exactValue && !math.IsNaN(c.theory.Mean) {
				check(exactValue, c.theory.Mean, 0)
			}
		}
	}
	return failures
}

// Power is the probability with which Verify finds a deviation of the size that Detectable says.
const Power = 0.95

// Detectable returns, for every label and for the mean over the prior, the deviation from theory that Verify finds
// with the probability Power, in levels: of samples above the exact value, or above the bound where there is none. It
// is NaN where nothing was checked.
//
// A sampled mean must be away from theory by the allowance A of Verify. Chance moves it by its
// standard error s, which grows with the expectation m where errors are rare: the deviation d
// solves d = A + z·s·√(1 + d/m), with z the normal quantile of Power.
func Detectable(sums []Sums, theory []expect.Level, prior []float64, worst, alpha float64) (labels []float64,
	all float64) {
	labels, all = make([]float64, len(sums)), math.NaN()
	for i := range labels {
		labels[i] = math.NaN()
	}
	z := distuv.UnitNormal.Quantile(Power)
	for _, c := range checks(sums, theory, prior, worst, alpha) {
		m := c.theory.Mean
		if math.IsNaN(m) {
			m = c.mean
		}
		// With x = √(1 + d/m): m·x² − z·s·x − (A + m) = 0.
		d := c.allowance
		if m > 0 {
			b := z * c.stderr
			x := (b + math.Sqrt(b*b+4*m*(c.allowance+m))) / (2 * m)
			d = m * (x*x - 1)
		}
		if c.level == 0 {
			all = d
		} else {
			labels[c.level-1] = d
		}
	}
	return labels, all
}

// check is a mean that is compared with theory.
type check struct {
	level                   int // from 1; 0 for the mean over the prior
	mean, allowance, stderr float64
	theory                  expect.Level
}

// checks lists what can be compared.
func checks(sums []Sums, theory []expect.Level, prior []float64, worst, alpha float64) []check {
	logTerm := math.Log(2 * float64(2*(len(sums)+1)) / alpha)

	var out []check
	rounding := 0.0 // of a sampled mean
	bernstein := func(variance, step float64) float64 {
		a := step * logTerm / 3
		return a + math.Sqrt(a*a+2*variance*logTerm)
	}
	var mean, variance, step float64
	var all expect.Level
	laws, ends := true, [2]float64{} // of any law
	for row, s := range sums {
		if s.Samples == 0 {
			continue
		}
		n, t := float64(s.Samples), theory[row]
		rounding = max(rounding, s.rounding())
		v := max(0, t.MeanSquare-t.Mean*t.Mean)
		switch {
		case !math.IsNaN(v):
			out = append(out, check{row + 1, s.Mean(), bernstein(v/n, worst/n) + rounding, math.Sqrt(v / n), t})
		case n > 1 && len(limits(t)) > 0:
			out = append(out, check{row + 1, s.Mean(), math.Sqrt(2*s.Variance()/n*logTerm) + 7*worst*logTerm/(3*(n-1)) +
				rounding, s.StdErr(), t})
		}
		if p := prior[row]; p > 0 {
			mean += p * s.Mean()
			all.Bound += p * t.Bound
			all.Mean += p * t.Mean
			if laws = laws && t.AnyLaw != nil; laws {
				ends[0] += p * t.AnyLaw[0]
				ends[1] += p * t.AnyLaw[1]
			}
			variance += p * p * v / n
			step = max(step, p*worst/n)
		}
	}
	if laws {
		all.AnyLaw = &ends
	}
	// Without exact values the mean over the labels adds nothing to what was
	// checked label by label.
	if !math.IsNaN(variance) && len(out) > 0 {
		out = append(out, check{0, mean, bernstein(variance, step) + rounding, math.Sqrt(variance), all})
	}
	return out
}
