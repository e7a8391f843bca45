package perceived

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Fit is the perceived-label model that describes a network best. Its training is the network's.
type Fit struct {
	Model
	// interval of label_noise
	NoiseInterval [2]float64 `json:"label_noise_interval"`
	// interval of cutoff: the prior's where the network says nothing about it
	CutoffInterval [2]float64 `json:"cutoff_interval"`
	// cutoff and misfit_floor were fitted; else they are the model's defaults
	CutoffFitted bool `json:"cutoff_fitted"`
	// root mean square error over the model's; above 1, forecasts have wider intervals; null if
	// unknown
	Tail float64 `json:"tail"`
}

// The standard deviations of a fit, chosen with the model's constants.
const (
	cutoffSD     = 0.35 // of ln κ among networks
	floorSD      = 0.7  // of ln sd₀ among networks
	firstErrorSD = 0.02 // of the logarithm of an error: the first
	errorSD      = 0.05 // … and any other
	rateSD       = 0.03 // of a bit's rate of wrong outputs
	easyRateSD   = 0.07 // of the logarithm of the rate of bits with few transitions
	networkSD    = 0.03 // of ln s among networks of other codes on the same data
	// Bits of less transitions tell s only, which the errors tell better: the noise of real
	// labels has heavy tails, and these change rates and errors differently.
	manyTransitions = 4
	// Errors above this share of the levels say only that the decoder reads nothing.
	lostError = 0.25
)

// ErrNothingObserved is wrapped by the errors for networks without a number to fit.
var ErrNothingObserved = errors.New("nothing to fit the perceived-label model to")

// NewFit fits the model to a network: s, and where the network shows it κ and the floor of the
// residuals. nodes are of the network's labels. misfit is η.
//
// It minimizes the sum of squares of
//
//   - (ln model − ln observed)/sd for each mean error, sd² = 0.05² + (stderr/observed)², with
//     0.02 for the first error; errors above L/4 are left out;
//   - (model − observed)/sd for the mean rate q of wrong outputs of the bits of a network with
//     the same number of transitions, from four on, sd² = 0.03² + q(1−q)/N; and where the
//     network has no errors to fit, for the rate of all bits with fewer transitions, with
//     0.07·q in the place of 0.03;
//   - ln(κ/κ₀)/0.35 and ln(sd₀/0.2)/0.7, the prior, where κ and sd₀ are estimated: where bits
//     have two numbers of transitions from four on.
//
// by the Gauss-Newton method with damping (Levenberg and Marquardt). κ₀ is DefaultCutoff of
// the fitted s. The intervals are those of the linearized model, of 95 %. The interval of s is for
// networks of other codes on the same data: 0.03 is added to the standard deviation of ln s.
//
// The errors wrap ErrNothingObserved or ErrNoNoise, are about the network, of its model, or
// the context's. The number of workers (0: all processors) does not change the result.
func NewFit(ctx context.Context, workers int, n *Observed, nodes *Nodes, misfit float64) (*Fit, error) {
	nodes = nodes.inOrder() // the order of the columns moved s by up to 2 %
	errors, err := n.errorTargets(ctx, nodes)
	if err != nil {
		return nil, err
	}
	fit, err := n.fit(ctx, workers, nodes.prior, errors, Model{Misfit: misfit, Within: nodes.within})
	if err != nil {
		return nil, err
	}
	l, err := fit.Model.Learn(ctx, workers, n.Code, nodes.prior)
	if err != nil {
		return nil, err
	}
	fit.Tail, err = n.tail(ctx, workers, l, nodes)
	return fit, err
}

// target is an observed number that the model shall give.
type target struct {
	value, sd float64
	// model is that of what a network learns. It is called by several goroutines at once.
	model func(*Network) (float64, error)
	// transitions is 0 of a mean error, whose residual is of logarithms, with the sd of one. Else
	// value is the mean rate of wrong outputs of the bits with so many transitions; 1 stands for
	// less than four.
	transitions int
}

