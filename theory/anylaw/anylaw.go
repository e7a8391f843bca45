// Package anylaw computes the smallest and the largest mean cost over all joint laws of the bits
// that have given error probabilities: what holds for every network, however its bits depend on
// each other. theory/README.md has the proofs.
package anylaw

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"belsim/theory"
	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Level is what holds for one level: Lo ≤ mean cost ≤ Hi under any law. Roundings are in both.
type Level struct {
	Lo, Hi float64
	// LoSD and HiSD are at least the standard deviations, under any law, of the dual's plane at the
	// bits that err. At other error probabilities the plane bounds the mean as well, so that rates
	// that were observed in N samples are wrong by LoSD/√N at Lo.
	LoSD, HiSD float64
}

// Fits reports whether there are such bounds.
func Fits(c *code.Code, d decode.Decoder) bool { return fits(c, d) == nil }

// fits returns an error that wraps theory.ErrNoClosedForm where there are no such bounds.
func fits(c *code.Code, d decode.Decoder) error {
	switch d.(type) {
	case decode.BelU, decode.BelJ:
		return nil
	case decode.Gen:
		if !c.Real() && (c.Bits() <= mostTable || reaches(c)) {
			return nil
		}
	}
	return fmt.Errorf("%w: no bounds under any law for %s with decoder %s", theory.ErrNoClosedForm, c.Name(), d.Name())
}

// Time is about how long the bounds of all levels take on one processor. Four or five more bits that can err
// double it, two or three on a circle.
func Time(c *code.Code, d decode.Decoder, cost cost.Cost, e mat.Matrix) time.Duration {
	levels, bits := float64(c.Levels()), float64(c.Bits())
	// Four rows stand for all. At the ends of unary on a circle all bits err.
	rows := func(seconds, doubling float64) (sum float64) {
		for quarter := range 4 {
			kept, _ := keep(matrix.Row(nil, c.Levels()*quarter/4, e), negligible/levels)
			sum += levels / 4 * seconds * math.Exp2((float64(len(kept))-22)/doubling)
		}
		return sum
	}
	var seconds float64
	switch {
	case counts(c, d, cost):
		seconds = levels * bits * 4e-6
	case !decode.Is[decode.Gen](d):
		seconds = rows(0.006*math.Pow(bits/32, 3), 4)
	case bits <= mostTable:
		seconds = levels * 0.003
	default:
		doubling := 4.7
		if c.Circular() {
			doubling = 2.5 // as was measured, of unary with 32 and 40 levels
		}
		seconds = rows(levels*1e-4, doubling)
	}
	return time.Duration(min(seconds, 1e9) * float64(time.Second))
}

// counts reports whether bel-u has a closed form: the cost is absolute, or convex at every level of few.
func counts(c *code.Code, d decode.Decoder, cost cost.Cost) bool {
	ok := decode.Is[decode.BelU](d)
	if cost.Absolute() {
		return ok
	}
	const most = 1 << 24 // costs that are looked at, in a fraction of a second
	ok = ok && c.Levels()*c.Bits() <= most
	r := &row{code: c, decoder: d, sign: 1}
	for r.i = 0; ok && r.i < c.Levels(); r.i++ {
		r.price(cost, 1)
		for m := 2; m < len(r.values); m++ {
			ok = ok && r.values[m]-r.values[m-1] >= r.values[m-1]-r.values[m-2]
		}
	}
	return ok
}

// negligible is how much, in levels, leaving out bits that nearly never err may change a bound.
const negligible = 1e-7

