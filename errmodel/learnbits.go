package errmodel

import (
	"context"
	"math"

	"belsim/theory/code"
	"belsim/theory/parallel"
)

// certain is the logit of a bit that has no transitions.
const certain = 20

// columns are the columns of a code as networks see them, and, after learning, their logits.
type columns struct {
	c        *code.Code
	ch       *channel
	basis    *basis
	training Training
	constant []bool    // columns without transitions; length M
	scale    []float64 // largest minus smallest value of a column; nil for bits and for bits alone
	low      []float64 // smallest value of a column; nil as scale is
	// values are, for each column, its mean over the posterior of the level, P(bit k = 1 | ŷ);
	// after learning, the logits. M × G.
	values  []float64
	penalty []float64 // of each feature, for a column that is as often one as zero; length K
}

// newColumns averages the columns over the posterior and makes the penalty.
func newColumns(ctx context.Context, workers int, c *code.Code, ch *channel, b *basis, p Perceived) (*columns, error) {
	points, k := len(ch.weight), b.features()
	cs := &columns{c: c, ch: ch, basis: b, training: p.Training,
		constant: make([]bool, c.Bits()), values: make([]float64, c.Bits()*points), penalty: make([]float64, k)}
	if p.Training == ForDecoder && c.Real() {
		cs.scale, cs.low = make([]float64, c.Bits()), make([]float64, c.Bits())
	}
	energies := make([]float64, c.Bits()*k)
	err := parallel.Each(ctx, workers, c.Bits(), func() (func(context.Context, int) error, error) {
		signed := make([]float64, points)
		return func(_ context.Context, bit int) error {
			cs.prepare(bit)
			mean := cs.column(bit)
			ch.mean(mean, func(i int) float64 { return cs.target(i, bit) })
			for g, v := range mean {
				signed[g] = ch.weight[g] * (2*v - 1)
			}
			energy := energies[bit*k : (bit+1)*k]
			b.project(energy, signed)
			for j, v := range energy {
				energy[j] = v * v
			}
			return nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	total := make([]float64, k)
	count := float64(c.Bits())
	for bit := range c.Bits() {
		for j := range total {
			total[j] += energies[bit*k+j]
		}
		if cs.constant[bit] {
			count += deadWeight
		}
	}
	smoothEnergies(total[2:])
	for j, cycles := range b.cycles {
		cs.penalty[j] = math.Pow(cycles/p.Cutoff, penaltyPower) / max(total[j]/count, smallestShare)
	}
	return cs, nil
}

// prepare looks for the transitions and the range of a column.
func (cs *columns) prepare(bit int) {
	first := cs.c.Bit(0, bit)
	cs.constant[bit] = true
	for i := range cs.c.Levels() {
		if cs.c.Bit(i, bit) != first {
			cs.constant[bit] = false
			break
		}
	}
	if cs.scale == nil {
		return
	}
	lo, hi := cs.c.Value(0, bit), cs.c.Value(0, bit)
	for i := range cs.c.Levels() {
		v := cs.c.Value(i, bit)
		lo, hi = min(lo, v), max(hi, v)
	}
	cs.low[bit], cs.scale[bit] = lo, hi-lo
	if hi == lo {
		cs.scale[bit] = 1
	}
}

// target returns what bit k shall say at level i+1: the code's bit, or, where a network learns
// for the decoder of a real code, the code's value on a scale from 0 to 1.
func (cs *columns) target(i, bit int) float64 {
	switch {
	case cs.scale != nil:
		return (cs.c.Value(i, bit) - cs.low[bit]) / cs.scale[bit]
	case cs.c.Bit(i, bit):
		return 1
	}
	return 0
}

// column returns the values of a bit on the grid.
func (cs *columns) column(bit int) []float64 {
	points := len(cs.ch.weight)
	return cs.values[bit*points : (bit+1)*points : (bit+1)*points]
}

// smoothEnergies spreads the energy of each cosine over its neighbours.
func smoothEnergies(e []float64) {
	out := make([]float64, len(e))
	kernel := make([]float64, len(e))
	for j, v := range e {
		sum := 0.0
		for i := range kernel {
			d := float64(i-j) / shareWidth
			kernel[i] = math.Exp(-d * d / 2)
			sum += kernel[i]
		}
		axpy(out, v/sum, kernel)
	}
	copy(e, out)
}

// setConstant sets the logits of a column without transitions.
func (cs *columns) setConstant(bit int) {
	logit := -float64(certain)
	if cs.c.Bit(0, bit) {
		logit = certain
	}
	f := cs.column(bit)
	for g := range f {
		f[g] = logit
	}
}

// learnBits replaces the columns by the logits of networks that were trained bit by bit. Each
// column is learnt by itself.
func (cs *columns) learnBits(ctx context.Context, workers int) error {
	return parallel.Each(ctx, workers, cs.c.Bits(), func() (func(context.Context, int) error, error) {
		l := newColumnLoss(cs.ch, cs.basis)
		return func(_ context.Context, bit int) error {
			if cs.constant[bit] {
				cs.setConstant(bit)
				return nil
			}
			l.learn(cs.column(bit), cs.penalty)
			return nil
		}, nil
	})
}

// columnLoss is the loss of one column as a function of the coefficients b, of length K:
//
//	Σ_g w_g·(ln(1+exp f_g) − p_g·f_g) + ½·Σ_j penalty_j·b_j², f = Σ_j b_j·feature_j,
//
// where p is the column's mean over the posterior. It is strictly convex.
type columnLoss struct {
	ch      *channel
	basis   *basis
	mean    []float64 // p on the grid
	penalty []float64 // length K

	f, d, curvature, scratch []float64 // on the grid
	h, moments, next         []float64
	gradient, coefficients   []float64
}

func newColumnLoss(ch *channel, b *basis) *columnLoss {
	points, k := len(ch.weight), b.features()
	grid := make([]float64, 4*points)
	return &columnLoss{ch: ch, basis: b, penalty: make([]float64, k),
		f: grid[:points], d: grid[points : 2*points], curvature: grid[2*points : 3*points], scratch: grid[3*points:],
		h: make([]float64, k*k), moments: make([]float64, 2*waves+1), next: make([]float64, k),
		gradient: make([]float64, k), coefficients: make([]float64, k)}
}

// value returns the loss, and leaves the function on the grid in f.
func (l *columnLoss) value(b []float64) float64 {
	l.basis.sum(l.f, b)
	loss := 0.0
	for g, f := range l.f {
		if w := l.ch.weight[g]; w > 0 {
			loss += w * (max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) - l.mean[g]*f)
		}
	}
	for j, v := range b {
		loss += l.penalty[j] * v * v / 2
	}
	return loss
}

// derivatives sets gradient and the lower triangle of h to the derivatives at b. f must be as
// value(b) left it. The curvature of far logits is not below 10⁻⁵, so that h is positive definite.
func (l *columnLoss) derivatives(b []float64) {
	for g, f := range l.f {
		q, w := 1/(1+math.Exp(-f)), l.ch.weight[g]
		l.d[g] = w * (q - l.mean[g])
		l.curvature[g] = w * max(q*(1-q), 1e-5)
	}
	l.basis.project(l.gradient, l.d)
	l.basis.gram(l.h, l.curvature, l.moments, l.scratch)
	k := len(b)
	for j, v := range b {
		l.gradient[j] += l.penalty[j] * v
		l.h[j*k+j] += l.penalty[j]
	}
}

// learn replaces a column's mean over the posterior by its logits, of least loss, by Newton's
// method with steps that are halved until the loss falls.
func (l *columnLoss) learn(column, penalty []float64) {
	l.mean = column
	ones := dot(l.ch.weight, column)
	rare := 1 / max(4*ones*(1-ones), rarest)
	for j, v := range penalty {
		l.penalty[j] = v*rare + 1e-7
	}
	b := l.coefficients
	clear(b)
	ones = min(max(ones, 1e-6), 1-1e-6)
	b[0] = math.Log(ones / (1 - ones))
	loss := l.value(b)
	const steps, halvings = 30, 12
	for range steps {
		l.derivatives(b)
		if !solve(l.h, l.gradient) {
			break
		}
		length, less := 1.0, false
		var next float64
		for range halvings {
			copy(l.next, b)
			axpy(l.next, -length, l.gradient)
			if next = l.value(l.next); next < loss {
				less = true
				break
			}
			length /= 2
		}
		if !less { // the loss is at its rounding
			break
		}
		gain := loss - next
		b, l.next = l.next, b
		loss = next
		if gain < 1e-9 {
			break
		}
	}
	l.coefficients = b
	l.basis.sum(column, b)
}