// residual is that of what a network learns.
func (t *target) residual(l *Network) (float64, error) {
	v, err := t.model(l)
	if err != nil || t.transitions > 0 {
		return (v - t.value) / t.sd, err
	}
	if !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("mean error of %s at a label noise of %.4g levels is %v", l.c.Name(), l.p.Noise, v)
	}
	return math.Log(v/t.value) / t.sd, nil
}

// leastSquares is the problem of least squares. Its unknowns are ln s, and ln(κ/κ₀) and
// ln(sd₀/0.2) where they are estimated.
type leastSquares struct {
	start   Model
	code    *code.Code
	prior   []float64
	targets []target
	cutoff  bool // κ and sd₀ are estimated
}

// fit estimates the model of a network, whose mean errors are targets without an sd: so far it is
// the standard error. start gives η and w.
func (n *Observed) fit(ctx context.Context, workers int, prior []float64, errors []target, start Model) (*Fit, error) {
	levels := n.Code.Levels()
	start.Noise, start.Training = float64(levels), n.Training
	if err := start.Check(levels); err != nil {
		return nil, err
	}
	prior, err := shares(prior)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Code.Name(), err)
	}
	f := &leastSquares{start: start, code: n.Code, prior: prior, targets: n.targets(errors, prior)}
	if len(f.targets) == 0 {
		return nil, fmt.Errorf("%w: %s has no error below a quarter of the levels, and no bits that were trained "+
			"bit by bit and make an error", ErrNothingObserved, n.Code.Name())
	}
	many := 0
	for _, t := range f.targets {
		if t.transitions >= manyTransitions {
			many++
		}
	}
	f.cutoff = many > 1
	x := make([]float64, 1, 3)
	if x[0], err = f.begin(ctx, workers); err != nil {
		return nil, err
	}
	if f.cutoff {
		x = x[:3]
	}
	return f.minimize(ctx, workers, x)
}

// targets are what is fitted: the errors that are not hopeless, with their sd, and the rates of
// wrong bits of a network that was trained bit by bit: the thresholds of others mean nothing.
func (n *Observed) targets(errors []target, prior []float64) (out []target) {
	for _, e := range errors {
		if e.value > lostError*float64(n.Code.Levels()) {
			continue
		}
		own := errorSD
		if len(out) == 0 {
			own = firstErrorSD
		}
		e.sd = math.Hypot(own, e.sd/e.value)
		out = append(out, e)
	}
	if n.Counts != nil && n.Training == BCE {
		out = append(out, n.rateTargets(prior, len(out) == 0)...)
	}
	return out
}

// rateTargets are the observed rates of wrong bits, one for each number of transitions of a bit
// from four on, ascending. Where easy is set, the rate of all bits with fewer transitions comes
// first. These bits are taken together: each of them tells the noise at its own transitions only,
// and the noise may differ along the range of labels. Bits that are set aside are left out.
func (n *Observed) rateTargets(prior []float64, easy bool) (out []target) {
	count := n.Counts.All()
	samples := float64(count)
	bits := map[int][]int{} // by their number of transitions
	for k, at := range n.Code.Transitions() {
		t := len(at)
		if t == 0 || t < manyTransitions && !easy || math.IsNaN(n.Rates[k]) {
			continue
		}
		if t < manyTransitions {
			t = 1
		}
		bits[t] = append(bits[t], k)
	}
	for _, t := range slices.Sorted(maps.Keys(bits)) {
		sum := 0.0 // the mean number of these bits that are wrong in a sample
		for _, k := range bits[t] {
			sum += float64(n.Counts.Bit(k)) / samples
		}
		if !(sum > 0) { // without an error, a bit says only that the noise is small
			continue
		}
		value := sum / float64(len(bits[t]))
		// The bits of one sample are wrong for one reason, the noise of its label. So the number of
		// samples counts, and not that of bits.
		sd := math.Hypot(rateSD, math.Sqrt(value*(1-value)/samples))
		if t < manyTransitions {
			// The number of wrong bits is about the distance |ŷ−n|. Its variance is (π/2−1)·sum²,
			// and sum more, because it is a whole number.
			sd = value * math.Hypot(easyRateSD, math.Sqrt((math.Pi/2-1+1/sum)/samples))
		}
		out = append(out, target{value: value, sd: sd, transitions: t,
			model: func(l *Network) (float64, error) {
				sum, e := 0.0, l.Table()
				for i, p := range prior {
					for _, k := range bits[t] {
						sum += p * e.At(i, k)
					}
				}
				return sum / float64(len(bits[t])), nil
			}})
	}
	return out
}

