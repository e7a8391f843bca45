package fitdecoder

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// The model of the outputs at a level is that of linear discriminant analysis: they are normal,
// with a mean for each level and one covariance for all. The mean is a smooth function of the
// label, by local linear regression with the weights exp(−(n−y)²/2h²) of the bandwidth h. The
// covariance is that of the residuals, and its correlations are shrunk. The logarithm of the
// posterior is then affine in the outputs.
//
// All that a fit needs are sums over samples. Sums of parts of the samples are made once, and added
// for every fit that leaves out some of them.

// bandwidths are the candidates for h, in levels.
var bandwidths = [...]float64{0.5, 1, 2}

const (
	// reach is how many bandwidths away a sample still counts.
	reach = 5
	// shrinkage is the share of the correlations that is taken away.
	shrinkage = 0.1
	// leastVariance is added to the variance of an output within a level, as a share of its
	// variance over all samples. A variance below leastSpread of the largest one counts as that.
	leastVariance = 1e-3
	leastSpread   = 1. / 400
	// unseen is the weight that every level has in the prior besides its samples.
	unseen = 0.5
	// fewest is the weight of samples below which a level has the mean of the next one that has
	// more.
	fewest = 0.1
)

// moments are sums over samples, of outputs x and labels y.
type moments struct {
	circular bool

	n      float64
	square *mat.SymDense // Σ x·xᵀ, M × M
	hat    *mat.Dense    // Σ of x over the samples, split to the two levels beside y: L × M
	own    []float64     // Σ of the squares of these shares, by level
	beside []float64     // Σ of the products of the shares of a level and the next
	lines  []line        // one for each bandwidth
}

// line has the sums of a local line at every level.
type line struct {
	s0, s1, s2 []float64  // Σ w·d^j, of length L
	x0, x1     *mat.Dense // Σ w·d^j·x, L × M
}

func newMoments(levels, m int, circular bool) *moments {
	t := &moments{circular: circular, square: mat.NewSymDense(m, nil), hat: mat.NewDense(levels, m, nil), own: make([]float64, levels),
		beside: make([]float64, levels)}
	for range bandwidths {
		t.lines = append(t.lines, line{make([]float64, levels), make([]float64, levels), make([]float64, levels),
			mat.NewDense(levels, m, nil), mat.NewDense(levels, m, nil)})
	}
	return t
}

// place returns the level below a label, from 0, and the share of the next one, which is level 1 behind
// the last one of a circle.
func place(y float64, levels int, circular bool) (i int, share float64) {
	if circular {
		below := math.Floor(y)
		return int(below) - 1, y - below
	}
	f := min(max(y-1, 0), float64(levels-1))
	i = min(int(f), levels-2)
	return i, f - float64(i)
}

// momentsOfFolds returns the sums of each fold.
func momentsOfFolds(
	ctx context.Context, workers int, s *observed.Samples, c *code.Code, folds [][]int,
) ([]*moments, error) {
	out := make([]*moments, len(folds))
	err := parallel.Each(ctx, workers, len(folds), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, f int) error {
			t := newMoments(c.Levels(), s.Bits, c.Circular())
			for j, i := range folds[f] {
				if j%256 == 0 && ctx.Err() != nil {
					return ctx.Err()
				}
				y := s.Exact[i]
				if c.Uneven() { // bandwidths are in levels
					_, y = c.Nearest(y)
				}
				t.add(s.Row(i), y, c.Levels())
			}
			t.n = float64(len(folds[f]))
			t.square.SymOuterK(1, rowsOf(s, folds[f]).T())
			out[f] = t
			return nil
		}, nil
	})
	return out, err
}

// rowsOf are the outputs of some samples, N × M.
func rowsOf(s *observed.Samples, samples []int) *mat.Dense {
	x := mat.NewDense(len(samples), s.Bits, nil)
	for j, i := range samples {
		x.SetRow(j, s.Row(i))
	}
	return x
}

// add adds a sample to all sums but square.
func (t *moments) add(x []float64, y float64, levels int) {
	i, share := place(y, levels, t.circular)
	next := (i + 1) % levels
	axpy(t.hat.RawRowView(i), 1-share, x)
	axpy(t.hat.RawRowView(next), share, x)
	t.own[i] += (1 - share) * (1 - share)
	t.own[next] += share * share
	t.beside[i] += share * (1 - share)
	for b, h := range bandwidths {
		l := &t.lines[b]
		first, last := int(math.Ceil(y-1-reach*h)), int(math.Floor(y-1+reach*h))
		if !t.circular {
			first, last = max(first, 0), min(last, levels-1)
		}
		for at := first; at <= last; at++ {
			d, n := (float64(at+1)-y)/h, (at%levels+levels)%levels
			w := math.Exp(-0.5 * d * d)
			l.s0[n] += w
			l.s1[n] += w * d
			l.s2[n] += w * d * d
			axpy(l.x0.RawRowView(n), w, x)
			axpy(l.x1.RawRowView(n), w*d, x)
		}
	}
}

