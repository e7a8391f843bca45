// Package enclose computes intervals that hold the expected cost of gen on hard decisions: for
// any code, of any number of bits, whose bits err independently. Interval arithmetic calls such an
// interval an enclosure.
//
// The decoder compares every word with the output, but few words can be nearest. So the
// expected error of a level is computed in three parts:
//
//   - Words that are hardly ever nearest are left out (candidates.go). What they can change is
//     bounded by the probability that they are nearer than the most likely word.
//   - Where the words that remain form a path, so that no bit changes twice from the first to
//     the last of them, the nearest word is where a random walk has its maximum. Closed
//     recurrences give the law of this place (path.go).
//   - Elsewhere bits are decided one by one (tree.go), until the words that can still be nearest
//     form a path. Outcomes of little probability are bounded by the errors that are still
//     possible.
//
// All sums are of positive numbers. A bound of their rounding widens every interval.
//
// # Memory
//
// An encloser takes at most 256 bytes for each level and bit, and 4 MiB. Each worker has one.
package enclose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Interval holds an expected cost: it lies between Lo and Hi.
type Interval struct{ Lo, Hi float64 }

// Middle returns the middle of the interval.
func (v Interval) Middle() float64 { return v.Lo + (v.Hi-v.Lo)/2 }

// Width returns the relative width (Hi − Lo)/Hi; 0 where Hi is 0.
func (v Interval) Width() float64 {
	if v.Hi == 0 {
		return 0
	}
	return (v.Hi - v.Lo) / v.Hi
}

// widen returns the interval widened by a relative error at both ends.
func (v Interval) widen(relative float64) Interval {
	return Interval{max(0, v.Lo*(1-relative)), v.Hi * (1 + relative)}
}

// unit is the largest relative error of one operation.
const unit = 0x1p-53

// underflow is more than what is lost where probabilities are too small for a float64.
const underflow = 1e-290

// loosen widens an interval by what is lost of probabilities that are too small.
func (v Interval) loosen() Interval { return Interval{max(0, v.Lo-underflow), v.Hi + underflow} }

// Options say how narrow intervals are to be, and how much work they may take.
type Options struct {
	// Width is the relative width of the interval of a level at which the work on it ends.
	Width float64
	// Work limits the work on a level: the number of places of walks and of pairs of words that are
	// looked at, and 32 for each outcome of the bits that are decided.
	Work int
}

// DefaultOptions are the default options: a relative width of 10⁻⁷, and at most some ten
// milliseconds of work on a level.
func DefaultOptions() Options { return Options{Width: 1e-7, Work: 1 << 24} }

// Fits reports whether there are intervals for a code and a decoder: for gen, where the code is
// binary.
func Fits(c *code.Code, d decode.Decoder) bool {
	return decode.Is[decode.Gen](d) && !c.Real()
}

// Encloser computes intervals for a code with gen. It holds scratch memory: use one on one
// goroutine at a time.
type Encloser struct {
	gen     decode.Gen
	options Options
	whole   bool // all words form a path
	costs   []cost.Cost
	scales  []float64 // of the costs: those of the candidates are in their units

	candidates candidates
	path       path
	tree       tree
}

// mostCosts is the largest number of costs of an encloser.
const mostCosts = 3

// intervals are those of each cost.
type intervals [mostCosts]Interval

// New returns an encloser of the means of up to three costs. How narrow the intervals are is decided by
// the first. The error wraps theory.ErrNoClosedForm unless Fits.
func New(c *code.Code, d decode.Decoder, costs []cost.Cost, o Options) (*Encloser, error) {
	if !Fits(c, d) {
		return nil, fmt.Errorf("%w: intervals are for gen with a binary code", theory.ErrNoClosedForm)
	}
	x := &Encloser{gen: d.(decode.Gen), options: o, costs: costs}
	for _, of := range costs {
		x.scales = append(x.scales, of.Scale(c.Levels()))
		x.candidates.costs = append(x.candidates.costs, make([]float64, c.Levels()))
	}
	x.tree.c.costs = x.candidates.costs
	x.candidates.init(c)
	x.tree.path = &x.path
	x.tree.c.init(c)
	x.candidates.all(0, slices.Repeat([]float64{0.5}, c.Bits()))
	x.whole = x.path.set(&x.candidates)
	return x, nil
}

// Path reports whether all words of a code that Fits form a path, so that intervals are as narrow
// as rounding allows and take little work.
func Path(c *code.Code, d decode.Decoder) bool {
	x, err := New(c, d, nil, Options{})
	return err == nil && x.whole
}

