package forecast

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/montecarlo/scenario"
	"belsim/theory/code"
)

// Measured is the error of a trained network.
type Measured struct {
	Code     *code.Code
	Training perceived.Training
	Decoding observed.Decoding
	Error    observed.Error // in levels, against the level of the target
	Yours    bool           // the network is the one that ratios are to

	network int // the same for all errors of a network
}

// measured lists the errors of networks that the model describes: of the first network first, the smallest
// first.
func measured(networks []*perceived.Observed) (out []Measured) {
	for k, n := range networks {
		from := len(out)
		for i, e := range n.Errors {
			if n.Described(i) && e.Mean > 0 {
				out = append(out, Measured{n.Code, n.Training, n.Decodings[i], e, k == 0, k})
			}
		}
		slices.SortStableFunc(out[from:], func(a, b Measured) int { return cmp.Compare(a.Error.Mean, b.Error.Mean) })
	}
	return out
}

// of reports whether a forecast is for the measured code, training and decoding.
func (m Measured) of(x Forecast) bool {
	return m.Code.Name() == x.Code.Name() && m.Training == x.Training && m.Decoding.Soft == x.Decoding.Soft && m.Decoding.Decoder.Name() == x.Decoding.Decoder.Name()
}

// sampled is what the samples of the network add to the standard deviation of the logarithm of its error, beside another network's error on the same
// samples. The standard error of direct regression is that of paired samples already.
func (m Measured) sampled() float64 {
	relative := m.Error.StdErr / m.Error.Mean
	if m.network < 0 {
		return relative
	}
	return unshared * relative
}

// posterior is what measured errors tell of the factors that forecasts share: their mean, and the
// triangle C of their covariance C·Cᵀ. All factors have the mean 0 and the variance 1 before.
type posterior struct {
	mean     [factors]float64
	triangle mat.TriDense
}

// condition learns from the smallest error of each measured network. raw has the forecasts of all of them.
func (f *Forecaster) condition(raw []Forecast, share float64) *posterior {
	precision := mat.NewSymDense(factors, nil)
	for i := range factors {
		precision.SetSym(i, i, 1)
	}
	sum := mat.NewVecDense(factors, nil)
	seen := map[int]bool{}
	for _, m := range f.Measured {
		at := slices.IndexFunc(raw, m.of)
		if at < 0 || m.Decoding.Decoder.Name() == FittedDecoder || seen[m.network] {
			continue
		}
		seen[m.network] = true
		x := &raw[at]
		own, shared := f.spread(x, share)
		own = math.Hypot(own, m.sampled())
		load := mat.NewVecDense(factors, shared[:])
		precision.SymRankOne(precision, 1/(own*own), load)
		sum.AddScaledVec(sum, (math.Log(m.Error.Mean/x.model)-f.mean(x, share))/(own*own), load)
	}
	var c mat.Cholesky
	c.Factorize(precision) // it is at least the identity
	out := &posterior{}
	var mean mat.VecDense
	var inverse mat.SymDense
	if c.SolveVecTo(&mean, sum) != nil || c.InverseTo(&inverse) != nil {
		return out
	}
	copy(out.mean[:], mean.RawVector().Data)
	c.Factorize(&inverse)
	c.LTo(&out.triangle)
	return out
}

// of returns the mean of a sum of factors, and what remains unknown of each.
func (p *posterior) of(shared [factors]float64) (mean float64, left [factors]float64) {
	for i, v := range shared {
		mean += v * p.mean[i]
		for j := range i + 1 {
			left[j] += v * p.triangle.At(i, j)
		}
	}
	return mean, left
}

// spread returns the standard deviations of a forecast: its own, and those that it shares.
func (f *Forecaster) spread(x *Forecast, share float64) (own float64, shared [factors]float64) {
	noise := f.Noise.LogSD
	if len(f.Measured) > 0 && f.Measured[0].Code.Name() == Direct { // s is that of its error
		_, sd := f.head(&Forecast{Code: f.Measured[0].Code, Training: f.Measured[0].Training})
		noise = math.Hypot(noise, sd)
	}
	own, shared = f.Spread.own(x, share), f.Spread.shared(x, noise, f.Cutoff.LogSD, share, f.Overconfidence())
	_, sd := f.head(x)
	own = math.Hypot(own, sd)
	for i := range shared {
		shared[i] *= x.part
	}
	return own * x.part, shared
}

