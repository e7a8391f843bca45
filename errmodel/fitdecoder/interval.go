package fitdecoder

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Intervals are those of cross-conformal prediction, with a decoder that is fitted again to all
// samples, and calibrated by the residuals of those fitted to parts of them. A sample's residual is
// (target − label)/sigma, and sigma is what the decoder's distribution over the levels says of the
// error: √(variance of the level's value + floor · variance of a label within its level). The ends
// of an interval are label + q·sigma, with a quantile q of the residuals of the calibration samples
// for each side. The decoder that labelled a calibration sample was fitted to others (cross-
// fitting). No theorem bounds their coverage: Intervals.Coverage counts it, on samples that neither
// fitted nor calibrated. A good sigma makes them narrow. Distributions of codes with many
// transitions tell little of the error: their floor is large, and intervals are nearly of one
// width.

// judgedAt is the confidence of the intervals that Fit judges.
const judgedAt = 0.9

// calibration is what intervals have of the calibration samples.
type calibration struct {
	residuals []float64 // ascending
	floor     float64
}

// floors is how many floors are tried: the powers of four from 1.
const floors = 9

// Interval returns the ends of the intervals of a confidence as decoders. An interval holds the label
// itself, and lies within the labels of the levels where that does; on a circle it goes at most half
// way round to either side, and passes the seam: its ends are then beyond the labels. The error says that
// there are too few calibration samples.
func (d *Decoder) Interval(confidence float64) (lower, upper decode.RealDecoder, err error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, nil, fmt.Errorf("confidence %v: want a number between 0 and 1, such as 0.9", confidence)
	}
	lo, hi, ok := quantiles(d.residuals, confidence)
	if !ok {
		n, least := len(d.residuals), 2/(1-confidence)*(1-rounding)-1
		return nil, nil, fmt.Errorf(
			"confidence %v needs %.0f calibration samples, and the decoder has %d: want at most %v", confidence,
			math.Ceil(least), n, math.Floor(1e4*(1-2/float64(n+1)))/1e4)
	}
	return bound{d, min(lo, 0)}, bound{d, max(hi, 0)}, nil // an interval holds its own label
}

// rounding is what products of small numbers and confidences depart by, and more.
const rounding = 1e-9

// quantiles are the ⌈(n+1)(1+confidence)/2⌉-th of n residuals, which ascend, from either end. They
// are not ok where there are too few.
func quantiles(residuals []float64, confidence float64) (lo, hi float64, ok bool) {
	n := len(residuals)
	rank := int(math.Ceil(float64(n+1)*(1+confidence)/2 - rounding))
	if rank > n {
		return 0, 0, false
	}
	return residuals[n-rank], residuals[rank-1], true
}

// bound is an end of an interval: the label, and a multiple of sigma.
type bound struct {
	*Decoder
	multiple float64
}

// DecodeLogits implements decode.LogitDecoder.
func (b bound) DecodeLogits(z []float64) float64 {
	label, half := b.Decoder.DecodeLogits(z), float64(b.multiple*b.sigma(z))
	if b.circle != nil { // an end may lie behind the seam
		most := float64(len(b.values)) / 2 * (b.values[1] - b.values[0])
		return label + min(max(half, -most), most)
	}
	v := b.clip(label + half)
	if b.multiple <= 0 && v > label || b.multiple >= 0 && v < label { // the label lies beyond the levels
		return label
	}
	return v
}

// Value implements decode.RealDecoder.
func (b bound) Value(word []uint64) float64 { return b.DecodeLogits(b.signs(word)) }

// clip puts an end of an interval into the range of the targets: the labels of the levels, uncorrected.
func (d *Decoder) clip(v float64) float64 {
	lo, hi := d.values[0], d.values[len(d.values)-1]
	if by := d.about; by.Slope > 0 {
		levels := float64(len(d.values) - 1)
		width := (hi - lo) / levels / by.Slope
		lo -= (by.Offset + by.Slope - 1) * width
		hi = lo + levels*width
	}
	return min(max(v, lo), hi)
}

// spread is how wide a distribution over the levels is.
type spread struct {
	variance float64 // of the value of the level
	within   float64 // the mean of the variances of labels within levels
}

// newSpread is that of the distribution w, up to a factor. within are the variances of labels within
// the levels, and on is the circle of these, nil on a line.
func newSpread(w, values, within []float64, on *code.Circle) (s spread) {
	total, mean := 0.0, 0.0
	for i, p := range w {
		total += p
		mean += float64(p * values[i])
	}
	mean /= total
	if on != nil {
		mean = on.Mean(w)
	}
	for i, p := range w {
		if p > 0 {
			d := values[i] - mean
			if on != nil {
				d = on.Between(mean, float64(i+1)) * (values[1] - values[0])
			}
			s.variance += float64(p * float64(d*d))
			s.within += float64(p * within[i])
		}
	}
	return spread{s.variance / total, s.within / total}
}

