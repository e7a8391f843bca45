package perceived

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// certain is the logit of a bit that has no transitions.
const certain = 20

// columns are the columns of a code as networks see them, and, after learning, their logits.
type columns struct {
	c        *code.Code
	ch       *channel
	basis    *basis
	training Training
	error    meanError // of L1 and L2
	constant []bool    // columns without transitions; length M
	// values are, for each column, its mean over the posterior of the level, P(bit k = 1 | ŷ).
	// M × G.
	values []float64
	// energies are, for each column, those of its features. M × K.
	energies []float64
	penalty  []float64 // of each feature, for a column that is as often one as zero; length K
	// coefficients and logits are what was learnt of each column: M × K, M × G.
	coefficients, logits []float64
}

// newColumns averages the columns over the posterior and makes the penalty.
func newColumns(ctx context.Context, workers int, c *code.Code, ch *channel, b *basis, p Model) (*columns, error) {
	m, points, k := c.Bits(), len(ch.weight), b.features()
	cs := &columns{c: c, ch: ch, basis: b, training: p.Training, error: p.meanError(), constant: make([]bool, m),
		values: make([]float64, m*points), energies: make([]float64, m*k), penalty: make([]float64, k),
		coefficients: make([]float64, m*k), logits: make([]float64, m*points)}
	for bit, at := range c.Transitions() {
		cs.constant[bit] = len(at) == 0
	}
	err := parallel.Each(ctx, workers, m, func() (func(context.Context, int) error, error) {
		signed := make([]float64, points)
		return func(_ context.Context, bit int) error {
			cs.see(bit, signed)
			return nil
		}, nil
	})
	if err != nil {
		return nil, err
	}
	cs.setPenalty(p.Cutoff)
	return cs, nil
}

// see averages a column over the posterior, and computes the energies of its features. signed, of
// length G, is overwritten.
func (cs *columns) see(bit int, signed []float64) {
	mean := cs.column(bit)
	cs.ch.mean(mean, func(i int) float64 { return cs.c.Value(i, bit) })
	for g, v := range mean {
		signed[g] = cs.ch.weight[g] * (2*v - 1)
	}
	k := cs.basis.features()
	energy := cs.energies[bit*k : (bit+1)*k]
	cs.basis.project(energy, signed)
	for j, v := range energy {
		energy[j] = v * v
	}
}

// setPenalty makes the penalty of the energies of all columns.
func (cs *columns) setPenalty(cutoff float64) {
	k := len(cs.penalty)
	total := make([]float64, k)
	count := float64(cs.c.Bits())
	for bit := range cs.c.Bits() {
		for j := range total {
			total[j] += cs.energies[bit*k+j]
		}
		if cs.constant[bit] {
			count += deadWeight
		}
	}
	smoothEnergies(total[2:])
	for j, cycles := range cs.basis.cycles {
		cs.penalty[j] = math.Pow(cycles/cutoff, penaltyPower) *
			decode.Exp(-sharePower*math.Log(max(total[j]/count, smallestShare)))
	}
}

// column returns the mean of a bit over the posterior, on the grid.
func (cs *columns) column(bit int) []float64 {
	points := len(cs.ch.weight)
	return cs.values[bit*points : (bit+1)*points : (bit+1)*points]
}

// learnt returns the coefficients and the logits of a bit.
func (cs *columns) learnt(bit int) (coefficients, logits []float64) {
	k, points := cs.basis.features(), len(cs.ch.weight)
	return cs.coefficients[bit*k : (bit+1)*k : (bit+1)*k], cs.logits[bit*points : (bit+1)*points : (bit+1)*points]
}

// smoothEnergies spreads the energy of each cosine over its neighbours.
func smoothEnergies(e []float64) {
	out := make([]float64, len(e))
	kernel := make([]float64, len(e))
	for j, v := range e {
		sum := 0.0
		for i := range kernel {
			d := float64(i-j) / shareWidth
			kernel[i] = decode.Exp(-d * d / 2)
			sum += kernel[i]
		}
		floats.AddScaled(out, v/sum, kernel)
	}
	copy(e, out)
}

