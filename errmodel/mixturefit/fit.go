// Package mixturefit fits the Gaussian mixture of package errmodel to counts of wrong outputs: the
// weight r and the width σ of largest likelihood, their intervals, and how well the mixture
// describes the counts.
//
// New fits the counts. A second reading of the samples (Joint) tells how the bits of a sample err
// together: the intervals and the test of the model need this.
package mixturefit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/errmodel/internal/falseposition"
)

// Fit is the Gaussian mixture of largest likelihood, one weight r and one width σ
// for all the transitions it was fitted to.
type Fit struct {
	R, Sigma errmodel.Interval // σ in levels
	// Limited says that the likelihood still grows at the largest valid r, where some
	// e[n,k] is 1.
	Limited bool

	counts    *errmodel.Counts
	positions [][]int
	l         *likelihood
	lo, hi    float64 // of b = ln s: see likelihood
	best      float64 // log-likelihood
	varianceB float64 // of ln s; 0 where it is unknown
}

// s is the width of the Gaussians that the likelihood uses: σ, or a little more for real labels.
func (f *Fit) s() float64 { return f.l.grid.wide(f.Sigma.Value) }

// inverse returns the entries of the inverse of the observed information about (ln r, ln s), and
// whether the estimate has one: it lies at no limit.
func (f *Fit) inverse() (inverse [3]float64, ok bool) {
	b := math.Log(f.s())
	f.l.at(b)
	d := f.l.derivatives(math.Log(f.R.Value))
	if !d.concave() || f.Limited || !(b > f.lo+1e-6 && b < f.hi-1e-6) {
		return inverse, false
	}
	det := d.det()
	return [3]float64{d.ibb / det, -d.iab / det, d.iaa / det}, true
}

// ErrNoFit is wrapped by the errors for counts that do not determine r and σ.
var ErrNoFit = errors.New("nothing to fit")

// threshold is half the quantile of χ²₁. At the ends of an interval the log-likelihood
// is this much below its maximum.
func threshold() float64 {
	return distuv.ChiSquared{K: 1}.Quantile(errmodel.Confidence) / 2
}

// smallestSigma is the smallest width that a fit tries, in levels. Below it, the Gaussian
// at the second-nearest level is less than 10⁻⁴⁴ of the Gaussian at the nearest one. No
// data tells such widths apart.
const smallestSigma = 0.1

// New fits r and σ by maximum likelihood to the binomial counts of wrong outputs.
// positions are the transitions of the code (code.Code.Transitions); bits without any are left
// out. The intervals come from the profile likelihood; see Inflate. The error wraps ErrNoFit where
// no output is wrong, or is the context's.
func New(ctx context.Context, c *errmodel.Counts, positions [][]int) (*Fit, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if len(positions) != c.Bits {
		return nil, fmt.Errorf("transitions of %d bits for counts of %d", len(positions), c.Bits)
	}
	l := newLikelihood(c, positions)
	switch {
	case len(l.n) == 0:
		return nil, fmt.Errorf("%w: no transitions", ErrNoFit)
	case l.total == 0:
		return nil, fmt.Errorf("%w: no output is wrong", ErrNoFit)
	}
	f := &Fit{counts: c, positions: positions, l: l, lo: math.Log(l.grid.wide(smallestSigma)), hi: math.Log(l.grid.wide(10 * float64(c.Levels)))}
	if err := f.maximize(ctx); err != nil {
		return nil, err
	}
	if err := f.intervals(ctx, [2]float64{1, 1}, [2]float64{threshold(), threshold()}); err != nil {
		return nil, err
	}
	return f, nil
}