// sigma is what residuals are divided by.
func (d *Decoder) sigma(z []float64) float64 {
	s := d.spread(z)
	return math.Sqrt(s.variance + float64(d.floor*s.within))
}

// spread is that of the distribution that outputs stand for.
func (d *Decoder) spread(z []float64) spread {
	w := make([]float64, len(d.values))
	if d.sorted {
		sortedSigmoids(w, z)
	} else {
		d.scores.ScoresTo(w, z)
		decode.Weigh(w)
	}
	return newSpread(w, d.values, d.within, d.circle)
}

// sortedSigmoids sets w to the distribution over the levels that bits of the unary code have, each
// trained by itself: the sigmoids are the probabilities that the label is above each level, once
// they descend.
func sortedSigmoids(w, z []float64) {
	above := make([]float64, len(z))
	for k, v := range z {
		above[k] = decode.Sigmoid(v)
	}
	slices.SortFunc(above, func(a, b float64) int { return cmp.Compare(b, a) })
	before := 1.0
	for k, p := range above {
		w[k], before = before-p, p
	}
	w[len(z)] = before
}

// variancesWithin are those of labels that are spread evenly over each level, which reaches half
// the way to its neighbours.
func variancesWithin(values []float64) []float64 {
	out, last := make([]float64, len(values)), len(values)-1
	for i := range out {
		width := values[min(i+1, last)] - values[max(i-1, 0)]
		if i > 0 && i < last {
			width /= 2
		}
		out[i] = width * width / 12
	}
	return out
}

// unary reports whether row i of the code has ones in its first i columns alone.
func unary(c *code.Code) bool {
	levels, m := c.Dims()
	for i := range levels {
		for k := range m {
			if c.Bit(i, k) != (k < i) {
				return false
			}
		}
	}
	return m == levels-1 && !c.Real()
}

// Interval is a sample with its interval.
type Interval struct{ Target, Label, Lower, Upper float64 }

// Intervals tell how good the intervals of single labels are. Every sample is judged by a decoder
// that was chosen, fitted and calibrated with the other folds. Lengths are in the unit of
// Input.Width.
type Intervals struct {
	// the share of targets that the intervals promise to hold
	Confidence float64 `json:"confidence"`
	// samples that calibrate the decoder; confidences up to 1 − 2/(calibration + 1) can be asked
	// for
	Calibration int `json:"calibration"`
	// share of the targets that lie inside
	Coverage float64 `json:"coverage"`
	// standard error of coverage
	CoverageSE float64 `json:"coverage_stderr"`
	// mean of upper − lower
	Width float64 `json:"mean_width"`
	// mean Winkler score: the width, and 2/(1 − confidence) times the distance of a target outside
	Winkler float64 `json:"winkler"`
	// that of intervals that are equally wide for all samples
	Constant float64 `json:"winkler_constant"`
	// the smallest coverage of the five fifths of samples by their predicted spread
	Worst float64 `json:"worst_fifth"`
	// a row for neighbouring levels of 100 samples or more
	Levels []LevelCoverage `json:"levels"`

	// Samples are in random order, with labels in the unit of Input.Values.
	Samples []Interval `json:"-"`
}

// LevelCoverage is the coverage of neighbouring levels.
type LevelCoverage struct {
	From int `json:"level"`
	// the last level of its row
	To int `json:"last_level"`
	// samples of these levels
	Samples uint64 `json:"samples"`
	// share of the targets that lie inside
	Coverage float64 `json:"coverage"`
	// 95 % interval of coverage
	Interval [2]float64 `json:"coverage_interval"`
}

// coverageByLevel has a row for neighbouring levels of so many samples that a share of them means
// something. all and inside are the samples of each level, and those whose target lies inside.
func coverageByLevel(all, inside []uint64) []LevelCoverage {
	out := []LevelCoverage{}
	for from, to := range observed.Groups(all) {
		row, held := LevelCoverage{From: from + 1, To: to}, uint64(0)
		for i := from; i < to; i++ {
			row.Samples, held = row.Samples+all[i], held+inside[i]
		}
		row.Coverage = float64(held) / float64(row.Samples)
		row.Interval[0], row.Interval[1] = errmodel.RateInterval(float64(held), float64(row.Samples))
		out = append(out, row)
	}
	return out
}

// sigma is that of a candidate's sample j of a part, with a floor. In even levels, the variance
// within one is 1/12.
func (p *part) sigma(c, j int, floor float64) float64 {
	within := 1. / 12
	if p.within != nil {
		within = float64(p.row(p.within, c)[j])
	}
	slope := p.with.corrections[c].Slope
	return math.Sqrt(float64(p.row(p.variance, c)[j]) + floor*slope*slope*within)
}

