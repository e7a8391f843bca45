package forecast

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Measured is the error of a trained network.
type Measured struct {
	Code     *code.Code
	Training perceived.Training
	Decoding observed.Decoding
	Error    observed.Error // in levels, against the level of the target

	network int // the same for all errors of a network; ratios are to network 0
}

// Measure makes the forecasts rest on the errors of networks that the model describes: of the first
// network first, the smallest first. Networks of one head, as several seeds are, count as one with
// the means of their errors.
func (f *Forecaster) Measure(networks []*perceived.Observed) {
	f.Measured = nil
	for k, n := range networks {
		head := func(m *perceived.Observed) bool { return m.Code.Name() == n.Code.Name() && m.Training == n.Training }
		if slices.IndexFunc(networks, head) < k {
			continue
		}
		from := len(f.Measured)
		for _, d := range n.Decodings {
			var seeds []observed.Error
			for _, m := range networks[k:] {
				at := slices.IndexFunc(m.Decodings, func(x observed.Decoding) bool { return SameReading(x, d) })
				if head(m) && at >= 0 && m.Training.Describes(m.Decodings[at]) && m.Errors[at].Mean > 0 {
					seeds = append(seeds, m.Errors[at])
				}
			}
			if len(seeds) > 0 {
				f.Measured = append(f.Measured, Measured{n.Code, n.Training, d, MeanOfSeeds(seeds), k})
			}
		}
		slices.SortStableFunc(f.Measured[from:],
			func(a, b Measured) int { return cmp.Compare(a.Error.Mean, b.Error.Mean) })
	}
}

// MeanOfSeeds is the mean error of networks that differ in their seeds. Its standard error is that of
// their spread, as Student's interval has it beside 1.96, or of the samples where these tell less.
func MeanOfSeeds(seeds []observed.Error) (out observed.Error) {
	if len(seeds) == 1 {
		return seeds[0]
	}
	n := float64(len(seeds))
	means := make([]float64, len(seeds))
	for i, e := range seeds {
		means[i] = e.Mean
		out.StdErr += e.StdErr / n // on the same samples
	}
	slices.Sort(means) // their order changes no digit
	mean, sd := stat.MeanStdDev(means, nil)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-tail) / distuv.UnitNormal.Quantile(1-tail)
	return observed.Error{Mean: mean, StdErr: max(out.StdErr, t*sd/math.Sqrt(n))}
}

// of reports whether a forecast is for the measured code, training and decoding.
func (m Measured) of(x Forecast) bool {
	return m.Code.Name() == x.Code.Name() && m.Training == x.Training && SameReading(m.Decoding, x.Decoding)
}

// SameReading reports whether two decodings read the same outputs with the same decoder, of codes
// that may differ.
func SameReading(a, b observed.Decoding) bool {
	return a.Soft == b.Soft && a.Decoder.Name() == b.Decoder.Name()
}

// trained reports whether a network was trained for what reads it: any reading of bits that were
// trained one by one, and else gen-ex. The model's gen has up to 13 % more error after CE than
// networks have, so it would mislead about all else.
func (m Measured) trained() bool {
	return m.Training == perceived.BCE || decode.Is[decode.GenEx](m.Decoding.Decoder)
}

// relative is the relative standard error.
func relative(e observed.Error) float64 { return e.StdErr / e.Mean }

// posterior is the law of ln(error/model's error) of forecasts, given what was measured.
type posterior struct {
	law   *distmv.StudentsT
	sigma mat.SymDense // of law
	shift float64      // that of the measured network, which all have
}

// untrained is the number of the first network that is not trained.
const untrained = 1 << 16

// learn learns from the smallest error of each measured network. raw has the model's errors of all
// of them. Without a measured network the law is that of errors beside those of unary, whose error
// sets s.
func (f *Forecaster) learn(all, raw []Forecast) *posterior {
	var others []unit
	var departures []float64
	source, own := unit{Forecast: &Forecast{Code: all[0].Code.As("unary"), Training: perceived.BCE,
		Decoding: all[0].Decoding}, network: -1}, math.NaN()
	seen := map[int]bool{}
	for _, m := range f.Measured {
		at := slices.IndexFunc(raw, m.of)
		if at < 0 || !(raw[at].model > 0) || !m.trained() || seen[m.network] {
			continue
		}
		seen[m.network] = true
		u, d := unit{&raw[at], m.network, relative(m.Error)}, math.Log(m.Error.Mean/raw[at].model)
		if math.IsNaN(own) { // the first one
			source, own = u, d
			continue
		}
		others, departures = append(others, u), append(departures, d-own)
	}
	out := &posterior{law: f.Law.joint(f.units(all, source), source, f.Tail, others, departures, own)}
	if !math.IsNaN(own) {
		out.shift = own
	}
	out.law.CovarianceMatrix(&out.sigma) // of the variances, which have a factor
	out.sigma.ScaleSym((out.law.Nu()-2)/out.law.Nu(), &out.sigma)
	return out
}

