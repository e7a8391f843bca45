package perceived

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/theory/base/matrix"
	"belsim/theory/base/parallel"
	"belsim/theory/code"
)

// observation is what the model of one network is compared with.
type observation struct {
	Code     *code.Code
	Training Training
	// Counts are the wrong outputs by level and bit; nil where they are unknown. They are used
	// where the network was trained bit by bit: the thresholds of other networks mean nothing.
	Counts *errmodel.Counts
	// Dead are the bits, from 0, whose outputs are left out, because they are constant or
	// mostly wrong.
	Dead   []int
	Prior  []float64 // probability of each level, length L
	Errors []observedError

	rates []observedRate // see prepare
}

// observedError is a mean error of a network's outputs. The first one sets s.
type observedError struct {
	Value, Stderr float64
	// Model returns the error of what a network learns, in the same unit. It is called by
	// several goroutines at once.
	Model func(*Network) (float64, error)

	sd float64 // of the logarithm: see prepare
}

// observedRate is the mean rate of wrong outputs of the bits with one number of transitions; 1
// stands for less than four.
type observedRate struct {
	transitions int
	bits        []int
	value, sd   float64
}

// Fit is the perceived-label model that describes a network best.
type Fit struct {
	// Model has the noise s, the cutoff κ, the misfit η and its floor sd₀. Its training is the
	// network's.
	Model Model
	// Noise is s, in levels, with its interval.
	Noise errmodel.Interval
	// Cutoff is κ, in cycles over the range of labels, with its interval. Where the network
	// says nothing about it, it is the default, and the interval is the prior's.
	Cutoff errmodel.Interval
	// LogCutoffSD is the standard deviation of ln κ.
	LogCutoffSD float64
	// CutoffFitted says that κ and sd₀ were estimated, and are not the defaults.
	CutoffFitted bool
	// Tail is the root mean square error of the network over the model's, by its leading decoding;
	// NaN where it is unknown. Above 1, large errors are more frequent than the model says.
	Tail float64
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

// fitObservation estimates the perceived-label model of a network. start gives η.
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
func fitObservation(ctx context.Context, workers int, network observation, start Model) (*Fit, error) {
	f, err := newLeastSquares(network, start)
	if err != nil {
		return nil, err
	}
	x := make([]float64, 1, 3)
	if x[0], err = f.begin(ctx, workers); err != nil {
		return nil, err
	}
	if f.cutoff {
		x = x[:3]
	}
	return f.minimize(ctx, workers, x)
}

// leastSquares is the problem of least squares. Its unknowns are ln s, and ln(κ/κ₀) and
// ln(sd₀/0.2) where they are estimated.
type leastSquares struct {
	start   Model
	network observation
	cutoff  bool // κ and sd₀ are estimated
}

func newLeastSquares(n observation, start Model) (*leastSquares, error) {
	levels := n.Code.Levels()
	start.Noise, start.Training = float64(levels), n.Training
	if err := start.Check(levels); err != nil {
		return nil, err
	}
	if err := n.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Code.Name(), err)
	}
	if len(n.Errors)+len(n.rates) == 0 {
		return nil, fmt.Errorf("%w: %s has no error below a quarter of the levels, and no bits that were trained bit by bit and make an error", ErrNothingObserved, n.Code.Name())
	}
	many := 0
	for _, r := range n.rates {
		if r.transitions >= manyTransitions {
			many++
		}
	}
	return &leastSquares{start, n, many > 1}, nil
}

// prepare normalizes the prior, leaves out hopeless errors, and computes rates and standard
// deviations.
func (n *observation) prepare() (err error) {
	if n.Prior, err = shares(n.Prior, n.Code.Levels()); err != nil {
		return err
	}
	errors := n.Errors
	n.Errors = nil
	for _, e := range errors {
		if e.Value > lostError*float64(n.Code.Levels()) {
			continue
		}
		e.sd = math.Hypot(errorSD, e.Stderr/e.Value)
		if len(n.Errors) == 0 {
			e.sd = math.Hypot(firstErrorSD, e.Stderr/e.Value)
		}
		n.Errors = append(n.Errors, e)
	}
	if n.Counts != nil && n.Training == BCE {
		n.setRates(len(n.Errors) == 0)
	}
	return nil
}

