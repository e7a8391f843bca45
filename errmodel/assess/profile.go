package assess

import (
	"fmt"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/theory/code"
)

// Profile holds the error probabilities of one classifier over the labels.
type Profile struct {
	// name of the bit
	Name string `json:"name"`
	Bit  int    `json:"bit"`
	// the bit of each level's code word
	Target []bool `json:"target"`
	// levels, from 1, with observations; null where there are none
	Label []float64 `json:"rate_levels"`
	// observed error rates at these levels
	Rate []float64 `json:"rate"`
	// lower ends of the intervals of rate (Wilson)
	Lo []float64 `json:"rate_lo"`
	// upper ends of the intervals of rate (Wilson)
	Hi []float64 `json:"rate_hi"`
	// levels, from 1, of the model's curve, which may lie between two
	X []float64 `json:"curve_levels"`
	// error probabilities of the model at these levels
	Fitted []float64 `json:"curve"`
}

// MixtureProfile returns the curve of bit k, from 0, of a code under the Gaussian mixture of
// weight r and width σ, in levels. transitions are the code's, from code.Code.Transitions.
func MixtureProfile(c *code.Code, transitions [][]int, k int, r, sigma float64) Profile {
	p := Profile{Name: fmt.Sprintf("bit %d", k+1), Bit: k + 1, Target: make([]bool, c.Levels())}
	for i := range p.Target {
		p.Target[i] = c.Bit(i, k)
	}
	if !(r > 0) { // no bit erred, or nothing was fitted: there is no σ
		return p
	}
	gaussians, circle := errmodel.Transitions(transitions[k], r, sigma), 0
	if c.Circular() {
		circle = c.Levels()
	}
	const parts = 8 // of a level: the curve between levels
	for j := range (c.Levels()-1)*parts + 1 {
		y, e := 1+float64(j)/parts, 0.0
		for _, g := range gaussians {
			e += g.On(y, circle)
		}
		// Between levels a narrow Gaussian is no probability.
		p.X, p.Fitted = append(p.X, y), append(p.Fitted, min(e, 1))
	}
	return p
}

// profiles are those of the bits of the options, with the curves of the mixture.
func (n *network) profiles(m *mixture) (out []Profile, curve string) {
	bits := n.options.Bits
	if len(bits) == 0 {
		bits = n.typicalBits()
	}
	for _, k := range bits {
		out = append(out, profile(n, m, k-1))
	}
	switch {
	case m.R == 0:
		return out, "Gaussian mixture: r = 0"
	case math.IsNaN(m.R):
		return out, "no mixture"
	}
	return out, fmt.Sprintf("Gaussian mixture: r = %.3g, σ = %.3g", m.R, m.Sigma)
}

// profile is the profile of bit k, from 0. Points are of single levels, or of several levels
// where there are too many to tell them apart.
func profile(n *network, m *mixture, k int) Profile {
	counts, levels := n.seen.Counts, n.code.Levels()
	p := MixtureProfile(n.code, n.transitions, k, m.R, m.Sigma)
	if n.options.predicts() {
		p.Name = fmt.Sprintf("above level %d", k+1)
	}
	const most = 64 // points of a panel
	width := (levels + most - 1) / most
	for from := 0; from < levels; from += width {
		var samples, x, at float64
		for i := from; i < min(from+width, levels); i++ {
			samples += float64(counts.Samples[i])
			x += float64(counts.Row(i)[k])
			at += float64(counts.Samples[i]) * float64(i+1)
		}
		if samples == 0 {
			continue
		}
		lo, hi := errmodel.RateInterval(x, samples)
		p.Label, p.Rate = append(p.Label, at/samples), append(p.Rate, x/samples)
		p.Lo, p.Hi = append(p.Lo, lo), append(p.Hi, hi)
	}
	return p
}

// typicalBits are the bits, from 1, at one third and two thirds of those with a transition
// among the levels that occur.
func (n *network) typicalBits() []int {
	var bits []int
	lowest, highest := occurring(n.seen.Counts.Prior())
	for k, at := range n.transitions {
		if slices.ContainsFunc(at, func(level int) bool { return level >= lowest && level < highest }) {
			bits = append(bits, k+1)
		}
	}
	switch len(bits) {
	case 0:
		return []int{1}
	case 1, 2:
		return bits
	}
	return []int{bits[len(bits)/3], bits[2*len(bits)/3]}
}