// maximize finds the largest likelihood. For each σ the best r is the zero of a
// decreasing function, so only the search for σ remains. A grid finds the highest of
// several maxima, the method of Nelder and Mead its top, and Newton's method the last
// digits.
func (f *Fit) maximize(ctx context.Context) error {
	lo, hi := f.lo, f.hi
	const grid = 64
	start, most := 0.0, math.Inf(-1)
	for i := range grid + 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := lo + (hi-lo)*float64(i)/grid
		f.l.at(b)
		if _, v, _ := f.l.profile(); v > most {
			start, most = b, v
		}
	}
	top, least, err := minimize(ctx, start, (hi-lo)/grid, 1e-12*math.Abs(most), func(b float64) float64 {
		if !(b >= lo && b <= hi) {
			return math.Inf(1)
		}
		f.l.at(b)
		_, v, _ := f.l.profile()
		return -v
	})
	if err != nil {
		return fmt.Errorf("fitting r and σ: %w", err)
	}
	b := start
	if -least > most {
		b = top
	}
	f.l.at(b)
	a, v, limited := f.l.profile()
	for range 8 {
		if limited || b <= lo || b >= hi {
			break
		}
		d := f.l.derivatives(a)
		if !d.concave() {
			break
		}
		da, db := (d.ibb*d.ga-d.iab*d.gb)/d.det(), (d.iaa*d.gb-d.iab*d.ga)/d.det()
		if !(math.Abs(db) < (hi-lo)/grid) {
			break
		}
		f.l.at(b + db)
		// Near the top the value is constant to its last digit, so it may fall by this digit.
		next := f.l.value(a + da)
		if !(next >= v-1e-13*math.Abs(v)) {
			break
		}
		a, b, v = a+da, b+db, max(v, next)
	}
	f.l.at(b)
	f.best, f.Limited = f.l.value(a), limited
	// Slightly below the limit: no rounding, here or where r is used, may make a probability
	// above 1.
	a = min(a, -f.l.most-1e-12)
	if d := f.l.derivatives(a); d.det() > 0 {
		f.varianceB = d.iaa / d.det()
	}
	f.R.Value, f.Sigma.Value = math.Exp(a), f.l.grid.narrow(math.Exp(b))
	return nil
}

// Spread says how far chance takes the estimates of ln r and ln σ, from the samples themselves:
// the sums over the samples of the second and of the fourth powers of their influences. The
// influence of a sample is I⁻¹·s, where s is its score, the sum of the scores of its bits.
type Spread struct {
	Square, Fourth [2]float64
}

// Samples is the number of samples that the estimate of each variance rests on: the number of
// equal influences whose squares would vary as much. It is small where a few samples hold most
// of the errors.
func (s Spread) Samples() [2]float64 {
	var out [2]float64
	for i := range out {
		if s.Fourth[i] > 0 {
			out[i] = s.Square[i] * s.Square[i] / s.Fourth[i]
		}
	}
	return out
}

// Inflate corrects the intervals for samples whose bits err together. (The likelihood
// treats all bits as independent.) The variances become those of the sandwich estimator,
// I⁻¹·J·I⁻¹, where J is the sum of the squares of the scores of the samples. The likelihood may
// fall in proportion towards the ends of an interval, and by Student's quantile instead of the
// normal one, because the variance is an estimate from so many samples as Spread says.
// Inflate returns the factors by which the variances of ln r and ln σ grow. They are NaN, and the
// intervals do not change, where the estimate is at a limit and has no such variance.
func (f *Fit) Inflate(ctx context.Context, s Spread) ([2]float64, error) {
	effect := [2]float64{math.NaN(), math.NaN()}
	fall := [2]float64{threshold(), threshold()}
	if inverse, ok := f.inverse(); ok {
		n := s.Samples()
		f.varianceB = s.Square[1]
		for i, naive := range []float64{inverse[0], inverse[2]} {
			effect[i] = s.Square[i] / naive
			if n[i] > 1 {
				t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n[i]}.Quantile((1 + errmodel.Confidence) / 2)
				fall[i] = t * t / 2
			}
		}
	}
	return effect, f.intervals(ctx, effect, fall)
}

// minimize finds the smallest value of a function of one number, from a start, by the
// method of Nelder and Mead. The error is the context's.
func minimize(ctx context.Context, start, step, tolerance float64, f func(float64) float64) (at, least float64, err error) {
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return f(x[0]) },
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: tolerance, Iterations: 10}}
	result, err := optimize.Minimize(problem, []float64{start}, settings, &optimize.NelderMead{SimplexSize: step})
	if err != nil {
		return 0, 0, err
	}
	return result.X[0], result.F, nil
}

// intervals sets the limits of both parameters: the points where the profile likelihood
// has fallen by fall, times the effect on the variance of the parameter.
func (f *Fit) intervals(ctx context.Context, effect, fall [2]float64) error {
	var floor [2]float64
	for i, e := range effect {
		if !(e > 0) || math.IsInf(e, 0) {
			e = 1
		}
		floor[i] = f.best - fall[i]*e
	}
	limited, err := f.intervalSigma(ctx, floor[1])
	if err != nil {
		return err
	}
	return f.intervalR(ctx, floor[0], limited)
}

