package perceived

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"belsim/theory/base/parallel"
	"belsim/theory/decode"
)

// The optimizer of the decoder's loss. Most codes take 5 to 50 steps. Hadamard, and onehot with
// little noise, take all 100 and are not at the minimum then, because their loss couples many
// columns at each level; errors are within 4 % of those at the minimum (README.md).
const (
	decoderSteps    = 100
	storedSteps     = 12
	decoderGain     = 2.2e-9 // relative
	decoderGradient = 1e-5
	// meanSteps is the number of steps of L1 and L2, from what CE learns. They leave up to 1.2 % of an
	// error (README.md).
	meanSteps = 30
)

// learnDecoder learns the columns as a network does that is trained with the cross-entropy of
// softmax(f(ŷ)·Cᵀ), or with an error of its mean, which is nil for the cross-entropy.
//
// It takes steps of L-BFGS at most. It begins from the coefficients that the columns have, if these
// are to be kept, and else from those that are nearest to the columns' logits.
func (cs *columns) learnDecoder(ctx context.Context, workers, steps int, kept bool, mean *meanError) error {
	l, err := newDecoderLoss(ctx, cs, workers, mean)
	if err != nil {
		return err
	}
	if kept {
		l.read()
	}
	start, err := l.start(ctx)
	if err != nil {
		return err
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 {
			v, _ := l.at(ctx, x)
			return v
		},
		Grad: func(dst, x []float64) {
			l.at(ctx, x)
			copy(dst, l.gradient)
		},
		Status: func() (optimize.Status, error) {
			if err := ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		GradientThreshold: decoderGradient,
		Converger:         &optimize.FunctionConverge{Relative: decoderGain, Iterations: 1},
		MajorIterations:   steps,
	}
	method := &optimize.LBFGS{Store: storedSteps, Linesearcher: &optimize.MoreThuente{DecreaseFactor: 1e-3,
		CurvatureFactor: 0.9}}
	result, err := optimize.Minimize(problem, start, settings, method)
	if e := ctx.Err(); e != nil {
		return e
	}
	if result == nil {
		return fmt.Errorf("learning %s for the decoder: %w", cs.c.Name(), err)
	}
	// A line search that finds no lower value ends the optimizer with an error. The best
	// point is the result nevertheless.
	return l.write(ctx, result.X)
}

// decoderLoss is the loss of a network that is trained for the decoder, as a function of the
// coefficients b, K × M:
//
//	Σ_g w_g·(ln Σ_n exp S_gn − Σ_n π(n|g)·S_gn) + ½·Σ_jk penalty_j·b_jk², S = f·Cᵀ, f = features·b.
//
// or, through gen-ex, Σ_g Σ_n w_g·π(n|g)·error(μ_g − n) in its first sum, with the mean μ of
// softmax(S).
//
// Consecutive code words differ in few bits. So S and its derivatives are sums over the
// transitions of the code.
//
// The optimizer sees x, M × K, the coefficients of each bit times a root R of what would be their
// second derivatives if the bit were learnt alone and perfectly: x = R·b, RᵀR = Σ_g
// w_g·p·(1−p)·features·featuresᵀ + penalty. A bit is uncertain near its transitions only, where all
// cosines look alike, so that the loss is nearly flat in many combinations of coefficients. In x it
// is about equally steep in all, and L-BFGS takes a tenth of the steps.
type decoderLoss struct {
	*columns
	words
	error    *meanError // nil for the cross-entropy
	workers  int
	features []float64 // G × K
	penalty  []float64 // length K
	roots    []float64 // M × K × K, upper triangles
	target   []float64 // K × M: Σ_g w_g·feature_j(g)·mean_k(g); 0 through gen-ex

	x        []float64 // where value and gradient are known; nil before
	value    float64
	gradient []float64 // by x, M × K
	b, slope []float64 // the coefficients, and the gradient by them; K × M
	rows     []float64 // G × M: the derivatives of the losses by the logits, without target, folded: see at
	losses   []float64 // of the grid points
}

// words are the code words, by the differences of consecutive ones.
type words struct {
	first []float64 // row of level 1 of the code; length M
	flips [][]flip  // length L−1
}

// flip is a difference of two rows of the code.
type flip struct {
	bit  int
	step float64
}

// newDecoderLoss prepares the loss, with the coefficients that are nearest to the columns' logits.
// mean is nil for the cross-entropy. The error is the context's.
func newDecoderLoss(ctx context.Context, cs *columns, workers int, mean *meanError) (*decoderLoss, error) {
	points, m, k := len(cs.ch.weight), cs.c.Bits(), cs.basis.features()
	l := &decoderLoss{columns: cs, words: cs.words(), error: mean, workers: workers,
		features: make([]float64, points*k), penalty: make([]float64, k), roots: make([]float64,
			m*k*k), target: make([]float64, k*m),
		gradient: make([]float64, m*k), b: make([]float64, k*m), slope: make([]float64, k*m), rows: make([]float64,
			points*m), losses: make([]float64, points)}
	for j := range k {
		values, factor := cs.basis.row(j)
		for g, v := range values {
			l.features[g*k+j] = factor * v
		}
		l.penalty[j] = cs.penalty[j] + 1.1e-6
	}
	return l, parallel.Each(ctx, workers, m, func() (func(context.Context, int) error, error) {
		column := newColumnLoss(cs.ch, cs.basis)
		column.penalty = l.penalty
		weighted := make([]float64, points)
		return func(_ context.Context, bit int) error {
			column.mean, column.h = cs.column(bit), l.roots[bit*k*k:][:k*k]
			column.nearest(column.next) // leaves the root in h
			floats.MulTo(weighted, cs.ch.weight, column.mean)
			cs.basis.project(column.gradient, weighted)
			for j, v := range column.next {
				if l.b[j*m+bit] = v; mean == nil {
					l.target[j*m+bit] = column.gradient[j]
				}
			}
			return nil
		}, nil
	})
}

// words are those of the code.
func (cs *columns) words() words {
	w := words{make([]float64, cs.c.Bits()), make([][]flip, cs.c.Levels()-1)}
	for bit := range w.first {
		w.first[bit] = cs.c.Value(0, bit)
		for i := range w.flips {
			if d := cs.c.Value(i+1, bit) - cs.c.Value(i, bit); d != 0 {
				w.flips[i] = append(w.flips[i], flip{bit, d})
			}
		}
	}
	return w
}

// root is the R of a bit.
func (l *decoderLoss) root(bit int) blas64.Triangular {
	k := len(l.penalty)
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: k, Stride: k, Data: l.roots[bit*k*k:][:k*k]}
}

