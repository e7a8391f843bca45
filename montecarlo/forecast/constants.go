package forecast

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

const (
	// above is how much longer the upper half of an interval is than the lower one: networks
	// fail to learn a code more often than they do better than the model.
	above = 1.2

	// cutoffStep is the change of ln κ by which the sensitivity to κ is measured.
	cutoffStep = 0.4
	// logSDCutoff is the standard deviation of ln κ over networks, around perceived.DefaultCutoff: that of a fit before it.
	logSDCutoff = 0.35
	// observedRate is the standard deviation of what the model does not describe of a rate of
	// wrong bits, and relativeRate the same as a share of the rate.
	observedRate, relativeRate = 0.03, 0.15
	// logDispersion is the standard deviation of what the model does not describe of the logarithm of a dispersion
	// (perceived.Network.Dispersion), and dispersionNoise the variance that one sample adds. Of 34 networks of five tasks
	// none is more than 0.22 below the model's.
	logDispersion, dispersionNoise = 0.1, 3
)

// Spread says how far observed errors are from the forecasts: the standard deviations of ln(observed/forecast), and means that are
// known. They are the same for all data.
type Spread struct {
	// Network is that of any network, without the noise of its test samples: see unshared.
	Network float64
	// Cutoff is that of a code whose error is in inverse proportion to κ; a code with the sensitivity
	// d has Cutoff·d^1.25. Codes that are as sensitive do not depart from the model in the same way. Networks that are read as they were
	// trained, for the decoder and by gen-ex, have none: it sees the outputs together, and no bit is lost alone.
	Cutoff float64
	// Uneven is that of a code where some neighbouring levels differ in more bits than others do: see uneven.
	Uneven float64
	// Trained is what all networks trained for the decoder have in common, and Logits what other decoders of
	// their logits have more than gen-ex, for which they are trained.
	Trained, Logits float64

	// Networks of images are less alike than those of tables: Gross is what each of them has more, Coarse what it has more for each unit
	// of coarse, after a training bit by bit: codes with few columns for the coarse part of a label. Columns is what hard decisions
	// of all codes share in proportion to ln((L−1)/M): codes of few columns are learned better than the model says, or
	// worse. They count as far as a network's own errors show that it is of this kind: see Forecaster.share.
	Gross, Coarse, Columns float64
	// Overconfident is what overconfident and underconfident networks have in common, for codes whose columns change often. Their function
	// is hard to learn from so many samples, or their training has not ended. It counts as (ln T/Temperature)², at most 1, where T is
	// the temperature of the network's logits; TemperatureDecoder takes its place after CE. UnknownTemperature is the share
	// where T is not known: see Forecaster.Overconfidence.
	Overconfident, Temperature, TemperatureDecoder, UnknownTemperature float64

	// A network counts wholly as such from an excess on, or from a logarithm of its tail on: Tail is that of networks with an excess,
	// TailUnary of unary, and TailDecoder of networks trained for the decoder. Unknown is the share where nothing shows it.
	Excess, Tail, TailUnary, TailDecoder, Unknown float64

	// Gain is by how much less error networks of images have after a training for the decoder than the model says, as a logarithm.
	Gain float64
	// Apart is by how much more error networks have after such a training whose words of neighbouring levels are as far apart as any
	// two, beside unary: their columns change often, and the training does less for them than the model says.
	Apart float64

	Heads Heads // direct regression and soft targets
}

// DefaultSpread was fitted to all tasks of testdata/forecast, by the mean interval score, except for Network, Trained, Unknown, Gain and the temperatures;
// its README says how well constants do that were fitted without a task. Cutoff, Uneven, Logits and Overconfident are between what
// observed.csv and chosen.csv choose, and Gross, Coarse and Columns are wider: the score is content with fewer networks of images.
func DefaultSpread() Spread {
	return Spread{
		Network: 0.01, Cutoff: 0.42, Uneven: 0.1, Trained: 0.02, Logits: 0.035, Gross: 0.11, Coarse: 0.12, Columns: 0.05,
		Overconfident: 0.07, Temperature: 0.27, TemperatureDecoder: 0.47, UnknownTemperature: 0.25,
		Excess: 0.08, Tail: 0.6, TailUnary: 0.085, TailDecoder: 0.4, Unknown: 0.5, Gain: 0.06, Apart: 0.02,
		Heads: Heads{Any: 0.015, CORN: 0.03, Soft: Departure{-0.008, 0.026}, Direct: Departure{0.09, 0.09}, Share: 0.15},
	}
}

// share is how much the networks depart from the model as networks of images do, from 0 to 1.
func (f *Forecaster) share() float64 {
	s := &f.Spread
	part := func(v, whole float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return square(max(v, 0) / whole)
	}
	// Tails of tables reach those of images: the fourth power tells them apart better.
	switch tail := math.Log(f.Tail); {
	case !math.IsNaN(f.Excess):
		return min(1, part(f.Excess, s.Excess)+square(part(tail, s.Tail)))
	case math.IsNaN(tail):
		return s.Unknown
	case f.Model.Training != perceived.BCE:
		return min(1, square(part(tail, s.TailDecoder)))
	default:
		return min(1, square(part(tail, s.TailUnary)))
	}
}

// Overconfidence is how much a network departs from the model as overconfident ones do, from 0 to 1.
func (f *Forecaster) Overconfidence() float64 {
	log := math.Log(f.Temperature)
	switch {
	case math.IsNaN(log):
		return f.Spread.UnknownTemperature
	case f.Model.Training == perceived.CE:
		return min(1, square(log/f.Spread.TemperatureDecoder))
	default:
		return min(1, square(log/f.Spread.Temperature))
	}
}