// beginTolerance is the accuracy of ln s where the search begins: half of firstErrorSD.
const beginTolerance = firstErrorSD / 2

// begin returns ln s of the noise that gives about the first target.
func (f *leastSquares) begin(ctx context.Context, workers int) (float64, error) {
	p, first := f.start, f.targets[0]
	s, err := solveNoise(f.code.Levels(), first.value, beginTolerance, func(s float64) (float64, error) {
		p.Noise = s
		l, err := p.Learn(ctx, workers, f.code, f.prior)
		if err != nil {
			return 0, err
		}
		return first.model(l)
	})
	if err != nil {
		return 0, fmt.Errorf("%s, training %q, misfit %.4g: %w", f.code.Name(), p.Training, p.Misfit, err)
	}
	return math.Log(s), nil
}

// model returns the parameters at x.
func (f *leastSquares) model(x []float64) Model {
	p := f.start
	p.Noise = decode.Exp(x[0])
	p.Floor, p.Cutoff = DefaultFloor, p.DefaultCutoff(f.code.Levels())
	if f.cutoff {
		p.Cutoff *= decode.Exp(x[1])
		p.Floor *= decode.Exp(x[2])
	}
	return p
}

// residuals returns those of several x, the prior's first.
func (f *leastSquares) residuals(ctx context.Context, workers int, xs ...[]float64) ([][]float64, error) {
	out := make([][]float64, len(xs))
	return out, parallel.Each(ctx, workers, len(xs), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, j int) error {
			if f.cutoff {
				out[j] = append(out[j], xs[j][1]/cutoffSD, xs[j][2]/floorSD)
			}
			l, err := f.model(xs[j]).Learn(ctx, 1, f.code, f.prior)
			if err != nil {
				return err
			}
			for i := range f.targets {
				r, err := f.targets[i].residual(l)
				if err != nil {
					return err
				}
				out[j] = append(out[j], r)
			}
			return nil
		}, nil
	})
}

