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
)

// The optimizer of the decoder's loss. A network is not trained until its loss has no slope
// left, and neither is the model: what 100 steps leave is flat, and changes the errors of decoded
// labels by a few percent at most.
const (
	decoderSteps    = 100
	storedSteps     = 12
	decoderGain     = 2.2e-9 // relative
	decoderGradient = 1e-5
)

// learnDecoder learns the columns as a network does that is trained with the cross-entropy of
// softmax(f(ŷ)·Cᵀ).
//
// It takes steps of L-BFGS at most. It begins from the coefficients that the columns have, if these
// are to be kept, and else from zero.
func (cs *columns) learnDecoder(ctx context.Context, workers, steps int, kept bool) error {
	l := newDecoderLoss(cs, workers)
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
	method := &optimize.LBFGS{Store: storedSteps, Linesearcher: &optimize.MoreThuente{DecreaseFactor: 1e-3, CurvatureFactor: 0.9}}
	start := make([]float64, len(l.gradient))
	if kept {
		l.read(start)
	}
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
// coefficients x, K × M, of features divided by the square root of their penalty:
//
//	Σ_g w_g·(ln Σ_n exp S_gn − Σ_n π(n|g)·S_gn) + ½·Σ_jk penalty_j·x_jk², S = f·Cᵀ, f = features·x.
//
// Consecutive code words differ in few bits. So S and its derivatives are sums over the
// transitions of the code.
type decoderLoss struct {
	*columns
	workers  int
	features []float64 // G × K, scaled
	penalty  []float64 // of scaled coefficients; length K
	scales   []float64 // of the features; length K
	target   []float64 // K × M: Σ_g w_g·feature_j(g)·mean_k(g)
	first    []float64 // row of level 1 of the code; length M
	flips    [][]flip  // differences of consecutive rows; length L−1

	x        []float64 // where value and gradient are known; nil before
	value    float64
	gradient []float64 // K × M
	rows     []float64 // G × M: w_g·(mean of the code words over softmax(S_g)), folded as fold does it
	losses   []float64 // of the grid points
}

// flip is a difference of two rows of the code.
type flip struct {
	bit  int
	step float64
}

func newDecoderLoss(cs *columns, workers int) *decoderLoss {
	points, m, k := len(cs.ch.weight), cs.c.Bits(), cs.basis.features()
	l := &decoderLoss{columns: cs, workers: workers,
		features: make([]float64, points*k), penalty: make([]float64, k), scales: make([]float64, k), target: make([]float64, k*m),
		first: make([]float64, m), flips: make([][]flip, cs.c.Levels()-1),
		gradient: make([]float64, k*m), rows: make([]float64, points*m), losses: make([]float64, points)}
	for j := range k {
		values, factor := cs.basis.row(j)
		pen := cs.penalty[j] + 1e-7
		scale := 1 / math.Sqrt(pen+0.05)
		for g, v := range values {
			l.features[g*k+j] = factor * scale * v
		}
		l.penalty[j], l.scales[j] = (pen+1e-6)*scale*scale, scale
	}
	for bit := range m {
		l.first[bit] = cs.target(0, bit)
	}
	for i := range l.flips {
		for bit := range m {
			if d := cs.target(i+1, bit) - cs.target(i, bit); d != 0 {
				l.flips[i] = append(l.flips[i], flip{bit, d})
			}
		}
	}
	for bit := range m {
		mean := cs.column(bit)
		for g, w := range cs.ch.weight {
			for j := range k {
				l.target[j*m+bit] += w * mean[g] * l.features[g*k+j]
			}
		}
	}
	return l
}

// functions sets before and after, of length M, to the logits at grid points g and G−1−g: features are even or odd around
// the middle of the grid.
func (l *decoderLoss) functions(before, after, x []float64, g int) {
	k, m := len(l.penalty), len(before)
	features := l.features[(len(l.losses)-1-g)*k:][:k]
	combine(before, features, 2, x, 2*m)
	combine(after, features[1:], 2, x[m:], 2*m)
	for i, odd := range before {
		before[i], after[i] = after[i]-odd, after[i]+odd
	}
}

// combine sets dst to Σ_j a[j·inc]·x[j·stride : j·stride + len(dst)].
func combine(dst, a []float64, inc int, x []float64, stride int) {
	rows := (len(x) + stride - len(dst)) / stride
	blas64.Gemv(blas.Trans, 1, blas64.General{Rows: rows, Cols: len(dst), Stride: stride, Data: x},
		blas64.Vector{N: rows, Inc: inc, Data: a}, 0, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
}

// at returns the loss at x, and sets gradient. The error is the context's.
func (l *decoderLoss) at(ctx context.Context, x []float64) (float64, error) {
	if slices.Equal(l.x, x) {
		return l.value, nil
	}
	m, k, points := l.c.Bits(), len(l.penalty), len(l.losses)
	const chunk = 4
	middle := (points + 1) / 2
	err := parallel.Chunks(ctx, l.workers, middle, chunk, func() (func(context.Context, int, int) error, error) {
		before, after, q := make([]float64, m), make([]float64, m), make([]float64, l.c.Levels())
		return func(_ context.Context, from, to int) error {
			for g := from; g < to; g++ {
				h := points - 1 - g
				l.functions(before, after, x, g)
				first, last := l.rows[g*m:(g+1)*m], l.rows[h*m:(h+1)*m]
				l.losses[g] = l.ch.weight[g] * l.point(first, q, before, l.ch.weight[g])
				if g == h {
					continue
				}
				l.losses[h] = l.ch.weight[h] * l.point(last, q, after, l.ch.weight[h])
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
				row := l.gradient[j*m : (j+1)*m]
				if j%2 == 0 {
					combine(row, l.features[middle*k+j:], k, l.rows[middle*m:], m)
				} else {
					combine(row, l.features[j:], k, l.rows[:middle*m], m)
				}
				for i := range row {
					row[i] += l.penalty[j]*x[j*m+i] - l.target[j*m+i]
				}
			}
			return nil
		}, nil
	})
	if err != nil {
		return 0, err
	}
	value := 0.0
	for _, v := range l.losses {
		value += v
	}
	value -= floats.Dot(l.target, x)
	for j, pen := range l.penalty {
		row := x[j*m : (j+1)*m]
		value += pen * floats.Dot(row, row) / 2
	}
	l.x, l.value = append(l.x[:0], x...), value
	return value, nil
}

// point returns ln Σ_n exp S_n for the logits f, and sets row, of length M, to the weight times
// the mean of the code words over softmax(S). q, of length L, is overwritten.
func (l *decoderLoss) point(row, q, f []float64, weight float64) float64 {
	s := floats.Dot(l.first, f)
	q[0] = s
	largest := s
	for i, flips := range l.flips {
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
	sum := 0.0
	for i, s := range q {
		e := 0.0
		if s > largest-40 {
			e = math.Exp(s - largest)
		}
		q[i] = e
		sum += e
	}
	scale := weight / sum
	for k, v := range l.first {
		row[k] = v * weight
	}
	above := 0.0 // probability of the levels above
	for i := len(q) - 2; i >= 0; i-- {
		above += q[i+1]
		if above == 0 {
			continue
		}
		a := above * scale
		for _, d := range l.flips[i] {
			row[d.bit] += d.step * a
		}
	}
	return largest + math.Log(sum)
}

// read sets x to the coefficients that the columns have.
func (l *decoderLoss) read(x []float64) {
	m := l.c.Bits()
	for bit := range m {
		b, _ := l.learnt(bit)
		for j, v := range b {
			x[j*m+bit] = v / l.scales[j]
		}
	}
}

// write writes the functions of coefficients x, and their coefficients, into the columns.
func (l *decoderLoss) write(ctx context.Context, x []float64) error {
	m, points := l.c.Bits(), len(l.losses)
	err := parallel.Chunks(ctx, l.workers, (points+1)/2, 4, func() (func(context.Context, int, int) error, error) {
		before, after := make([]float64, m), make([]float64, m)
		return func(_ context.Context, from, to int) error {
			for g := from; g < to; g++ {
				l.functions(before, after, x, g)
				for bit := range m {
					row := l.columns.logits[bit*points : (bit+1)*points]
					row[g], row[points-1-g] = before[bit], after[bit]
				}
			}
			return nil
		}, nil
	})
	if err != nil {
		return err
	}
	for bit, constant := range l.constant {
		b, _ := l.learnt(bit)
		for j, scale := range l.scales {
			b[j] = x[j*m+bit] * scale
		}
		if constant {
			l.setConstant(bit)
		}
	}
	return nil
}