// Levels returns the bounds of all levels whose prior is above zero. e is the table of error
// probabilities, L × M. workers is the number of goroutines, 0 for all processors; it changes no
// number.
func Levels(ctx context.Context, workers int, c *code.Code, d decode.Decoder, cost cost.Cost, prior []float64,
	e mat.Matrix) ([]Level, error) {
	err := fits(c, d)
	if err == nil {
		err = c.CheckTable(e)
	}
	out := make([]Level, c.Levels())
	if err == nil {
		q := row{code: c, decoder: d, counts: counts(c, d, cost)}
		if gen, ok := d.(decode.Gen); ok && c.Bits() <= mostTable {
			q.rows = gen.Rows()
		}
		scale := cost.Scale(c.Levels())
		err = parallel.Each(ctx, workers, len(out), func() (func(context.Context, int) error, error) {
			var row []float64
			return func(ctx context.Context, i int) (err error) {
				if prior[i] <= 0 {
					return nil
				}
				if row, err = matrix.Probabilities(row, i, e); err == nil {
					r := q
					r.i = i
					r.price(cost, scale)
					l, err := r.level(ctx, row)
					out[i] = Level{l.Lo * scale, l.Hi * scale, l.LoSD * scale, l.HiSD * scale}
					return err
				}
				return err
			}, nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("bounds of %s with %s under any law: %w", c.Name(), d.Name(), err)
	}
	return out, nil
}

// Mean is Σ prior·bound.
func Mean(prior []float64, levels []Level) (lo, hi float64) {
	for i, p := range prior {
		lo, hi = math.FMA(p, levels[i].Lo, lo), math.FMA(p, levels[i].Hi, hi)
	}
	return lo, hi
}

// level is the level with costs as the row's values have them.
func (r *row) level(ctx context.Context, e []float64) (Level, error) {
	r.sign = 1
	if r.counts {
		return r.counted(e).ordered(), nil
	}
	far := slices.Max(r.values)
	kept, left := keep(e, negligible/max(far, 1))
	r.kept = kept
	for _, k := range kept {
		r.e = append(r.e, e[k])
	}
	var out Level
	for _, sign := range []float64{-1, 1} {
		r.sign = sign
		bound, sd, err := extreme(ctx, r)
		if err != nil {
			return out, err
		}
		if bound += far * left; sign > 0 {
			out.Hi, out.HiSD = min(bound, far), sd
		} else {
			out.Lo, out.LoSD = max(-bound, 0), sd
		}
	}
	return out.ordered(), nil
}

// ordered is the level with the lower bound at most the upper one, as they are but for rounding.
func (l Level) ordered() Level {
	l.Lo = min(l.Lo, l.Hi)
	return l
}

// keep returns the bits that err, without those of the smallest probabilities, whose sum left is at
// most most.
func keep(e []float64, most float64) (kept []int, left float64) {
	order := descending(e)
	n := len(order)
	for n > 0 && left+e[order[n-1]] <= most {
		n--
		left += e[order[n]]
	}
	in := make([]bool, len(e))
	for _, k := range order[:n] {
		in[k] = true
	}
	for k, ok := range in {
		if ok {
			kept = append(kept, k)
		}
	}
	return kept, left * (1 + 1e-12)
}

// counted is the level of bel-u under a convex cost: the error is the number of false ones minus the
// number of false zeros.
func (r *row) counted(e []float64) Level {
	var a, b float64
	// Zeros of the word err where u < e, and ones where u > 1−e, for u from 0 to 1. These are the ends
	// of false ones and the beginnings of false zeros, each as its distance from the nearer of 0 and
	// 1: 1−e is 1 for small e, but 1−e ≤ ½ is exact.
	var ends [2][]float64
	for k, p := range e {
		side := 0
		if r.code.Bit(r.i, k) {
			side, b = 1, b+p
		} else {
			a += p
		}
		if p > 0.5 {
			side, p = 1-side, 1-p
		}
		ends[side] = append(ends[side], p)
	}
	steepest := 0.0 // step of the cost
	for m, v := range r.values[1:] {
		steepest = max(steepest, math.Abs(v-r.values[m]))
	}
	// The largest mean: from either side to the middle, the answer changes by a level at each end.
	hi := 0.0
	for side, answer := range []int{r.code.Bits() + 1, 1} {
		from := 0.0
		slices.Sort(ends[side])
		for _, to := range append(ends[side], 0.5) {
			hi += (to - from) * r.cost(answer)
			from, answer = to, answer+2*side-1
		}
	}
	// The smallest mean is that of the two whole numbers beside a−b.
	whole, part := math.Modf(a - b)
	lo := r.cost(r.i + 1 + int(whole))
	if part != 0 {
		lo += math.Abs(part) * (r.cost(r.i+1+int(whole+math.Copysign(1, part))) - lo)
	}
	slack := float64(len(e)+4) * 0x1p-51 * (a + b) * steepest
	sd := steepest * deviation(slices.Repeat([]float64{1}, len(e)), e) // a bit changes the number of ones by one
	return Level{max(0, lo-slack), hi + slack, sd, sd}
}
