package theory

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"belsim/theory/base/matrix"
	"belsim/theory/base/memory"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/cost"
	"belsim/theory/decode"
)

// Shared is noise that all bits of a code share. The classifiers of label n perceive the level ξ =
// n + δ, with one offset δ for all bits; given ξ, the bits err independently, with the
// probabilities e[ξ,k], against the word of ξ. So the law of the answer is W·P: P[ξ,m] is the law
// of independent bits, and W[n,ξ] the probability of ξ. Beyond an end ξ is the end; on a circle it
// wraps.
type Shared struct {
	Offsets []int     // δ, in levels, each once
	Weights []float64 // of the offsets, above 0; they add up to 1

	mu   sync.Mutex
	seen *Seen // that was asked for last
}

// Part is a row of a table, from 0, and its weight.
type Part struct {
	Row    int
	Weight float64
}

// Seen is the L × L matrix W by its entries above 0.
type Seen struct {
	ByLabel [][]Part // of label n, from 0: the levels ξ
	ByLevel [][]Part // of level ξ, from 0: the labels n

	circular bool
}

// at is the row at which the bits of row i are read.
func (s *Shared) at(i, offset, levels int, circular bool) int {
	if circular {
		return ((i+offset)%levels + levels) % levels
	}
	return min(max(i+offset, 0), levels-1)
}

// Seen returns W for a code, which nobody changes. The error is a *memory.Error.
func (s *Shared) Seen(c *code.Code) (*Seen, error) {
	levels := c.Levels()
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.seen; w != nil && len(w.ByLabel) == levels && w.circular == c.Circular() {
		return w, nil
	}
	if err := memory.Check(fmt.Sprintf("shared noise of %d offsets and %d levels", len(s.Offsets), levels),
		memory.Product(levels, min(levels, len(s.Offsets)), 64)); err != nil {
		return nil, err
	}
	w := &Seen{make([][]Part, levels), make([][]Part, levels), c.Circular()}
	row := make([]float64, levels)
	for i := range levels {
		var rows []int
		for j, offset := range s.Offsets {
			x := s.at(i, offset, levels, c.Circular())
			if row[x] == 0 {
				rows = append(rows, x)
			}
			row[x] += s.Weights[j]
		}
		slices.Sort(rows)
		for _, x := range rows {
			w.ByLabel[i] = append(w.ByLabel[i], Part{x, row[x]})
			w.ByLevel[x] = append(w.ByLevel[x], Part{i, row[x]})
			row[x] = 0
		}
	}
	s.seen = w
	return w, nil
}

// Matrix is W, L × L.
func (w *Seen) Matrix() *mat.Dense {
	out := mat.NewDense(len(w.ByLabel), len(w.ByLabel), nil)
	for i, parts := range w.ByLabel {
		for _, x := range parts {
			out.Set(i, x.Row, x.Weight)
		}
	}
	return out
}

// Marginals returns e′[n,k], L × M: how probable it is that bit k is not that of label n,
//
//	e′[n,k] = Σ_ξ W[n,ξ]·(C[ξ,k] ≠ C[n,k] ? 1 − e[ξ,k] : e[ξ,k]).
//
// The error says that L × M numbers do not fit in memory, or which entry is no probability. O(L·M·offsets).
func (w *Seen) Marginals(c *code.Code, e mat.Matrix) (*mat.Dense, error) {
	levels, width := c.Dims()
	if err := memory.Check("error probabilities with shared noise", memory.Product(levels, width, 8)); err != nil {
		return nil, err
	}
	out := mat.NewDense(levels, width, nil)
	var right, wrong []float64
	for x, labels := range w.ByLevel {
		var err error
		if wrong, err = matrix.Probabilities(wrong, x, e); err != nil {
			return nil, err
		}
		right = append(right[:0], wrong...)
		for k, p := range right {
			right[k] = 1 - p
		}
		for _, n := range labels {
			to := out.RawRowView(n.Row)
			for j, d := range c.Word(n.Row) {
				d ^= c.Word(x)[j]
				for k := 64 * j; k < min(64*j+64, width); k++ {
					from := wrong
					if d>>(k%64)&1 == 1 {
						from = right
					}
					to[k] += n.Weight * from[k]
				}
			}
		}
	}
	out.Apply(func(_, _ int, v float64) float64 { return min(v, 1) }, out)
	return out, nil
}

// Given is the table of the bits of a code for one offset δ: entry [n,k] is the probability that bit k is
// not that of label n, given that its bits are read at n + δ. Bits err independently by it.
type Given struct {
	mat.Matrix // e
	shared     *Shared
	code       *code.Code
	offset     int
}

// Given returns the table for the j-th offset.
func (s *Shared) Given(j int, c *code.Code, e mat.Matrix) Given { return Given{e, s, c, s.Offsets[j]} }