// Row returns, for each cost, an interval that holds the mean cost of row i of the code (level i+1), whose bits
// err independently with probabilities e, of length M. The error says that an entry of e is no
// probability, or is the context's.
func (x *Encloser) Row(ctx context.Context, i int, e []float64) ([]Interval, error) {
	if err := matrix.CheckProbabilities(e, i); err != nil {
		return nil, err
	}
	c := &x.candidates
	for k, costs := range c.costs {
		for m := range costs {
			costs[m] = x.costs[k].Of(i+1, float64(m+1)) / x.scales[k]
		}
	}
	v, err := x.row(ctx, c, i, e)
	out := v[:len(x.costs)]
	for k, scale := range x.scales {
		if scale != 1 {
			out[k] = Interval{out[k].Lo * scale, out[k].Hi * scale}.widen(4 * unit)
		}
	}
	return out, err
}

// Answers returns the law of the answer to row i, as theory.Law.Row does, where all words form a path.
// The error wraps theory.ErrNoClosedForm elsewhere, or is as Row's.
func (x *Encloser) Answers(ctx context.Context, i int, e []float64) (a theory.Answers, err error) {
	if err := matrix.CheckProbabilities(e, i); err != nil {
		return a, err
	}
	if !x.whole {
		return a, fmt.Errorf("%w: the words of %s form no path", theory.ErrNoClosedForm, x.candidates.code.Name())
	}
	x.candidates.all(i, e)
	x.path.set(&x.candidates)
	if _, _, err = x.path.mean(ctx, &x.candidates); err != nil {
		return a, err
	}
	for j, m := range x.path.rows {
		a.Labels = append(a.Labels, float64(m+1))
		a.Probabilities = append(a.Probabilities, x.path.before[j]*x.path.after[j])
	}
	return a, nil
}

// row is Row in units of the scales.
func (x *Encloser) row(ctx context.Context, c *candidates, i int, e []float64) (out intervals, err error) {
	if x.whole {
		c.all(i, e)
		x.path.set(c)
		out, _, err = x.path.mean(ctx, c)
		for k := range c.costs {
			if !matrix.Certain(e) { // else nothing is lost
				out[k] = out[k].loosen()
			}
		}
		return out, err
	}
	if err := c.row(ctx, x.gen, i, e); err != nil {
		return out, err
	}
	left := c.choose(math.Inf(1))
	for k, costs := range c.costs {
		v := costs[c.reference]
		out[k] = Interval{max(0, v-left[k].Lo), v + left[k].Hi}
		if v > 0 && len(c.rivals) > 0 { // the sums are rounded, and may be v itself
			out[k] = out[k].widen(4 * unit)
		}
		out[k].Hi = min(out[k].Hi, c.most[k])
	}
	if len(c.rivals) == 0 {
		return out, nil
	}
	return x.narrow(ctx, out)
}

// narrow returns a narrower interval of the row whose rivals are known.
func (x *Encloser) narrow(ctx context.Context, out intervals) (intervals, error) {
	work, first := x.options.Work, &out[0]
	if first.Hi < negligible {
		work /= 16
	}
	// The first turn finds out how large the error is, and the others are as exact as that
	// makes necessary.
	budget := 1e-2 * first.Hi
	before := math.Inf(1) // the budget of the turn before
	for turn := 0; turn < maxTurns && work > 0 && first.Hi-first.Lo > x.options.Width*first.Hi; turn++ {
		limit := work
		if turn == 0 {
			limit = work / 4
		}
		left := x.candidates.choose(budget / 4)
		v, spent, err := x.chosen(ctx, budget*3/4, limit)
		switch {
		case errors.Is(err, errUnaffordable) && 4*budget < before:
			// With fewer words there may be a path again, or a tree that can be paid.
			budget *= 4
			turn--
			continue
		case errors.Is(err, errUnaffordable):
			return out, nil
		case err != nil:
			return out, err
		}
		for k := range x.costs {
			out[k] = out[k].meet(v[k], left[k])
		}
		work, before = work-spent, budget
		next := 0.8 * x.options.Width * first.Lo
		if next == 0 || next > budget/4 {
			next = min(budget/100, 0.8*x.options.Width*first.Hi)
		}
		budget = next
	}
	return out, nil
}

// errUnaffordable says that the tables of a tree take more work than the limit.
var errUnaffordable = errors.New("the tables take too much work")