// axpy adds a·x to dst. It rounds every product, so that all processors give the same.
func axpy(dst []float64, a float64, x []float64) {
	if a == 0 {
		return
	}
	for k, v := range x {
		dst[k] += float64(a * v)
	}
}

// sum adds the sums of several folds.
func sum(parts []*moments, levels, m int, circular bool) *moments {
	out := newMoments(levels, m, circular)
	for _, p := range parts {
		out.n += p.n
		from := p.sums()
		for i, to := range out.sums() {
			axpy(to, 1, from[i])
		}
	}
	return out
}

// sums are all sums but n.
func (t *moments) sums() [][]float64 {
	out := [][]float64{t.square.RawSymmetric().Data, t.hat.RawMatrix().Data, t.own, t.beside}
	for _, l := range t.lines {
		out = append(out, l.s0, l.s1, l.s2, l.x0.RawMatrix().Data, l.x1.RawMatrix().Data)
	}
	return out
}

// posterior fits the model with one of the bandwidths: the logarithms of the levels' probabilities, up to a
// constant. It is nil where the covariance cannot be inverted.
func (t *moments) posterior(bandwidth int) *decode.Affine {
	levels, m := t.hat.Dims()
	l := &t.lines[bandwidth]
	mean := l.means(t.circular)
	// The covariance of x − μ(y), where μ(y) lies between the means of the two levels beside y.
	cross, again := &mat.Dense{}, mat.NewDense(levels, m, nil)
	cross.Mul(t.hat.T(), mean) // Σ x·μᵀ
	for i := range levels {
		row := again.RawRowView(i)
		axpy(row, t.own[i], mean.RawRowView(i))
		if before := (i + levels - 1) % levels; i > 0 || t.circular {
			axpy(row, t.beside[before], mean.RawRowView(before))
		}
		if i < levels-1 || t.circular {
			axpy(row, t.beside[i], mean.RawRowView((i+1)%levels))
		}
	}
	squares := &mat.Dense{}
	squares.Mul(mean.T(), again) // Σ μ·μᵀ
	covariance, least := mat.NewSymDense(m, nil), t.leastVariances()
	for a := range m {
		for b := a; b < m; b++ {
			v := (t.square.At(a, b) - cross.At(a, b) - cross.At(b, a) + (squares.At(a, b)+squares.At(b, a))/2) / t.n
			if a == b {
				v = max(v, 0) + least[a]
			} else {
				v *= 1 - shrinkage
			}
			covariance.SetSym(a, b, v)
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(covariance) {
		return nil
	}
	solved := &mat.Dense{}
	if err := factor.SolveTo(solved, mean.T()); err != nil {
		return nil
	}
	p := &decode.Affine{Weights: mat.DenseCopyOf(solved.T()), Offsets: make([]float64, levels)}
	total := 0.0
	for _, w := range l.s0 {
		total += w + unseen
	}
	for i := range p.Offsets {
		dot := 0.0
		for k, w := range p.Weights.RawRowView(i) {
			dot += w * mean.At(i, k)
		}
		p.Offsets[i] = math.Log((l.s0[i]+unseen)/total) - dot/2
	}
	return p
}

// leastVariances are what is added to the variance of every output within a level.
func (t *moments) leastVariances() []float64 {
	levels, m := t.hat.Dims()
	out, largest := make([]float64, m), 0.0
	for k := range out {
		sum := 0.0 // of the outputs
		for i := range levels {
			sum += t.hat.At(i, k)
		}
		out[k] = t.square.At(k, k)/t.n - (sum/t.n)*(sum/t.n)
		largest = max(largest, out[k])
	}
	for k, v := range out {
		out[k] = leastVariance * max(v, leastSpread*largest)
	}
	return out
}

// means are the values of the local lines at the levels, L × M. A level far from all samples has
// the mean of the next level that is not.
func (l *line) means(circular bool) *mat.Dense {
	levels, m := l.x0.Dims()
	out := mat.NewDense(levels, m, nil)
	known := func(i int) bool { return l.s0[i] >= fewest }
	for i := range levels {
		if !known(i) {
			continue
		}
		// The line through the weighted samples, its slope slightly damped where it is uncertain.
		s2 := l.s2[i] + 1e-3*l.s0[i] + 1e-6
		det := l.s0[i]*s2 - l.s1[i]*l.s1[i]
		row, x1 := out.RawRowView(i), l.x1.RawRowView(i)
		for k, x0 := range l.x0.RawRowView(i) {
			row[k] = (s2*x0 - l.s1[i]*x1[k]) / det
		}
	}
	for i := range levels {
		for d := 1; !known(i) && d < levels; d++ {
			beside := []int{i - d, i + d}
			if circular {
				beside = []int{(i - d + levels) % levels, (i + d) % levels}
			}
			if at := slices.IndexFunc(beside, func(n int) bool { return n >= 0 && n < levels && known(n) }); at >= 0 {
				copy(out.RawRowView(i), out.RawRowView(beside[at]))
				break
			}
		}
	}
	return out
}
