package assess

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/base/table"
)

// independent is the probability with which outputs that do not depend on their targets are taken
// for others, over all bits together.
const independent = 0.01

// dependenceLimit is what the dependence of a bit that does not depend on its target does not
// exceed.
func (n *network) dependenceLimit() float64 {
	return distuv.UnitNormal.Quantile(1 - independent/2/float64(max(n.code.Bits(), 1)))
}

// dependences say for each bit how its outputs depend on its targets: the difference of the mean
// outputs where targets are one and where they are zero, in standard errors if there were no
// dependence; 0 where all outputs are alike, up to the rounding of sums, and NaN where all targets
// are. Outputs are logits where there are any: a good classifier of a bit that is rarely one may
// decide for zero in every sample.
func (n *network) dependences() []float64 {
	m := n.code.Bits()
	out := make([]float64, m)
	for k := range out {
		var samples, sum [2]float64 // by the target
		square := 0.0
		for i, x := range n.seen.Counts.Samples {
			target := 0
			if n.code.Bit(i, k) {
				target = 1
			}
			samples[target] += float64(x)
			sum[target] += n.seen.Sums[i*m+k]
			square += n.seen.Squares[i*m+k]
		}
		all := samples[0] + samples[1]
		mean := (sum[0] + sum[1]) / all
		square /= all
		switch variance := square - mean*mean; {
		case samples[0] == 0 || samples[1] == 0:
			out[k] = math.NaN()
		case variance > 1e-10*square:
			out[k] = (sum[1]/samples[1] - sum[0]/samples[0]) / math.Sqrt(variance*(1/samples[0]+1/samples[1]))
		}
	}
	return out
}

// warn says that outputs cannot be those of a trained network for these targets, and what to do;
// both are "" where they can.
func (n *network) warn() (what, next string) {
	if n.seen.Same {
		return "the outputs do not depend on the input: they are the same for all samples",
			"check that these are the outputs of the trained network, and that its training did not stop or diverge"
	}
	if what, next := n.countedOtherwise(); what != "" {
		return what, next
	}
	samples, wrong := n.seen.Counts.Total()
	if bit, yes := n.oneSided(); yes {
		return fmt.Sprintf("the outputs say %d for every bit of every sample, and are often wrong", bit),
			"give the logits, which are below 0 where the bit is 0, before a ReLU, a softplus, a second sigmoid or a " +
				"scale of whole numbers"
	}
	if !n.guesses() {
		return "", ""
	}
	const order = "check the order of samples, columns and levels, the code and the range: all must be the network's"
	// Where targets are reversed, half of the bits of unary are right, and the mean correlation is
	// 1 − 2·ln 2 = −0.39; where columns of one-hot are exchanged, it is −1/L.
	correlation, bits := 0.0, 0.0
	for _, z := range n.dependence {
		if !math.IsNaN(z) {
			correlation, bits = correlation+z/math.Sqrt(float64(samples)), bits+1
		}
	}
	if correlation < -0.25*bits || 2*wrong > samples*uint64(n.code.Bits()) {
		return "the outputs look inverted or reversed: most bits say the opposite of their target, or are wrong, " +
				"and the error is that of guessing",
			"exchange ones and zeros, negate logits, or reverse the targets, and fit again; else " + order
	}
	return "the error is that of guessing: the median target alone would be as near", order
}

// oneSided reports whether all outputs of all samples say the same bit, which is wrong in more than
// a quarter of them, as those of one-hot are not.
func (n *network) oneSided() (bit int, yes bool) {
	samples, wrong := n.seen.Counts.Total()
	all, ones := samples*uint64(n.code.Bits()), uint64(0)
	for _, k := range n.seen.Ones {
		ones += k
	}
	return int(min(ones, 1)), (ones == 0 || ones == all) && 4*wrong > all
}

// countedOtherwise says that targets are levels that are counted from 0 and not from 1, or the other
// way round: no target is of the last level, or the first one, and the answers are nearer to the
// targets one level further, by three standard errors.
func (n *network) countedOtherwise() (what, next string) {
	labels, best := n.source.Labels, leastError(n.seen.Labels)
	if labels.Width() != 1 || labels.Places != nil || labels.Circle != nil || best < 0 {
		return "", ""
	}
	lowest, highest := occurring(n.seen.Counts.Prior())
	lo, hi := 1., float64(labels.Levels)
	if labels.Real {
		lo, hi = labels.Lo, labels.Hi
	}
	e := n.seen.Labels[best]
	for side, empty := range []bool{lowest > 1, highest < labels.Levels} {
		moved := n.seen.Moved[side][leastError(n.seen.Moved[side])]
		if !empty || moved.Mean+3*math.Hypot(moved.StdErr, e.StdErr) >= e.Mean {
			continue
		}
		level, word, by := 1, "lower", 1.
		if side == 1 {
			level, word, by = labels.Levels, "higher", -1
		}
		return fmt.Sprintf("the targets seem to be counted from another number: none is of level %s, and the error "+
				"is %s levels, but %s against targets one level %s", position.At(level), table.Short(e.Mean), table.Short(moved.Mean),
				word), fmt.Sprintf("give the range %v:%v if the targets are labels of these levels, or check them", lo+by,
				hi+by)
	}
	return "", ""
}

// guesses reports whether no decoder is told, by three standard errors, from an answer that is the
// median of the targets.
func (n *network) guesses() bool {
	best := leastError(n.seen.Levels)
	return best >= 0 && n.asGuess(n.seen.Levels[best])
}

// asGuess reports whether an error is not told, by three standard errors, from that of an answer
// that is the median of the targets.
func (n *network) asGuess(e observed.Error) bool {
	prior := n.seen.Counts.Prior()
	if on := n.code.Circle(); on != nil {
		return e.Mean > on.Distance(prior)-3*e.StdErr
	}
	// The mean distance of the targets from a level; where the next level is nearer to more of
	// them, it is less there.
	guess, below := 0.0, 0.0
	for i, p := range prior {
		guess += float64(i) * p
	}
	for _, p := range prior {
		if below += p; below >= 0.5 {
			break
		}
		guess += 2*below - 1
	}
	return e.Mean > guess-3*e.StdErr
}