// calibrate calibrates a candidate with some parts: of all floors it takes that of the smallest
// Winkler score there.
func (f *fitting) calibrate(parts []*part, c int) calibration {
	best, least := calibration{}, math.Inf(1)
	for i := range floors {
		x := f.withFloor(parts, c, math.Exp2(float64(2*i)))
		lo, hi, _ := quantiles(x.residuals, judgedAt)
		var winkler observed.Sums
		for _, p := range parts {
			for j := range p.samples {
				_, score := f.interval(p, c, j, lo, hi, p.sigma(c, j, x.floor))
				winkler.Add(score)
			}
		}
		if mean := winkler.Error().Mean; i == 0 || mean < least {
			best, least = x, mean
		}
	}
	return best
}

// withFloor are the residuals of a candidate with a floor; with NaN for one, sigma is 1.
func (f *fitting) withFloor(parts []*part, c int, floor float64) calibration {
	out := calibration{floor: floor}
	for _, p := range parts {
		for j, i := range p.samples {
			r := f.Code.Between(float64(p.of(c)[j]), f.Samples.Exact[i])
			if !math.IsNaN(floor) {
				r /= p.sigma(c, j, floor)
			}
			out.residuals = append(out.residuals, r)
		}
	}
	slices.Sort(out.residuals)
	return out
}

// interval is that of a candidate's sample j of a part, and its Winkler score. On a circle, the target
// is where it is nearest to the label.
func (f *fitting) interval(p *part, c, j int, lo, hi, sigma float64) (x Interval, winkler float64) {
	label, last := float64(p.of(c)[j]), float64(f.levels)
	lower, upper := label+min(lo, 0)*sigma, label+max(hi, 0)*sigma
	if f.Code.Circular() {
		x = Interval{label + f.Code.Between(label, f.Samples.Exact[p.samples[j]]), label, max(lower, label-last/2),
			min(upper, label+last/2)}
		return x, x.winkler()
	}
	x = Interval{f.Samples.Exact[p.samples[j]], label, min(label, max(lower, 1)), max(label, min(upper, last))}
	return x, x.winkler()
}

// winkler is its Winkler score.
func (x Interval) winkler() float64 {
	return x.Upper - x.Lower + 2/(1-judgedAt)*max(x.Lower-x.Target, x.Target-x.Upper, 0)
}

// judgeIntervals judges intervals. inner are the parts for calibration by the fold that is judged,
// and chosen its candidate.
func (f *fitting) judgeIntervals(parts, inner [][]*part, chosen []int) *Intervals {
	type judged struct{ sigma, inside float64 }
	var all []judged
	var coverage, width, winkler, constant observed.Sums
	levels, held := make([]uint64, f.levels), make([]uint64, f.levels) // samples, and those inside
	lowest := 1.0
	if f.Values != nil {
		lowest = f.Values[0]
	}
	label := func(level float64) float64 { return lowest + (level-1)*f.Width }
	out := &Intervals{Confidence: judgedAt, Worst: 1}
	for o, c := range chosen {
		p, with := parts[o][o], f.calibrate(inner[o], c)
		lo, hi, _ := quantiles(with.residuals, judgedAt)
		flatLo, flatHi, _ := quantiles(f.withFloor(inner[o], c, math.NaN()).residuals, judgedAt)
		for j, i := range p.samples {
			sigma, inside := p.sigma(c, j, with.floor), uint64(0)
			x, own := f.interval(p, c, j, lo, hi, sigma)
			_, flat := f.interval(p, c, j, flatLo, flatHi, 1)
			if x.Lower <= x.Target && x.Target <= x.Upper {
				inside = 1
			}
			level := f.Samples.Level[i] - 1
			levels[level]++
			held[level] += inside
			out.Samples = append(out.Samples, Interval{label(x.Target), label(x.Label), label(x.Lower), label(x.Upper)})
			all = append(all, judged{sigma, float64(inside)})
			coverage.Add(float64(inside))
			width.Add(x.Upper - x.Lower)
			winkler.Add(own)
			constant.Add(flat)
		}
	}
	share := coverage.Error()
	out.Calibration, out.Coverage, out.CoverageSE = len(out.Samples), share.Mean, share.StdErr
	out.Width, out.Winkler = f.Width*width.Error().Mean, f.Width*winkler.Error().Mean
	out.Constant, out.Levels = f.Width*constant.Error().Mean, coverageByLevel(levels, held)
	slices.SortStableFunc(all, func(a, b judged) int { return cmp.Compare(a.sigma, b.sigma) })
	const fifths = 5
	for k := range fifths {
		inside, fifth := 0.0, all[k*len(all)/fifths:(k+1)*len(all)/fifths]
		for _, x := range fifth {
			inside += x.inside
		}
		out.Worst = min(out.Worst, inside/float64(len(fifth)))
	}
	return out
}