// mean is that of ln(observed/model), where networks depart as those of images by a share. A training changes what is no
// quantization.
func (f *Forecaster) mean(x *Forecast, share float64) float64 {
	mean, _ := f.head(x)
	if x.Training == perceived.BCE {
		return mean
	}
	if len(f.Measured) == 0 || f.Measured[0].Code.Name() == Direct {
		share = 0 // nothing shows which kind of network it is: the tail of direct regression is the same on tables and on images
	}
	return mean + x.part*(f.Spread.Apart*x.apart-f.Spread.Gain*share)
}

// own is the standard deviation of a forecast's own departure, where networks depart as those of images by a share.
func (s *Spread) own(x *Forecast, share float64) float64 {
	v := math.Hypot(s.network(share), s.Uneven*x.uneven*bitwise(x.Training))
	if x.Training != perceived.BCE && x.Decoding.Decoder.Name() == "gen-ex" {
		return v
	}
	v = math.Hypot(v, s.Cutoff*math.Pow(math.Abs(x.falls), 1.25))
	if x.Training != perceived.BCE {
		return math.Hypot(v, s.Logits)
	}
	return math.Hypot(v, math.Sqrt(share)*s.Coarse*x.coarse)
}

// network is the standard deviation of networks that differ in their seed, at least.
func (s *Spread) network(share float64) float64 {
	return math.Hypot(s.Network, math.Sqrt(share)*s.Gross)
}

// factors is the number of departures that forecasts share.
const factors = 5

// bitwise is how much of what bits have alone counts after a training: less for the decoder, which sees them together.
func bitwise(t perceived.Training) float64 {
	if t == perceived.BCE {
		return 1
	}
	return 0.6
}

// unshared is the part of the standard error of a network's error, as a share of it, that it does not share with the error of another network on
// the same samples: √(1−ρ), where ρ is the correlation of their absolute errors. On five tables of testdata/forecast, means of ρ are 0.73 to 0.95 for pairs of
// unary, johnson and b1jdj after BCE, and 0.5 to 0.85 where one is another code; the constant stands for ρ = 0.8. Images were not looked at.
const unshared = 0.45

// shared are the standard deviations of what forecasts share, with their signs: the noise, the cutoff, the training for the decoder,
// on images the number of columns, and what overconfident networks have.
func (s *Spread) shared(x *Forecast, noise, cutoff, share, overconfidence float64) [factors]float64 {
	out := [factors]float64{noise, cutoff * x.falls}
	out[4] = math.Sqrt(overconfidence) * s.Overconfident * x.often * bitwise(x.Training)
	if x.Training != perceived.BCE {
		out[2] = s.Trained
	}
	if !x.Decoding.Soft {
		out[3] = math.Sqrt(share) * s.Columns * x.columns
	}
	return out
}

// changing is the number of columns that change, and at least 1.
func changing(c *code.Code) float64 {
	m := 0
	for _, at := range c.Transitions() {
		m += min(len(at), 1)
	}
	return float64(max(m, 1))
}

// columns is ln((L−1)/M), without columns that never change.
func columns(c *code.Code) float64 { return math.Log(float64(c.Levels()-1) / changing(c)) }

// often is log₂ of the mean number of transitions of the columns that change, less 1, from 0 to 1: 0 for unary, johnson and one-hot, and 1 where
// columns have four transitions or more.
func often(c *code.Code) float64 {
	return min(1, max(0, math.Log2(float64(c.TransitionCount())/changing(c))-1))
}

// uneven is the coefficient of variation of the distances between words of neighbouring levels over 0.2, at most 1. It is 0 where all neighbours are as far
// apart, as in reflected codes, hadamard and one-hot, and above 0 where some are further: where several bits change between the same two levels, a
// network that flips one of them sooner than another decodes a word that belongs to levels far away, and the model's bits, which read one label,
// flip together.
func uneven(c *code.Code) float64 {
	distances := make([]float64, c.Levels()-1)
	for i := range distances {
		distances[i] = float64(c.Distance(i, i+1))
	}
	mean, sd := stat.PopMeanStdDev(distances, nil)
	if mean == 0 {
		return 0
	}
	return min(1, sd/mean/0.2)
}

// apart is how much further the words of neighbouring levels are from each other than unary's, compared with the mean distance of two words:
// 0 for unary, where it is 3/(L+1), and towards 1 for codes whose neighbouring words are as far apart as any two.
func apart(c *code.Code) float64 {
	levels, pairs := float64(c.Levels()), 0.0 // the distances of all pairs of words
	for k := range c.Bits() {
		ones := 0.0
		for i := range c.Levels() {
			if c.Bit(i, k) {
				ones++
			}
		}
		pairs += ones * (levels - ones)
	}
	neighbours, others := float64(c.TransitionCount())/(levels-1), pairs/(levels*(levels-1)/2)
	return max(0, 1-3/(levels+1)*others/neighbours)
}

// coarse is how much less than unary a code tells in the slowest changes over the range of labels: ½·min(2, ln(e₀/e))²,
// where e is the share of the columns' energy in one half and one cycle, and e₀ = 5/π² unary's.
func coarse(c *code.Code) float64 {
	const unary = 5 / (math.Pi * math.Pi)
	levels, energy := c.Levels(), 0.0
	for _, half := range []float64{1, 2} {
		wave := make([]float64, levels)
		for i := range wave {
			wave[i] = math.Sqrt2 * math.Cos(math.Pi*half*(float64(i)+0.5)/float64(levels)) / float64(levels)
		}
		for k := range c.Bits() {
			sum := 0.0
			for i, w := range wave {
				if !c.Bit(i, k) {
					w = -w
				}
				sum += w
			}
			energy += sum * sum / float64(c.Bits())
		}
	}
	less := min(2, max(0, math.Log(unary/energy)))
	return less * less / 2
}
