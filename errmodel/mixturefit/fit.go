// Package mixturefit fits the Gaussian mixture of package errmodel (Eq. 3 and 4 of Shah, Xue and
// Aamodt, ICLR 2022) to counts of wrong outputs: r and σ of largest likelihood, and their intervals.
//
// New fits the counts. A second reading of the samples (Joint) tells how the bits of a sample err
// together, which the intervals need.
package mixturefit

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"belsim/errmodel"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
)

// Fit is the Gaussian mixture of largest likelihood, one weight r and one width σ
// for all the transitions it was fitted to.
type Fit struct {
	R, Sigma float64 // σ in levels
	// Limited says that the likelihood still grows at the largest valid r, where some
	// e[n,k] is 1.
	Limited bool

	code      *code.Code
	counts    *errmodel.Counts
	positions [][]int
	l         *likelihood
	lo, hi    float64 // of b = ln σ: see likelihood
}

// inverse returns the entries of the inverse of the observed information about (ln r, ln σ), and
// whether the estimate has one: it lies at no limit.
func (f *Fit) inverse() (inverse [3]float64, ok bool) {
	b := math.Log(f.Sigma)
	f.l.at(b)
	d := f.l.derivatives(math.Log(f.R))
	if !d.concave() || f.Limited || !(b > f.lo+1e-6 && b < f.hi-1e-6) {
		return inverse, false
	}
	det := d.det()
	return [3]float64{d.ibb / det, -d.iab / det, d.iaa / det}, true
}

// ErrNoFit is wrapped by the errors for counts that do not determine r and σ, or would take long to fit.
var ErrNoFit = errors.New("nothing to fit")

// smallestSigma is the smallest width that a fit tries, in levels. Below it, the Gaussian
// at the second-nearest level is less than 10⁻⁴⁴ of the Gaussian at the nearest one. No
// data tells such widths apart.
const smallestSigma = 0.1

// New fits r and σ by maximum likelihood to the binomial counts of wrong outputs, on so many
// goroutines, 0 for one on each processor. positions are the transitions of the code
// (code.Code.Transitions); bits without any are left out. On a circle the Gaussians are wrapped,
// and σ is at most L levels, where they are even to 10⁻⁸. The error wraps ErrNoFit where no output
// is wrong, or where levels have more than 2²⁰ distances from transitions, or is the context's.
func New(ctx context.Context, workers int, of *code.Code, c *errmodel.Counts, positions [][]int) (*Fit, error) {
	return newFrom(ctx, workers, of, c, positions, smallestSigma)
}

// newFrom is New with the smallest σ.
func newFrom(ctx context.Context, workers int, of *code.Code, c *errmodel.Counts, positions [][]int, smallest float64) (*Fit, error) {
	l := newLikelihood(c, positions, round(of))
	switch {
	case l == nil:
		return nil, fmt.Errorf("%w: the code has too many transitions", ErrNoFit)
	case len(l.n) == 0:
		return nil, fmt.Errorf("%w: no transitions", ErrNoFit)
	case l.total == 0:
		return nil, fmt.Errorf("%w: no output of a bit that changes is wrong", ErrNoFit)
	}
	f := &Fit{code: of, counts: c, positions: positions, l: l, lo: math.Log(smallest),
		hi: math.Log(10 * float64(c.Levels))}
	if of.Circular() {
		f.hi = math.Log(float64(c.Levels))
	}
	return f, f.maximize(ctx, workers)
}

// round is the way round the circle of a code, in halves of a level; 0 for levels on a line.
func round(c *code.Code) int {
	if c.Circular() {
		return 2 * c.Levels()
	}
	return 0
}

// maximize finds the largest likelihood. For each σ the best r is the zero of a
// decreasing function, so only the search for σ remains. A grid finds the highest of
// several maxima, finer grids its top, and Newton's method the last digits.
func (f *Fit) maximize(ctx context.Context, workers int) error {
	const grids, fine = 9, 8
	points := 64
	b, from, step := 0.0, f.lo, (f.hi-f.lo)/float64(points)
	for range grids {
		values := make([]float64, points+1)
		at := func(i int) float64 { return min(max(from+step*float64(i), f.lo), f.hi) }
		if err := parallel.Each(ctx, workers, points+1, func() (func(context.Context, int) error, error) {
			l := f.l.clone()
			return func(_ context.Context, i int) error {
				l.at(at(i))
				_, values[i], _ = l.profile()
				return nil
			}, nil
		}); err != nil {
			return err
		}
		b = at(floats.MaxIdx(values))
		points, from, step = fine, b-step, 2*step/fine
	}
	f.l.at(b)
	a, v, limited := f.l.profile()
	for range 8 {
		if limited || b <= f.lo || b >= f.hi {
			break
		}
		d := f.l.derivatives(a)
		if !d.concave() {
			break
		}
		da, db := (d.ibb*d.ga-d.iab*d.gb)/d.det(), (d.iaa*d.gb-d.iab*d.ga)/d.det()
		f.l.at(b + db)
		// Near the top the value is constant to its last digit, so it may fall by this digit.
		next := f.l.value(a + da)
		if !(next >= v-1e-13*math.Abs(v)) {
			break
		}
		a, b, v = a+da, b+db, max(v, next)
	}
	f.l.at(b)
	// Slightly below the limit: no rounding, here or where r is used, may make a probability
	// above 1.
	a = min(a, -f.l.most-1e-12)
	f.R, f.Sigma, f.Limited = math.Exp(a), math.Exp(b), limited
	return nil
}

// Table returns the error probabilities e[n,k], L × M. The error is the context's.
func (f *Fit) Table(ctx context.Context) (mat.Matrix, error) {
	p, err := errmodel.NewProfile(ctx, f.code, f.positions, f.Sigma)
	if err != nil {
		return nil, err
	}
	return p.Mixture(f.R)
}
