package assess

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
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
	out := make([]float64, n.code.Bits())
	for k, of := range n.seen.Columns(n.code) {
		samples, sum := of.Samples, of.Sum
		all := samples[0] + samples[1]
		mean := (sum[0] + sum[1]) / all
		square := of.Square / all
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
	for _, f := range n.found {
		if f.Misread() {
			return f.Text, f.Mend
		}
	}
	if bit, yes := n.oneSided(); yes {
		return fmt.Sprintf("the outputs say %d for every bit of every sample, and are often wrong", bit),
			"give the logits, which are below 0 where the bit is 0, before a ReLU, a softplus, a second sigmoid or a " +
				"scale of whole numbers"
	}
	if !n.guesses() {
		return "", ""
	}
	return "the error is that of guessing: the median target alone would be as near",
		"check the order of samples, columns and levels, the code and the range: all must be the network's"
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