// setConstant sets the logits of a column without transitions.
func (cs *columns) setConstant(bit int) {
	_, f := cs.learnt(bit)
	for g := range f {
		f[g] = certain * (2*cs.c.Value(0, bit) - 1)
	}
}

// learn learns the columns, from the coefficients that they have, if these are to be kept. Bit by
// bit, each column is learnt by itself; for the decoder all are, in so many steps of the optimizer
// at most. L1 and L2 begin from what CE learns, because their losses have many minima.
func (cs *columns) learn(ctx context.Context, workers, steps int, kept bool) error {
	through := cs.training.ThroughGenEx()
	if cs.training != BCE && !(through && kept) {
		if err := cs.learnDecoder(ctx, workers, steps, kept, nil); err != nil || !through {
			return err
		}
	}
	if through {
		return cs.learnDecoder(ctx, workers, min(steps, meanSteps), true, &cs.error)
	}
	return parallel.Each(ctx, workers, cs.c.Bits(), func() (func(context.Context, int) error, error) {
		l := newColumnLoss(cs.ch, cs.basis)
		return func(_ context.Context, bit int) error {
			l.learnColumn(cs, bit, kept)
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
			loss += w * (decode.Softplus(f) - l.mean[g]*f)
		}
	}
	for j, v := range b {
		loss += l.penalty[j] * v * v / 2
	}
	return loss
}

// derivatives sets gradient and the upper triangle of h to the derivatives at b. f must be as
// value(b) left it. The curvature of far logits is not below 10⁻⁹, so that h is positive definite.
func (l *columnLoss) derivatives(b []float64) {
	for g, f := range l.f {
		q, w := decode.Sigmoid(f), l.ch.weight[g]
		l.d[g] = w * (q - l.mean[g])
		l.curvature[g] = w * max(q*(1-q), 1e-9)
	}
	l.system()
	for j, v := range b {
		l.gradient[j] += l.penalty[j] * v
	}
}

// system sets gradient to the features' products with d, and the upper triangle of h to their
// products with each other, weighted with curvature, and the penalty. It folds d and curvature.
func (l *columnLoss) system() {
	l.basis.project(l.gradient, l.d)
	l.basis.gram(l.h, l.curvature, l.moments, l.scratch)
	for j, v := range l.penalty {
		l.h[j*len(l.penalty)+j] += v
	}
}

// nearest sets b to the function that is nearest to the logit of p, in squares that count as they
// do in the loss, and the penalty. From there Newton's method takes 2 to 5 steps, and from a
// constant 3 to 16: the more, the fewer transitions a column has.
func (l *columnLoss) nearest(b []float64) {
	const certain = 1e-8
	for g, p := range l.mean {
		p = min(max(p, certain), 1-certain)
		l.curvature[g] = l.ch.weight[g] * p * (1 - p)
		l.d[g] = l.curvature[g] * math.Log(p/(1-p))
	}
	l.system()
	solve(l.h, l.gradient)
	copy(b, l.gradient)
}

// learnColumn learns a column by Newton's method with steps that are halved until the loss falls.
// It begins from the coefficients that the column has, if these are to be kept, and else from what
// is nearest to its logit.
func (l *columnLoss) learnColumn(cs *columns, bit int, kept bool) {
	if cs.constant[bit] {
		cs.setConstant(bit)
		return
	}
	coefficients, logits := cs.learnt(bit)
	l.mean = cs.column(bit)
	ones := floats.Dot(l.ch.weight, l.mean)
	rare := 1 / max(4*ones*(1-ones), rarest)
	for j, v := range cs.penalty {
		l.penalty[j] = v*rare + 1e-7
	}
	b := l.coefficients
	if kept {
		copy(b, coefficients)
	} else {
		l.nearest(b)
	}
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
			floats.AddScaled(l.next, -length, l.gradient)
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
	copy(coefficients, b)
	l.basis.sum(logits, b)
}
