package fault

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/base/position"
	"belsim/theory/code"
)

const (
	// independent is the probability with which outputs that do not depend on their targets are taken
	// for others, over all bits together.
	independent = 0.01
	// deadRate is the error rate from which a classifier that always answers the same is dead. A
	// good classifier of a bit that is rarely one may also always answer the same, but is less
	// often wrong.
	deadRate = 0.1
	// fewestLevel is the number of samples of a level that tell that its column is dead.
	fewestLevel = 20
	// emptyShare is the share of the levels above which it is a fault that those at the ends do not occur: some
	// hundred samples rarely have the ends of a range.
	emptyShare = 0.25
)

// spread is the variance of all outputs of a bit, and the mean of their squares.
func spread(of observed.Column) (variance, square float64) {
	n := of.Samples[0] + of.Samples[1]
	mean, square := (of.Sum[0]+of.Sum[1])/n, of.Square/n
	return square - mean*mean, square
}

// dependence says how the outputs of a bit depend on its targets: the difference of the mean outputs where
// targets are one and where they are zero, in standard errors if there were no dependence; 0 where all outputs
// are alike, up to the rounding of sums, and NaN where all targets are.
func dependence(of observed.Column) float64 {
	samples, sum := of.Samples, of.Sum
	switch variance, square := spread(of); {
	case samples[0] == 0 || samples[1] == 0:
		return math.NaN()
	case variance > 1e-10*square:
		return (sum[1]/samples[1] - sum[0]/samples[0]) / math.Sqrt(variance*(1/samples[0]+1/samples[1]))
	}
	return 0
}

// Dead lists the bits, from 1, whose classifiers have learnt nothing: they are wrong in more than half of the
// samples, or they always answer the same, are often wrong, and their logits do not tell their target.
func Dead(c *code.Code, seen *observed.Summary) []int {
	out, limit := []int{}, distuv.UnitNormal.Quantile(1-independent/2/float64(max(c.Bits(), 1)))
	samples := seen.Counts.All()
	for k, of := range seen.Columns {
		wrong, ones := seen.Counts.Bit(k), seen.Ones[k]
		constant := (ones == 0 || ones == samples) && !(dependence(of) > limit)
		if 2*wrong > samples || constant && float64(wrong) > deadRate*float64(samples) {
			out = append(out, k+1)
		}
	}
	return out
}

// dead finds the bits that learnt nothing, and columns that say the same for all samples, though their level or
// bit occurs.
func (s *search) dead() *Finding {
	if s.predicts() {
		return nil // the columns are no outputs of the network
	}
	dead := slices.Clone(s.Dead)
	for k, of := range s.Seen.Columns {
		if variance, square := spread(of); !s.Kind.Hard() && variance <= 1e-8*max(square, 1e-12) &&
			min(of.Samples[0], of.Samples[1]) >= fewestLevel && !slices.Contains(dead, k+1) {
			dead = append(dead, k+1)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	slices.Sort(dead)
	list := position.List(dead[:min(len(dead), 6)])
	if more := len(dead) - 6; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	mend := "check the layer that makes these columns, and train it again"
	if 4*len(dead) > s.Code.Bits() { // of unary in reversed columns, nearly half are
		mend = "check the code, the range and the order of the bits: all must be the network's"
	}
	return found("dead", float64(len(dead)), fmt.Sprintf("%d of %d columns are dead: %s always say the same, or are mostly "+
		"wrong", len(dead), s.Code.Bits(), list), mend)
}

// same finds a network that does not depend on its input.
func (in *Input) same() *Finding {
	if !in.Seen.Same {
		return nil
	}
	return found("same", float64(in.Code.Bits()), "the outputs do not depend on the input: they are the same for all samples",
		"check that these are the outputs of the trained network, and that its training did not stop or diverge")
}

// guessing finds outputs that are all on one side of their thresholds, which is wrong in more than a quarter of
// them, as those of one-hot are not; and errors that are not told from those of an answer that is the median of
// the targets.
func (in *Input) guessing() *Finding {
	samples, wrong := in.Seen.Counts.Total()
	all, ones := samples*uint64(in.Code.Bits()), uint64(0)
	for _, k := range in.Seen.Ones {
		ones += k
	}
	if (ones == 0 || ones == all) && 4*wrong > all {
		return found("one-sided", float64(wrong)/float64(all),
			fmt.Sprintf("the outputs say %d for every bit of every sample, and are often wrong", min(ones, 1)),
			"give the logits, which are below 0 where the bit is 0, before a ReLU, a softplus, a second sigmoid or a "+
				"scale of whole numbers")
	}
	if len(in.Seen.Levels) == 0 {
		return nil
	}
	best := slices.MinFunc(in.Seen.Levels, func(a, b observed.Error) int { return cmp.Compare(a.Mean, b.Mean) })
	if !AsGuess(in.Code, in.Seen.Counts, best) {
		return nil
	}
	return found("guessing", best.Mean, "the error is that of guessing: the median target alone would be at least as near",
		"check that the network was trained, and the order of samples, columns and levels, the code and the range: all must "+
			"be the network's")
}

// AsGuess reports whether an error in levels is not told, by three standard errors, from that of an answer that
// is the median of the targets.
func AsGuess(c *code.Code, counts *errmodel.Counts, e observed.Error) bool {
	prior := counts.Prior()
	if on := c.Circle(); on != nil {
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

// empty finds that no target lies in levels at the ends of the range, which a circle has not.
func (in *Input) empty() *Finding {
	levels, samples := in.Code.Levels(), in.Seen.Counts.Samples
	occurs := func(n uint64) bool { return n > 0 }
	below, above := slices.IndexFunc(samples, occurs), 0
	for above < levels && samples[levels-1-above] == 0 {
		above++
	}
	share := float64(below+above) / float64(levels)
	if share <= emptyShare || in.Code.Circular() {
		return nil
	}
	var parts []string
	for _, of := range [][2]int{{1, below}, {levels - above + 1, levels}} {
		from, to := of[0], of[1]
		switch {
		case from > to:
			continue
		case from == to:
			parts = append(parts, fmt.Sprintf("level %s", position.At(from)))
		default:
			parts = append(parts, fmt.Sprintf("levels %s to %s", position.At(from), position.At(to)))
		}
		if in.Labels.Real {
			edge := func(row int) float64 { // between a row and the next one, or the end of the range
				return in.Labels.Label((in.Code.Place(max(row, 0)) + in.Code.Place(min(row+1, levels-1))) / 2)
			}
			parts[len(parts)-1] += fmt.Sprintf(" (%.4g to %.4g)", edge(from-2), edge(to-1))
		}
	}
	mend := "check that the range is the network's"
	if at := in.Labels.Label; in.Labels.Real {
		mend += "; a network trained with " + position.Flag("range", fmt.Sprintf("%.4g:%.4g", at(in.Code.Place(below)),
			at(in.Code.Place(levels-1-above)))) + " would use all levels"
	}
	return found("empty", share, fmt.Sprintf("no target is of %s: %.2g %% of the levels are empty",
		strings.Join(parts, " or "), 100*share), mend)
}