// units are the networks of forecasts, which are tested with the samples of the source. Readings of
// one network have one number.
func (f *Forecaster) units(all []Forecast, source unit) []unit {
	type of struct {
		code     string
		training perceived.Training
	}
	numbers := map[of]int{}
	if len(f.Measured) > 0 { // else a network of the source's kind is another one
		numbers[of{source.Code.Name(), source.Training}] = source.network
	}
	out := make([]unit, len(all))
	for i := range all {
		key := of{all[i].Code.Name(), all[i].Training}
		n, known := numbers[key]
		if !known {
			n = untrained + len(numbers)
			numbers[key] = n
		}
		out[i] = unit{&all[i], n, source.sampled}
	}
	return out
}

// LogDensity is the logarithm of the probability density of observed ln(error)s under the forecasts
// of networks that are numbered from 1, given the first measured error alone, of which source is
// the forecast. It is what Fitted maximizes.
func (f *Forecaster) LogDensity(all []Forecast, source Forecast, errors []observed.Error, networks []int) float64 {
	e := f.Measured[f.Source()].Error
	own := math.Log(e.Mean / source.model)
	units, values := make([]unit, len(all)), make([]float64, len(all))
	for i := range all {
		units[i] = unit{&all[i], networks[i], relative(errors[i])}
		values[i] = math.Log(errors[i].Mean/all[i].model) - own
	}
	return f.Law.joint(units, unit{&source, 0, relative(e)}, f.Tail, nil, nil, own).LogProb(values)
}

// Source is the index of the measured error that forecasts are relative to the model by; 0 where
// none was trained for its reading.
func (f *Forecaster) Source() int {
	return max(0, slices.IndexFunc(f.Measured, Measured.trained))
}

// Model is the |error| of the model, in levels, of which the forecast departs by what networks do.
func (x Forecast) Model() float64 { return x.model }

// Relate computes the errors and the intervals of forecasts that Codes has returned, after a change
// of Law. Errors that were measured take the place of their forecasts. Everything else is learned
// from them, too: what all networks share cancels in the ratio to them.
func (f *Forecaster) Relate(all []Forecast) { f.relate(all, all) }

// relate is Relate. raw has forecasts of the measured networks.
func (f *Forecaster) relate(all, raw []Forecast) {
	if len(all) == 0 {
		return
	}
	known := f.learn(all, raw)
	yours := math.NaN()
	if len(f.Measured) > 0 {
		yours = f.Measured[0].Error.Mean
	}
	for i := range all {
		x := &all[i]
		x.posterior, x.at = known, i
		x.marginal = known.law.MarginalStudentsTSingle(i, nil)
		x.marginal.Mu += known.shift + math.Log(x.model)
		if at := slices.IndexFunc(f.Measured, func(m Measured) bool { return m.of(*x) }); at >= 0 {
			m := f.Measured[at]
			sd := relative(m.Error)
			if m.network != 0 { // of the difference from yours, on the same samples
				sd *= apart
			}
			x.Measured, x.posterior = true, nil
			x.marginal = distuv.StudentsT{Mu: math.Log(m.Error.Mean), Sigma: math.Hypot(sd, rounding), Nu: manySamples}
		}
		t := x.marginal
		most := float64(len(f.Prior) - 1) // no answer of a decoder is further from a label
		x.Error, x.Lo, x.Hi = math.Exp(t.Mu), math.Exp(t.Quantile(tail)), math.Exp(t.Quantile(1-tail))
		if !x.Measured {
			x.Lo, x.Hi = min(x.Lo, most), max(min(x.Hi, most), x.Error)
		}
		x.Ratio, x.RatioLo, x.RatioHi, x.Better = x.Error/yours, x.Lo/yours, x.Hi/yours, t.CDF(math.Log(yours))
	}
}

const (
	// tail is the probability beyond each end of an interval.
	tail = 0.025
	// manySamples is the number of degrees of freedom of a mean over test samples.
	manySamples = 1e6
	// rounding is the least standard deviation of a logarithm.
	rounding = 1e-9
)

// difference is the law of ln(x's error/y's error), in the unit of these, which may be another than
// levels.
func (x Forecast) difference(y Forecast) distuv.StudentsT {
	v := square(x.marginal.Sigma) + square(y.marginal.Sigma)
	if x.posterior != nil && x.posterior == y.posterior {
		v -= 2 * x.posterior.sigma.At(x.at, y.at)
	}
	return distuv.StudentsT{Mu: math.Log(x.Error / y.Error), Sigma: math.Sqrt(max(v, square(rounding))),
		Nu: min(x.marginal.Nu, y.marginal.Nu)}
}

// Over compares the errors of two forecasts of one forecaster: their ratio, its 95 % interval, and
// the probability that x's is smaller. What both share does not count. All are NaN where y's is 0.
func (x Forecast) Over(y Forecast) (ratio float64, interval [2]float64, better float64) {
	if y.Error == 0 {
		nan := math.NaN()
		return nan, [2]float64{nan, nan}, nan
	}
	t := x.difference(y)
	return math.Exp(t.Mu), [2]float64{math.Exp(t.Quantile(tail)), math.Exp(t.Quantile(1 - tail))}, t.CDF(0)
}