// of is the part of v, M × K, that belongs to a bit.
func (l *decoderLoss) of(v []float64, bit int) blas64.Vector {
	k := len(l.penalty)
	return blas64.Vector{N: k, Inc: 1, Data: v[bit*k:][:k]}
}

// gather copies the bit's column of v, K × M, to dst.
func (l *decoderLoss) gather(dst blas64.Vector, v []float64, bit int) {
	blas64.Copy(blas64.Vector{N: dst.N, Inc: l.c.Bits(), Data: v[bit:]}, dst)
}

// eachBit calls do for each bit. The error is the context's.
func (l *decoderLoss) eachBit(ctx context.Context, do func(bit int)) error {
	return parallel.Chunks(ctx, l.workers, l.c.Bits(), 8, func() (func(context.Context, int, int) error, error) {
		return func(_ context.Context, from, to int) error {
			for bit := from; bit < to; bit++ {
				do(bit)
			}
			return nil
		}, nil
	})
}

// start returns x = R·b.
func (l *decoderLoss) start(ctx context.Context) ([]float64, error) {
	start := make([]float64, len(l.gradient))
	return start, l.eachBit(ctx, func(bit int) {
		x := l.of(start, bit)
		l.gather(x, l.b, bit)
		blas64.Trmv(blas.NoTrans, l.root(bit), x)
	})
}

// setCoefficients sets b to R⁻¹·x. It overwrites gradient, so that nothing is known of another x.
func (l *decoderLoss) setCoefficients(ctx context.Context, x []float64) error {
	l.x = l.x[:0]
	return l.eachBit(ctx, func(bit int) {
		b := l.of(l.gradient, bit)
		blas64.Copy(l.of(x, bit), b)
		blas64.Trsv(blas.NoTrans, l.root(bit), b)
		blas64.Copy(b, blas64.Vector{N: b.N, Inc: l.c.Bits(), Data: l.b[bit:]})
	})
}