// minimize finds the least sum of squares from x.
//
// Nearer to it than near, in standard deviations of the unknowns, steps are those of Gauss and Newton, with new
// derivatives, and are not tested: errors that are counts of nodes jump, and a test beside a jump fails by chance.
// A step leaves about a tenth of the distance (the median for networks of testdata/forecast). So one that is shorter
// than enough is the last one, and leaves a thousandth of a standard deviation. Where last digits decide whether
// there is another step, they move an unknown by no more. A step that is not half as long as the last one is a jump,
// which no search gets below. Differences are central: with residuals of several standard deviations, one-sided ones
// have their zero 0.15 standard deviations beside the least sum.
func (f *leastSquares) minimize(ctx context.Context, workers int, x []float64) (*Fit, error) {
	// Steps of the differences, and the longest steps of the fit, by unknown. The differences
	// are wide, because errors may be sampled.
	widths, longest := [3]float64{0.03, 0.12, 0.25}, [3]float64{0.2, 0.5, 0.7}
	const most, near, enough, hopeless = 12, 0.2, 0.01, 1e3
	lo, hi := logNoise(f.code.Levels())
	moved := func(step []float64) []float64 {
		next := slices.Clone(x)
		for j := range next {
			next[j] += min(max(step[j], -longest[j]), longest[j])
		}
		next[0] = min(max(next[0], lo), hi)
		return next
	}
	var square float64
	var equations *normal
	damping, stale, last := 1e-2, true, math.Inf(1)
	for range most {
		if stale {
			xs := [][]float64{x}
			for j := range x {
				for _, width := range []float64{widths[j], -widths[j]} {
					y := slices.Clone(x)
					y[j] += width
					xs = append(xs, y)
				}
			}
			rs, err := f.residuals(ctx, workers, xs...)
			if err != nil {
				return nil, err
			}
			square, equations, stale = floats.Dot(rs[0], rs[0]), newNormal(rs, widths[:]), false
		}
		step := equations.solve(equations.right, 0)
		if step == nil {
			return nil, fmt.Errorf("%w: the observed numbers do not depend on the label noise", ErrNothingObserved)
		}
		if length := math.Sqrt(floats.Dot(step, equations.right)); length < near {
			if length > last/2 {
				break
			}
			x, stale, last = moved(step), true, length
			if length < enough {
				break
			}
			continue
		}
		next := moved(equations.solve(equations.right, damping))
		if slices.Equal(next, x) { // at the smallest or the largest noise
			break
		}
		there, err := f.residuals(ctx, workers, next)
		if err != nil {
			return nil, err
		}
		if floats.Dot(there[0], there[0]) < square {
			x, stale, damping = next, true, damping/4
		} else if damping = damping*8 + 1e-2; damping > hopeless {
			break
		}
	}
	for j := range x {
		x[j] = rounded(x[j])
	}
	x[0] = min(max(x[0], lo), hi)
	return f.result(x, equations), nil
}

// normal are the normal equations of a step: JᵀJ, K × K and row by row, and −Jᵀr.
type normal struct{ matrix, right []float64 }

// newNormal makes them of the residuals at x, and at x moved up and down by the width of each unknown.
func newNormal(rs [][]float64, widths []float64) *normal {
	k := len(rs) / 2
	slope := make([][]float64, k)
	for j := range slope {
		slope[j] = make([]float64, len(rs[0]))
		for i, v := range rs[2*j+1] {
			slope[j][i] = (v - rs[2*j+2][i]) / (2 * widths[j])
		}
	}
	n := &normal{}
	for i := range k {
		for j := range k {
			n.matrix = append(n.matrix, floats.Dot(slope[i], slope[j]))
		}
		n.right = append(n.right, -floats.Dot(slope[i], rs[0]))
	}
	return n
}

// solve solves them for a right side, with a damped diagonal; nil where an unknown has no effect.
func (n *normal) solve(right []float64, damping float64) []float64 {
	h, x := slices.Clone(n.matrix), slices.Clone(right)
	for j := range x {
		h[j*len(x)+j] *= 1 + damping
	}
	if !solve(h, x) {
		return nil
	}
	return x
}

// result computes the intervals.
func (f *leastSquares) result(x []float64, equations *normal) *Fit {
	deviation := func(j int) float64 {
		unit := make([]float64, len(x))
		unit[j] = 1
		column := equations.solve(unit, 0) // of the inverse
		if column == nil {
			return math.Inf(1)
		}
		return math.Sqrt(column[j])
	}
	z := math.Sqrt(distuv.ChiSquared{K: 1}.Quantile(errmodel.Confidence))
	around := func(v, sd float64) [2]float64 { return [2]float64{v * math.Exp(-z*sd), v * math.Exp(z*sd)} }
	p, logCutoffSD := f.model(x), cutoffSD
	if f.cutoff {
		logCutoffSD = deviation(1)
	}
	return &Fit{Model: p, NoiseInterval: around(p.Noise, math.Hypot(deviation(0), networkSD)),
		CutoffInterval: around(p.Cutoff, logCutoffSD), CutoffFitted: f.cutoff}
}