// setRates sets the observed rates of wrong bits, one for each number of transitions of a bit
// from four on, ascending. Where easy is set, the rate of all bits with fewer transitions comes
// first. These bits are taken together: each of them tells the noise at its own transitions only,
// and the noise may differ along the range of labels.
func (n *observation) setRates(easy bool) {
	samples, _ := n.Counts.Total()
	if samples == 0 {
		return
	}
	var rates []observedRate
	for k, at := range n.Code.Transitions() {
		t := len(at)
		if t == 0 || t < manyTransitions && !easy || slices.Contains(n.Dead, k) {
			continue
		}
		if t < manyTransitions {
			t = 1
		}
		i := slices.IndexFunc(rates, func(r observedRate) bool { return r.transitions == t })
		if i < 0 {
			i = len(rates)
			rates = append(rates, observedRate{transitions: t})
		}
		rates[i].bits = append(rates[i].bits, k)
		rates[i].value += float64(n.Counts.Bit(k)) / float64(samples)
	}
	slices.SortFunc(rates, func(a, b observedRate) int { return a.transitions - b.transitions })
	for i := range rates {
		r := &rates[i]
		sum := r.value // the mean number of these bits that are wrong in a sample
		r.value /= float64(len(r.bits))
		if r.value == 0 {
			continue
		}
		// The bits of one sample are wrong for one reason, the noise of its label. So the number of
		// samples counts, and not that of bits.
		if r.transitions >= manyTransitions {
			r.sd = math.Hypot(rateSD, math.Sqrt(r.value*(1-r.value)/float64(samples)))
			continue
		}
		// The number of wrong bits is about the distance |ŷ−n|. Its variance is (π/2−1)·sum², and
		// sum more, because it is a whole number.
		r.sd = r.value * math.Hypot(easyRateSD, math.Sqrt((math.Pi/2-1+1/sum)/float64(samples)))
	}
	// Without an error, a bit says only that the noise is small.
	n.rates = slices.DeleteFunc(rates, func(r observedRate) bool { return r.value == 0 })
}

// begin returns ln s of the noise that gives the first error, or the smallest
// rate of its bits.
func (f *leastSquares) begin(ctx context.Context, workers int) (float64, error) {
	n := &f.network
	p := f.start
	var target float64
	var model func(*Network) (float64, error)
	if len(n.Errors) > 0 {
		target, model = n.Errors[0].Value, n.Errors[0].Model
	} else {
		target = n.rates[0].value
		model = func(l *Network) (float64, error) { return n.meanRate(l, n.rates[0].bits), nil }
	}
	s, err := solveNoise(n.Code.Levels(), target, func(s float64) (float64, error) {
		p.Noise = s
		l, err := p.Learn(ctx, workers, n.Code, n.Prior)
		if err != nil {
			return 0, err
		}
		return model(l)
	})
	if err != nil {
		return 0, fmt.Errorf("%s, training %q, misfit %.4g: %w", n.Code.Name(), p.Training, p.Misfit, err)
	}
	return math.Log(s), nil
}

// meanRate returns the mean over the prior of the error probabilities of bits.
func (n *observation) meanRate(l *Network, bits []int) float64 {
	sum := 0.0
	var row []float64
	for i, p := range n.Prior {
		row = matrix.Row(row, i, l)
		for _, k := range bits {
			sum += p * row[k]
		}
	}
	return sum / float64(len(bits))
}

// model returns the parameters at x.
func (f *leastSquares) model(x []float64) Model {
	p := f.start
	p.Noise = math.Exp(x[0])
	p.Floor, p.Cutoff = DefaultFloor, p.DefaultCutoff(f.network.Code.Levels())
	if f.cutoff {
		p.Cutoff *= math.Exp(x[1])
		p.Floor *= math.Exp(x[2])
	}
	return p
}

// residuals returns those of several x, the prior's first.
func (f *leastSquares) residuals(ctx context.Context, workers int, xs ...[]float64) ([][]float64, error) {
	out := make([][]float64, len(xs))
	return out, parallel.Each(ctx, workers, len(xs), func() (func(context.Context, int) error, error) {
		return func(ctx context.Context, j int) error {
			own, err := f.network.residuals(ctx, f.model(xs[j]))
			if f.cutoff {
				out[j] = append(out[j], xs[j][1]/cutoffSD, xs[j][2]/floorSD)
			}
			out[j] = append(out[j], own...)
			return err
		}, nil
	})
}

