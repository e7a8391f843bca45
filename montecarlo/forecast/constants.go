package forecast

import (
	"math"

	"belsim/errmodel/perceived"
	"belsim/theory/code"
)

const (
	// above is how much longer the upper half of an interval is than the lower one: networks
	// fail to learn a code more often than they do better than the model.
	above = 1.2

	// cutoffStep is the change of ln κ by which the sensitivity to κ is measured.
	cutoffStep = 0.4
	// logSDCutoff is the standard deviation of ln κ over networks, around perceived.DefaultCutoff.
	logSDCutoff = 0.24
	// observedRate is the standard deviation of what the model does not describe of a rate of
	// wrong bits, and relativeRate the same as a share of the rate.
	observedRate, relativeRate = 0.03, 0.15
)

// Spread has the standard deviations of ln(observed/forecast). They are the same for all data.
type Spread struct {
	// Network is that of any network.
	Network float64
	// Cutoff is that of a code whose error is in inverse proportion to κ; a code with the sensitivity
	// d has Cutoff·d^1.5. Codes that are as sensitive do not depart from the model in the same way.
	Cutoff float64
	// Coarse is that of each unit of coarse: codes with few columns for the coarse part of a label.
	Coarse float64
	// Logits is that of gen on logits after a training for the decoder, which trains for gen-ex.
	Logits float64

	// Networks of images are less alike than those of tables: Gross is what each of them has more, Level
	// what all have in common, and Columns what hard decisions of all codes share in proportion to ln((L−1)/M): codes of
	// few columns are learned better than the model says, or worse. They count as far as a network's own errors
	// show that it is of this kind: see share.
	Gross, Level, Columns float64
	Heads                 Heads // direct regression and soft targets

	// Excess is that of a network, and Tail the logarithm of its tail, from which on it counts wholly
	// as such a network. Unknown is the share where nothing shows it.
	Excess, Tail, Unknown float64
}

// DefaultSpread was fitted to all tasks of testdata/forecast, by the mean interval score; its README says how
// well constants do that were fitted without a task.
func DefaultSpread() Spread {
	return Spread{Network: 0.012, Cutoff: 0.72, Coarse: 0.071, Logits: 0.03, Gross: 0.12, Level: 0.28, Columns: 0.05, Heads: Heads{Any: 0.005, Soft: Departure{-0.01, 0.025}, Direct: Departure{0.1, 0.06}, Share: 0.1}, Excess: 0.072, Tail: 0.72, Unknown: 0.5}
}

// share is how much a network departs from the model as networks of images do, from 0 to 1: by its excess after
// a training bit by bit, and after one for the decoder by its tail. Both are NaN where they are unknown.
func (s *Spread) share(excess, tail float64) float64 {
	switch {
	case !math.IsNaN(excess):
		excess /= s.Excess
		return min(1, excess*excess)
	case !math.IsNaN(tail):
		tail = math.Log(max(tail, 1)) / s.Tail
		return min(1, tail*tail)
	}
	return s.Unknown
}

// own is the standard deviation of a forecast's own departure, where networks depart as those of images by a share.
func (s *Spread) own(x *Forecast, share float64) float64 {
	v := s.network(share)
	v = math.Hypot(v, s.Cutoff*math.Pow(math.Abs(x.falls), 1.5))
	v = math.Hypot(v, s.Coarse*x.coarse)
	if x.Training != perceived.BCE && x.Decoding.Decoder.Name() == "gen" {
		v = math.Hypot(v, s.Logits)
	}
	return v
}

// network is the standard deviation of networks that differ in their seed, at least.
func (s *Spread) network(share float64) float64 {
	return math.Hypot(s.Network, math.Sqrt(share)*s.Gross)
}

// factors is the number of departures that forecasts share.
const factors = 4

// level is the number of the level among them.
const level = 2

// shared are the standard deviations of what forecasts share, with their signs: the noise, the cutoff, on images the level and the number of columns.
func (s *Spread) shared(x *Forecast, noise, cutoff, share float64) [factors]float64 {
	out := [factors]float64{noise, cutoff * x.falls}
	out[level] = math.Sqrt(share) * s.Level
	if !x.Decoding.Soft {
		out[3] = math.Sqrt(share) * s.Columns * x.columns
	}
	return out
}

// columns is ln((L−1)/M), without columns that never change.
func columns(c *code.Code) float64 {
	m := 0
	for _, at := range c.Transitions() {
		if len(at) > 0 {
			m++
		}
	}
	return math.Log(float64(c.Levels()-1) / float64(max(m, 1)))
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
