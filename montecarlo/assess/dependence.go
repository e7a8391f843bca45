package assess

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel/observed"
	"belsim/theory/decode"
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
	if a := n.mistaken(); a != nil {
		return a.what, a.next
	}
	if n.guesses() {
		return "the error is that of guessing: the median target alone would be as near",
			"check that targets and outputs are in the same order, and that the code and the range are the network's"
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
	// The mean distance of the targets from a level; where the next level is nearer to more of
	// them, it is less there.
	guess, below := 0.0, 0.0
	prior := n.seen.Counts.Prior()
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

// arrangement is a way in which outputs may stand for a code's words.
type arrangement struct {
	what, next string
	outputs    func(z []float64) // puts the outputs of a sample as the code has them; nil for nothing
	levels     bool              // are reversed
}

// arrangements are those that outputs are often in by mistake.
var arrangements = []arrangement{
	{
		what: "the outputs look inverted: they fit their targets when ones and zeros, or signs, are exchanged",
		next: "exchange ones and zeros in the outputs, or negate logits, and fit again",
		outputs: func(z []float64) {
			for k, v := range z {
				z[k] = -v
			}
		},
	},
	{
		what:    "the columns of the outputs look reversed: they fit their targets when the last column is the first",
		next:    "reverse the columns of the outputs, and fit again",
		outputs: func(z []float64) { slices.Reverse(z) },
	},
	{
		what:   "the levels look reversed: the outputs fit their targets when the largest target is the smallest",
		next:   "reverse the targets, and fit again",
		levels: true,
	},
}

const (
	// right and wrong are the errors of the mean outputs of a level, as a share of the levels,
	// below which they stand as they should, and above which they do not.
	right, wrong = 1. / 16, 1. / 8
	// fewestArranged is the smallest number of levels that tell an arrangement, and mostArranged
	// the largest that is decoded.
	fewestArranged, mostArranged = 8, 64
)

// mistaken is the arrangement in which the mean outputs of a level are nearest to its word, where
// they are far from it as they stand; nil where there is none.
func (n *network) mistaken() *arrangement {
	levels, m := n.code.Dims()
	var seen []int
	for i, x := range n.seen.Counts.Samples {
		if x > 0 {
			seen = append(seen, i)
		}
	}
	if len(seen) < fewestArranged || n.code.Real() {
		return nil
	}
	correlations := decode.NewCorrelations(n.code)
	near, z := make([]float64, levels), make([]float64, m)
	distance := func(a arrangement) float64 {
		sum, count := 0.0, 0.0
		for at := 0; at < len(seen); at += (len(seen) + mostArranged - 1) / mostArranged {
			i := seen[at]
			copy(z, n.seen.Sums[i*m:(i+1)*m])
			if a.outputs != nil {
				a.outputs(z)
			}
			if a.levels {
				i = levels - 1 - i
			}
			correlations.To(near, z)
			sum += math.Abs(decode.Gen{}.FromCorrelations(near) - float64(i+1))
			count++
		}
		return sum / count / float64(levels)
	}
	var best *arrangement
	if distance(arrangement{}) > wrong {
		least := right
		for i, a := range arrangements {
			if d := distance(a); d < least {
				best, least = &arrangements[i], d
			}
		}
	}
	return best
}