// residuals returns those of the network.
func (n *observation) residuals(ctx context.Context, p Model) ([]float64, error) {
	l, err := p.Learn(ctx, 1, n.Code, n.Prior)
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, e := range n.Errors {
		v, err := e.Model(l)
		if err != nil {
			return nil, err
		}
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("mean error of %s at a label noise of %.4g levels is %v", n.Code.Name(), p.Noise, v)
		}
		out = append(out, math.Log(v/e.Value)/e.sd)
	}
	for _, r := range n.rates {
		out = append(out, (n.meanRate(l, r.bits)-r.value)/r.sd)
	}
	return out, nil
}

// minimize finds the least sum of squares from x.
func (f *leastSquares) minimize(ctx context.Context, workers int, x []float64) (*Fit, error) {
	// Steps of the differences, and the longest steps of the fit, by unknown. The differences
	// are wide, because errors may be sampled.
	widths, longest := [3]float64{0.03, 0.12, 0.25}, [3]float64{0.2, 0.5, 0.7}
	const most, gain, hopeless = 12, 0.01, 1e3
	here, err := f.residuals(ctx, workers, x)
	if err != nil {
		return nil, err
	}
	var square float64
	var normal []float64 // K × K
	damping, stale := 1e-2, true
	for range most {
		if stale {
			var xs [][]float64
			for j := range x {
				y := slices.Clone(x)
				y[j] += widths[j]
				xs = append(xs, y)
			}
			moved, err := f.residuals(ctx, workers, xs...)
			if err != nil {
				return nil, err
			}
			square, normal = floats.Dot(here[0], here[0]), normalMatrix(append(here, moved...), widths[:])
			stale = false
		}
		step := gaussNewton(normal, len(x), damping)
		if step == nil {
			return nil, fmt.Errorf("%w: the observed numbers do not depend on the label noise", ErrNothingObserved)
		}
		next := slices.Clone(x)
		for j := range next {
			next[j] += min(max(step[j], -longest[j]), longest[j])
		}
		levels := f.network.Code.Levels()
		next[0] = min(max(next[0], math.Log(smallestNoise(levels))), math.Log(float64(levels)))
		there, err := f.residuals(ctx, workers, next)
		if err != nil {
			return nil, err
		}
		less := square - floats.Dot(there[0], there[0])
		if less > 0 {
			x, here, stale, damping = next, there, true, damping/4
			square -= less
		} else {
			damping = damping*8 + 1e-2
		}
		if less > 0 && less < gain || less <= 0 && less > -gain || damping > hopeless {
			break
		}
	}
	return f.result(x, normal), nil
}

// normalMatrix returns, row by row, JᵀJ and then −Jᵀr, (K+1) × K, from the residuals at x and
// at x moved by the width of each unknown.
func normalMatrix(rs [][]float64, widths []float64) []float64 {
	k := len(rs) - 1
	slope := make([][]float64, k)
	for j := range slope {
		slope[j] = make([]float64, len(rs[0]))
		for i, v := range rs[j+1] {
			slope[j][i] = (v - rs[0][i]) / widths[j]
		}
	}
	out := make([]float64, (k+1)*k)
	for i := range k {
		for j := range k {
			out[i*k+j] = floats.Dot(slope[i], slope[j])
		}
		out[k*k+i] = -floats.Dot(slope[i], rs[0])
	}
	return out
}

// gaussNewton returns the damped step, or nil where an unknown has no effect.
func gaussNewton(normal []float64, k int, damping float64) []float64 {
	h, step := slices.Clone(normal[:k*k]), slices.Clone(normal[k*k:])
	for j := range k {
		h[j*k+j] *= 1 + damping
	}
	if !solve(h, step) {
		return nil
	}
	return step
}

// result computes the intervals.
func (f *leastSquares) result(x, normal []float64) *Fit {
	k := len(x)
	deviation := func(j int) float64 {
		h, unit := slices.Clone(normal[:k*k]), make([]float64, k)
		unit[j] = 1
		if !solve(h, unit) {
			return math.Inf(1)
		}
		return math.Sqrt(unit[j])
	}
	z := math.Sqrt(distuv.ChiSquared{K: 1}.Quantile(errmodel.Confidence))
	around := func(v, sd float64) errmodel.Interval {
		return errmodel.Interval{Value: v, Lo: v * math.Exp(-z*sd), Hi: v * math.Exp(z*sd)}
	}
	p := f.model(x)
	out := &Fit{Model: p, Noise: around(p.Noise, math.Hypot(deviation(0), networkSD)), LogCutoffSD: cutoffSD,
		CutoffFitted: f.cutoff}
	if f.cutoff {
		out.LogCutoffSD = deviation(1)
	}
	out.Cutoff = around(p.Cutoff, out.LogCutoffSD)
	return out
}