// RowTo sets dst, of length M, to row i.
func (g Given) RowTo(dst []float64, i int) {
	x := g.shared.at(i, g.offset, g.code.Levels(), g.code.Circular())
	copy(dst, matrix.Row(dst, x, g.Matrix))
	for j, d := range g.code.Word(i) {
		for d ^= g.code.Word(x)[j]; d != 0; d &= d - 1 {
			k := 64*j + bits.TrailingZeros64(d)
			dst[k] = 1 - dst[k]
		}
	}
}

// At implements mat.Matrix.
func (g Given) At(i, k int) float64 {
	row := make([]float64, g.code.Bits())
	g.RowTo(row, i)
	return row[k]
}

// T implements mat.Matrix.
func (g Given) T() mat.Matrix { return mat.Transpose{Matrix: g} }

// SharedBounds returns bounds of the mean cost of every level with shared noise, each at most
// Largest, where NewBound or NewSoftBound has a bound without it: Eq. 2 by the marginal
// probabilities, which holds whatever the dependence; Eq. 26 at each ξ plus |ξ − n|, by the
// triangle inequality; the union bound at each ξ with the costs of label n. Both are weighed by W.
// workers is the number of goroutines, 0 for all processors. The error wraps ErrNoClosedForm where
// there is no bound, says that memory does not suffice, or is the context's.
func SharedBounds(ctx context.Context, workers int, w *Seen, c *code.Code, d decode.Decoder, of cost.Cost, logits bool,
	e mat.Matrix) (out []float64, err error) {
	out = make([]float64, c.Levels())
	switch d := d.(type) {
	case decode.BelU:
		if of.Absolute() {
			belUSharedBounds(w, c, e, out)
			break
		}
		marginals, err := w.Marginals(c, e)
		if err != nil {
			return nil, err
		}
		row := newStepsBound(c, of)
		for i := range out {
			out[i] = row(i, marginals.RawRowView(i))
		}
	case decode.BelJ:
		if !of.Absolute() {
			return nil, ErrNoClosedForm
		}
		row, ofTable := newBelJBound(d)
		at := ofTable(e, nil)
		if at == nil {
			var errors []float64
			for x := range out {
				errors = matrix.Row(errors, x, e)
				at = append(at, row(x, errors))
			}
		}
		for i, parts := range w.ByLabel {
			for _, x := range parts {
				out[i] += x.Weight * (at[x.Row] + math.Abs(float64(x.Row-i)))
			}
		}
	case decode.Gen:
		if out, err = unionSharedBounds(ctx, workers, w, c, of, logits, e); err != nil {
			return nil, err
		}
	default:
		return nil, ErrNoClosedForm
	}
	for i := range out {
		out[i] = min(out[i], Largest(c, d, of, i))
	}
	return out, nil
}

// belUSharedBounds are the sums of the marginal probabilities of the unary code. Words n and ξ
// differ in the bits between them, which err with 1 − e: O(L·(M + offsets)).
func belUSharedBounds(w *Seen, c *code.Code, e mat.Matrix, out []float64) {
	var row []float64
	sums := make([]float64, c.Bits()+1) // of the first bits
	for x, labels := range w.ByLevel {
		row = matrix.Row(row, x, e)
		for k, p := range row {
			sums[k+1] = sums[k] + p
		}
		for _, n := range labels {
			lo, hi := min(n.Row, x), max(n.Row, x)
			between := sums[hi] - sums[lo]
			out[n.Row] += n.Weight * (sums[len(row)] - 2*between + float64(hi-lo))
		}
	}
}

// unionSharedBounds are the union bounds at each ξ: all answers but ξ cost what they do where they
// may be preferred to ξ.
func unionSharedBounds(ctx context.Context, workers int, w *Seen, c *code.Code, of cost.Cost, logits bool,
	e mat.Matrix) ([]float64, error) {
	parts := make([][]float64, c.Levels()) // by ξ and label
	err := parallel.Each(ctx, workers, c.Levels(), func() (func(context.Context, int) error, error) {
		var row []float64
		each := newUnion(c)
		if logits {
			each = newSoftUnion(c)
		}
		return func(ctx context.Context, x int) error {
			row = matrix.Row(row, x, e)
			labels := w.ByLevel[x]
			sums := make([]float64, len(labels))
			for j, n := range labels {
				sums[j] = of.Of(n.Row+1, float64(x+1))
			}
			parts[x] = sums
			if len(labels) == 0 {
				return nil
			}
			return each(ctx, x, row, func(m int) (most float64) {
				for _, n := range labels {
					most = max(most, of.Of(n.Row+1, float64(m+1)))
				}
				return most
			}, func(m int, _, tail float64) float64 {
				for j, n := range labels {
					sums[j] += of.Of(n.Row+1, float64(m+1)) * tail
				}
				return slices.Min(sums)
			})
		}, nil
	})
	out := make([]float64, c.Levels())
	for x, sums := range parts {
		for j, sum := range sums {
			out[w.ByLevel[x][j].Row] += w.ByLevel[x][j].Weight * sum
		}
	}
	return out, err
}