// chosen returns intervals of the mean costs of the chosen candidates, and their work.
func (x *Encloser) chosen(ctx context.Context, budget float64, limit int) (v intervals, spent int, err error) {
	c := &x.candidates
	if x.path.set(c) {
		return x.path.mean(ctx, c)
	}
	if spent = x.tree.cost(c); spent >= limit {
		return v, 0, errUnaffordable
	}
	return x.tree.mean(ctx, c, budget, limit)
}

// meet returns what an interval has in common with one of chosen candidates, which may be too
// large by left.Lo and too small by left.Hi. Both hold the mean.
func (v Interval) meet(w, left Interval) Interval {
	w = Interval{max(0, w.Lo-left.Lo), w.Hi + left.Hi}.loosen().widen(4 * unit)
	return Interval{max(v.Lo, w.Lo), min(v.Hi, w.Hi)}
}

// maxTurns limits the number of times that a level is worked on.
const maxTurns = 6

// ErrTooWide is wrapped by the errors that say that errors are too frequent for intervals that are
// worth their work.
var ErrTooWide = errors.New("errors are too frequent")

// Rows returns, for each cost, the intervals of all rows of a code whose prior is above zero, for an
// L × M table of error probabilities. workers is the number of goroutines, 0 for all processors; it changes no
// number. The error wraps theory.ErrNoClosedForm unless Fits, or ErrTooWide where the intervals of a
// few rows, which are computed first, are wide. Or it is the context's.
func Rows(ctx context.Context, workers int, c *code.Code, d decode.Decoder, costs []cost.Cost, prior []float64,
	e mat.Matrix, o Options) ([][]Interval, error) {
	var rows []int
	for i, p := range prior {
		if p > 0 {
			rows = append(rows, i)
		}
	}
	if len(prior) != c.Levels() {
		return nil, fmt.Errorf("prior of %d labels for a code of %d levels", len(prior), c.Levels())
	}
	if err := c.CheckTable(e); err != nil {
		return nil, err
	}
	each := func(n int, at func(j int) (row int), put func(j int, v []Interval)) error {
		return parallel.Each(ctx, workers, n, func() (func(context.Context, int) error, error) {
			x, err := New(c, d, costs, o)
			if err != nil {
				return nil, err
			}
			var row []float64
			return func(ctx context.Context, j int) error {
				i := at(j)
				row = matrix.Row(row, i, e)
				v, err := x.Row(ctx, i, row)
				for k := range v {
					v[k] = v[k].widen(5 * unit) // more than Row needs: the numbers are those of all versions
				}
				if err == nil {
					put(j, v)
				}
				return err
			}, nil
		})
	}
	trial := make([]Interval, min(trials, len(rows)))
	var sum Interval
	for _, part := range []struct {
		first, last int
		most        float64
	}{{0, len(trial) / 2, 4 * mostWidth}, {len(trial) / 2, len(trial), mostWidth}} {
		err := each(part.last-part.first, func(j int) int {
			j += part.first
			return rows[(2*j+1)*len(rows)/(2*len(trial))]
		}, func(j int, v []Interval) { trial[part.first+j] = v[0] })
		if err != nil {
			return nil, err
		}
		for _, v := range trial[part.first:part.last] {
			sum.Lo += v.Lo
			sum.Hi += v.Hi
		}
		if sum.Width() > part.most && sum.Hi > negligible*costs[0].Scale(c.Levels()) {
			return nil, fmt.Errorf("%w: an interval for %s with %s would be %.2g of the error wide", ErrTooWide,
				c.Name(), d.Name(), sum.Width())
		}
	}
	out := make([][]Interval, len(costs))
	for k := range out {
		out[k] = make([]Interval, c.Levels())
	}
	return out, each(len(rows), func(j int) int { return rows[j] }, func(j int, v []Interval) {
		for k := range out {
			out[k][rows[j]] = v[k]
		}
	})
}

// Rows computes a number of trials first, and ends where their intervals are together wider than
// mostWidth, relatively; after half of them, where these are four times as wide, for wide intervals
// take the most work.
const (
	trials    = 4
	mostWidth = 1e-2
)

// negligible is an error, in levels or as costly, below which little work is done.
const negligible = 1e-12

// Mean returns an interval that holds Σ prior·mean, for intervals that hold the means.
func Mean(prior []float64, rows []Interval) Interval {
	var v Interval
	for i, p := range prior {
		if p > 0 {
			v.Lo += p * rows[i].Lo
			v.Hi += p * rows[i].Hi
		}
	}
	return v.widen(float64(len(prior)+4) * unit)
}