// functions sets before and after, of length M, to the logits at grid points g and G−1−g: features
// are even or odd around the middle of the grid.
func (l *decoderLoss) functions(before, after []float64, g int) {
	k, m := len(l.penalty), len(before)
	features := l.features[(len(l.losses)-1-g)*k:][:k]
	combine(before, features, 2, l.b, 2*m)
	combine(after, features[1:], 2, l.b[m:], 2*m)
	for i, odd := range before {
		before[i], after[i] = after[i]-odd, after[i]+odd
	}
}

// combine sets dst to Σ_j a[j·inc]·v[j·stride : j·stride + len(dst)].
func combine(dst, a []float64, inc int, v []float64, stride int) {
	rows := (len(v) + stride - len(dst)) / stride
	blas64.Gemv(blas.Trans, 1, blas64.General{Rows: rows, Cols: len(dst), Stride: stride, Data: v},
		blas64.Vector{N: rows, Inc: inc, Data: a}, 0, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// at returns the loss at x, and sets gradient. The error is the context's.
func (l *decoderLoss) at(ctx context.Context, x []float64) (float64, error) {
	if slices.Equal(l.x, x) {
		return l.value, nil
	}
	if err := l.setCoefficients(ctx, x); err != nil {
		return 0, err
	}
	m, k, points := l.c.Bits(), len(l.penalty), len(l.losses)
	const chunk = 4
	middle := (points + 1) / 2
	err := parallel.Chunks(ctx, l.workers, middle, chunk, func() (func(context.Context, int, int) error, error) {
		before, after, q := make([]float64, m), make([]float64, m), make([]float64, l.c.Levels())
		return func(_ context.Context, from, to int) error {
			for g := from; g < to; g++ {
				h := points - 1 - g
				l.functions(before, after, g)
				first, last := l.rows[g*m:(g+1)*m], l.rows[h*m:(h+1)*m]
				l.losses[g] = l.point(first, q, before, g)
				if g == h {
					continue
				}
				l.losses[h] = l.point(last, q, after, h)
				for i, v := range first {
					first[i], last[i] = v+last[i], last[i]-v
				}
			}
			return nil
		}, nil
	})
	if err != nil {
		return 0, err
	}
	err = parallel.Chunks(ctx, l.workers, k, chunk, func() (func(context.Context, int, int) error, error) {
		return func(_ context.Context, from, to int) error {
			for j := from; j < to; j++ {
				row := l.slope[j*m : (j+1)*m]
				if j%2 == 0 {
					combine(row, l.features[middle*k+j:], k, l.rows[middle*m:], m)
				} else {
					combine(row, l.features[j:], k, l.rows[:middle*m], m)
				}
				for i := range row {
					row[i] += l.penalty[j]*l.b[j*m+i] - l.target[j*m+i]
				}
			}
			return nil
		}, nil
	})
	if err != nil {
		return 0, err
	}
	err = l.eachBit(ctx, func(bit int) {
		slope := l.of(l.gradient, bit)
		l.gather(slope, l.slope, bit)
		blas64.Trsv(blas.Trans, l.root(bit), slope)
	})
	if err != nil {
		return 0, err
	}
	value := 0.0
	for _, v := range l.losses {
		value += v
	}
	value -= floats.Dot(l.target, l.b)
	for j, pen := range l.penalty {
		row := l.b[j*m : (j+1)*m]
		value += pen * floats.Dot(row, row) / 2
	}
	l.x, l.value = append(l.x[:0], x...), value
	return value, nil
}

// point returns the loss of grid point g for the logits f, without target, and sets row, of length
// M, to its derivatives by them. q, of length L, is overwritten.
func (l *decoderLoss) point(row, q, f []float64, g int) float64 {
	weight := l.ch.weight[g]
	if l.error == nil {
		largest, sum := l.softmax(q, f)
		l.sum(row, q, weight, weight/sum)
		return weight * (largest + math.Log(sum))
	}
	mean := l.mean(row, q, f)
	value, slope := l.error.expected(l.ch, g, mean)
	floats.Scale(slope, row)
	return value
}

// mean returns the mean of the level under softmax(C·f), and sets by, of length M, to its
// derivatives by f. q, of length L, is overwritten.
func (w words) mean(by, q, f []float64) (mean float64) {
	_, sum := w.softmax(q, f)
	for i, e := range q {
		mean += e / sum * float64(i+1)
	}
	for i := range q {
		q[i] *= float64(i+1) - mean
	}
	w.sum(by, q, 0, 1/sum)
	return mean
}

// softmax sets q, of length L, to exp(S − largest) of the scores S = C·f, and returns their largest
// and the sum of q.
func (w words) softmax(q, f []float64) (largest, sum float64) {
	s := floats.Dot(w.first, f)
	q[0] = s
	largest = s
	for i, flips := range w.flips {
		var s1, s2, s3 float64 // four sums, which need not wait for each other
		for len(flips) >= 4 {
			s += flips[0].step * f[flips[0].bit]
			s1 += flips[1].step * f[flips[1].bit]
			s2 += flips[2].step * f[flips[2].bit]
			s3 += flips[3].step * f[flips[3].bit]
			flips = flips[4:]
		}
		for _, d := range flips {
			s += d.step * f[d.bit]
		}
		s += s1 + (s2 + s3)
		q[i+1] = s
		if s > largest {
			largest = s
		}
	}
	for i, s := range q {
		e := 0.0
		if s > largest-40 {
			e = decode.Exp(s - largest)
		}
		q[i] = e
		sum += e
	}
	return largest, sum
}

// sum sets row, of length M, to scale·Σ_n q_n·(code word n), where scale·Σ_n q_n is total.
func (w words) sum(row, q []float64, total, scale float64) {
	for k, v := range w.first {
		row[k] = v * total
	}
	above := 0.0 // of the levels above
	for i := len(q) - 2; i >= 0; i-- {
		above += q[i+1]
		if above == 0 {
			continue
		}
		a := above * scale
		for _, d := range w.flips[i] {
			row[d.bit] += d.step * a
		}
	}
}

// meanError is an error of the mean μ that is a loss, in the unit in which its expectation has
// about the curvature 1/s² at the best mean, as the cross-entropy has in the score of a Gaussian.
type meanError struct {
	squared bool
	scale   float64
}

// meanError is that of the training.
func (p Model) meanError() meanError {
	s := p.aroundLevel()
	if p.Training == L2 {
		return meanError{squared: true, scale: 1 / (s * s)}
	}
	return meanError{scale: math.Sqrt(math.Pi/2) / s}
}

// expected is the expected loss of a mean at grid point g, times its weight, and the derivative by
// the mean.
func (e *meanError) expected(ch *channel, g int, mean float64) (value, slope float64) {
	for i, b := range ch.joint {
		if j := g - b.from; j >= 0 && j < len(b.values) {
			d := mean - float64(i+1)
			v, by := math.Abs(d), math.Copysign(1, d)
			switch {
			case e.squared:
				v, by = d*d/2, d
			case v < 0.5: // labels are uniform within their level, so that the loss is smooth
				v, by = d*d+0.25, 2*d
			}
			value += b.values[j] * v
			slope += b.values[j] * by
		}
	}
	return e.scale * value, e.scale * slope
}

// read sets b to the coefficients that the columns have.
func (l *decoderLoss) read() {
	m := l.c.Bits()
	for bit := range m {
		b, _ := l.learnt(bit)
		for j, v := range b {
			l.b[j*m+bit] = v
		}
	}
}

// write writes the coefficients at x, and their functions, into the columns.
func (l *decoderLoss) write(ctx context.Context, x []float64) error {
	if err := l.setCoefficients(ctx, x); err != nil {
		return err
	}
	return l.eachBit(ctx, func(bit int) {
		b, f := l.learnt(bit)
		for j := range b {
			b[j] = l.b[j*l.c.Bits()+bit]
		}
		if l.basis.sum(f, b); l.constant[bit] {
			l.setConstant(bit)
		}
	})
}