// intervalSigma sets the limits of σ: the points where the profile over r falls below a floor.
// It reports whether there are two.
func (f *Fit) intervalSigma(ctx context.Context, floor float64) (limited bool, err error) {
	b := math.Log(f.s())
	fallen := func(b float64) float64 {
		f.l.at(b)
		_, v, _ := f.l.profile()
		return floor - v
	}
	f.Sigma.Lo, f.Sigma.Hi, limited = 0, math.Inf(1), true
	limits := [2]*float64{&f.Sigma.Lo, &f.Sigma.Hi}
	for i, far := range [2]float64{f.lo, f.hi} {
		if fallen(far) <= 0 {
			limited = false
			continue
		}
		end, err := descend(ctx, b, far, f.best-floor, fallen, 1e-9)
		if err != nil {
			return false, err
		}
		*limits[i] = f.l.grid.narrow(math.Exp(end))
	}
	return limited, nil
}

// intervalR sets the limits of r: the smallest and the largest r for which the likelihood of
// some σ is above a floor. For a given σ the likelihood falls on both sides of its best r.
// limited says whether σ has two limits: towards an end without one, r grows without limit.
func (f *Fit) intervalR(ctx context.Context, floor float64, limited bool) error {
	a, b := math.Log(f.R.Value), math.Log(f.s())
	// extreme is ln r at an end: the smallest for the sign −1, the largest for 1.
	extreme := func(sign float64) (float64, error) {
		step := math.Sqrt(f.varianceB)
		if !(step > 1e-3) { // or it is unknown
			step = 1e-3
		}
		_, least, err := minimize(ctx, b, min(step, 0.5), 1e-9, func(b float64) float64 {
			if !(b >= f.lo && b <= f.hi) {
				return math.Inf(1)
			}
			f.l.at(b)
			inside, v, _ := f.l.profile()
			if v < floor {
				// Outside, the value grows with the distance, so that the search comes back.
				return 1e6 + (floor - v)
			}
			far := inside + sign
			for step := 1.0; f.l.value(far) >= floor; step *= 2 {
				far += sign * step
			}
			end, err := descend(ctx, inside, far, v-floor, func(a float64) float64 { return floor - f.l.value(a) }, 1e-10)
			if err != nil {
				return math.Inf(1) // minimize sees the context, too
			}
			return -sign * end
		})
		if err != nil {
			return 0, fmt.Errorf("the interval of r: %w", err)
		}
		return -sign * least, nil
	}
	f.R.Lo, f.R.Hi = 0, math.Inf(1)
	least, err := extreme(-1)
	if err != nil {
		return err
	}
	f.R.Lo = math.Exp(min(least, a))
	if limited {
		largest, err := extreme(1)
		if err != nil {
			return err
		}
		f.R.Hi = math.Exp(max(largest, a))
	}
	return nil
}

// descend returns the zero, within tol, of a function that grows from −height at top to
// a positive value at far; the result is on the side of top. The function is nearly a
// parabola, so the square root of f + height is nearly a line, and descend uses false
// position (Illinois) on this line. Every third step halves the interval, and so does
// every step where the function is infinite. The interval shrinks for any function.
func descend(ctx context.Context, top, far, height float64, f func(float64) float64, tol float64) (float64, error) {
	b := falseposition.Bracket{Below: top, FBelow: -math.Sqrt(height), Above: far, FAbove: math.Sqrt(height+f(far)) - math.Sqrt(height)}
	for i := 0; math.Abs(b.Above-b.Below) > tol; i++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		x := (b.Below + b.Above) / 2
		if at := b.Below - b.FBelow*(b.Above-b.Below)/(b.FAbove-b.FBelow); i%3 != 2 && !math.IsInf(b.FAbove, 1) && (at-b.Below)*(at-b.Above) < 0 {
			x = at
		}
		v := math.Sqrt(max(0, height+f(x))) - math.Sqrt(height)
		b.Narrow(x, v)
		if math.Abs(v) < 1e-9 {
			return x, nil
		}
	}
	return b.Below, nil
}