// Relate computes the errors and the intervals of forecasts that Codes has returned, after a change of Spread. Errors
// that were measured take the place of their forecasts. Everything else is learned from them, too: what
// all networks share cancels in the ratio to them.
func (f *Forecaster) Relate(all []Forecast) { f.relate(all, all) }

// relate is Relate. raw has forecasts of the measured networks.
func (f *Forecaster) relate(all, raw []Forecast) {
	share, samples := f.share(), 0.0
	if len(f.Measured) > 0 { // the other network is tested with the samples of yours
		samples = f.Measured[0].sampled()
	}
	known := f.condition(raw, share)
	for i := range all {
		x := &all[i]
		own, shared := f.spread(x, share)
		own = math.Hypot(own, samples)
		shift, left := known.of(shared)
		x.Error, x.own, x.shared = x.model*math.Exp(shift+f.mean(x, share)), own, left
		if e, others := f.measured(*x); e.Mean > 0 {
			x.Measured, x.Error, x.shared = true, e.Mean, [factors]float64{}
			if x.own = e.StdErr / e.Mean; others {
				x.own = math.Hypot(unshared*x.own, f.Spread.network(share))
			}
		}
		sd := math.Sqrt(square(x.own) + squares(x.shared))
		below, over := math.Exp(-scenario.Confidence*sd), math.Exp(scenario.Confidence*above*sd)
		x.Lo, x.Hi = x.Error*below, x.Error*over
		x.Ratio, x.RatioLo, x.RatioHi, x.Better = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		if len(f.Measured) == 0 {
			continue
		}
		yours := f.Measured[0].Error.Mean
		x.Ratio, x.RatioLo, x.RatioHi = x.Error/yours, x.Lo/yours, x.Hi/yours
		x.Better = x.chance(1)
	}
}

// measured is the mean of the measured errors of what is forecast, with a mean of 0 where there is none; others says
// that they are of other networks than the one that ratios are to.
func (f *Forecaster) measured(x Forecast) (e observed.Error, others bool) {
	count := 0.0
	for _, m := range f.Measured {
		if m.of(x) {
			e.Mean += m.Error.Mean
			e.StdErr = math.Hypot(e.StdErr, m.Error.StdErr)
			others = others || !m.Yours
			count++
		}
	}
	if count > 0 {
		e.Mean /= count
		e.StdErr /= count
	}
	return e, others
}

func square(x float64) float64 { return x * x }

func squares(x [factors]float64) (sum float64) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// Probe is a network whose training would tell more about others.
type Probe struct {
	Code     *code.Code
	Training perceived.Training
	// Narrows is the part of the interval of the ratio of two errors, on a logarithmic scale, that it takes off.
	Narrows float64
}

// narrows is the least that a probe is worth.
const narrows = 0.1

// Probe returns the network, trained bit by bit with one of some codes, that narrows the interval of the ratio of two forecasts
// most. It is nil where none takes a tenth off. a and b are of Codes; the errors are those of Codes.
func (f *Forecaster) Probe(ctx context.Context, workers int, probes []*code.Code, a, b Forecast) (*Probe, error) {
	plain := *f
	plain.Fitted, plain.trainings = false, []perceived.Training{perceived.BCE} // of which hard decisions are looked at
	all, err := plain.Codes(ctx, workers, probes, nil)
	if err != nil {
		return nil, err
	}
	own := square(a.own) + square(b.own)
	var best *Probe
	for _, x := range all {
		if x.Measured || x.Decoding.Soft || x.Decoding.Decoder.Name() != "gen" || x.Training == a.Training && x.Code.Name() == a.Code.Name() {
			continue
		}
		// The covariance of ln(a/b) and of the probe's error, before it is measured.
		noise := squares(x.shared) + square(x.own)
		before, both := own, 0.0
		for i, v := range x.shared {
			d := a.shared[i] - b.shared[i]
			before += d * d
			both += d * v
		}
		if n := 1 - math.Sqrt(max(0, 1-both*both/(noise*before))); n >= narrows && (best == nil || n > best.Narrows) {
			best = &Probe{x.Code, x.Training, n}
		}
	}
	return best, nil
}
