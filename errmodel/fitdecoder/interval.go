package fitdecoder

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"belsim/errmodel/observed"
	"belsim/theory/code"
	"belsim/theory/decode"
)

// Intervals are those of split conformal prediction. A sample's residual is (target − label)/sigma, and sigma is what the decoder's
// distribution over the levels says of the error: √(variance of the level's value + variance of a label within its level). The ends of
// an interval are label + q·sigma, with a quantile q of the residuals of the calibration samples for each side. The decoder that
// labelled a calibration sample was fitted to others (cross-fitting). Where samples are exchangeable, each side is passed by
// a share of (1 − confidence)/2 of new ones at most, whatever sigma is worth; a good one makes intervals narrow.

// Judged is the confidence of the intervals that Fit judges.
const Judged = 0.9

// Interval returns the ends of the intervals of a confidence as decoders. They lie within the labels of
// the levels. The error says that the decoder has no calibration, or too few calibration samples.
func (d *Decoder) Interval(confidence float64) (lower, upper decode.RealDecoder, err error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, nil, fmt.Errorf("confidence %v: want a number between 0 and 1, such as 0.9", confidence)
	}
	if d.residuals == nil {
		return nil, nil, errors.New("the decoder has no calibration, which intervals need: an older version of belsim made it; 'belsim fit --fit-decoder -o FILE.npz' makes one with it")
	}
	lo, hi, ok := quantiles(d.residuals, confidence)
	if !ok {
		n := len(d.residuals)
		return nil, nil, fmt.Errorf("confidence %v needs %.0f calibration samples, and the decoder has %d: want at most %v",
			confidence, math.Ceil(2/(1-confidence)-1-rounding), n, math.Floor(1e4*(1-2/float64(n+1)))/1e4)
	}
	return bound{d, lo}, bound{d, hi}, nil
}

// rounding is what products of small numbers and confidences depart by, and more.
const rounding = 1e-9

// quantiles are the ⌈(n+1)(1+confidence)/2⌉-th of n residuals, which ascend, from either end. They are not ok where there are too few.
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
	return b.clip(b.Decoder.DecodeLogits(z) + float64(b.multiple*b.sigma(z)))
}

// Value implements decode.RealDecoder.
func (b bound) Value(word []uint64) float64 { return b.DecodeLogits(b.signs(word)) }

// clip puts an end of an interval into the range of the labels of the levels.
func (d *Decoder) clip(v float64) float64 { return min(max(v, d.values[0]), d.values[len(d.values)-1]) }

// sigmaOf is a decoder whose answers are sigmas.
type sigmaOf struct{ *Decoder }

func (s sigmaOf) DecodeLogits(z []float64) float64 { return s.sigma(z) }
func (s sigmaOf) Value(word []uint64) float64      { return s.sigma(s.signs(word)) }

// sigma is the standard deviation of the label given the outputs.
func (d *Decoder) sigma(z []float64) float64 {
	w := make([]float64, len(d.values))
	if d.sorted {
		sortedSigmoids(w, z)
	} else {
		d.scores.ScoresTo(w, z)
		decode.MedianAndMean(w, nil)
	}
	return spread(w, d.values, d.within)
}

// sortedSigmoids sets w to the distribution over the levels that bits of the unary code have, each trained by itself: the sigmoids are
// the probabilities that the label is above each level, once they descend.
func sortedSigmoids(w, z []float64) {
	above := make([]float64, len(z))
	for k, v := range z {
		above[k] = 1 / (1 + math.Exp(-v))
	}
	slices.SortFunc(above, func(a, b float64) int { return cmp.Compare(b, a) })
	before := 1.0
	for k, p := range above {
		w[k], before = before-p, p
	}
	w[len(z)] = before
}

// spread is the standard deviation of a label whose level has the distribution w, up to a factor. within are the variances of labels of
// one level.
func spread(w, values, within []float64) float64 {
	total, mean, variance := 0.0, 0.0, 0.0
	for i, p := range w {
		total += p
		mean += float64(p * values[i])
	}
	mean /= total
	for i, p := range w {
		if p > 0 {
			d := values[i] - mean
			variance += float64(p * (float64(d*d) + within[i]))
		}
	}
	return math.Sqrt(variance / total)
}

// variancesWithin are those of labels that are spread evenly over each level, which reaches half the way to its neighbours.
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

// Interval is a sample with its interval, in levels.
type Interval struct{ Target, Label, Lower, Upper float64 }

// Intervals judge the intervals of the confidence Judged. Every sample is judged by a decoder that was chosen, fitted and calibrated with
// the other folds.
type Intervals struct {
	Samples         []Interval
	Coverage        observed.Error // share of the targets that lie inside
	Width           observed.Error // in levels
	Winkler         observed.Error // width + 2/(1 − confidence) times the distance of a target outside, in levels: small is good
	ConstantWinkler float64        // that of intervals with the same sigma for all samples
	// Worst is the smallest coverage of the five fifths of samples by their sigma.
	Worst float64
}

// judgeIntervals judges intervals. inner are the parts for calibration by the fold that is judged, and chosen its candidate.
func (f *fitting) judgeIntervals(parts, inner [][]*part, chosen []int) *Intervals {
	type judged struct {
		sigma  float64
		inside float64
	}
	var all []judged
	var coverage, width, winkler, constant observed.Sums
	out := &Intervals{}
	last := float64(f.levels)
	for o, c := range chosen {
		p := parts[o][o]
		lo, hi, _ := quantiles(f.residuals(inner[o], c, true), Judged)
		flatLo, flatHi, _ := quantiles(f.residuals(inner[o], c, false), Judged)
		for j, i := range p.samples {
			y, label, sigma := f.Samples.Exact[i], float64(p.of(c)[j]), float64(p.sigmas(c)[j])
			score := func(lo, hi float64) (x Interval, inside, winkler float64) {
				x = Interval{y, label, min(max(label+lo, 1), last), min(max(label+hi, 1), last)}
				outside := max(x.Lower-y, y-x.Upper, 0)
				if outside == 0 {
					inside = 1
				}
				return x, inside, x.Upper - x.Lower + 2/(1-Judged)*outside
			}
			x, inside, own := score(lo*sigma, hi*sigma)
			_, _, flat := score(flatLo, flatHi)
			out.Samples = append(out.Samples, x)
			all = append(all, judged{sigma, inside})
			coverage.Add(inside)
			width.Add(x.Upper - x.Lower)
			winkler.Add(own)
			constant.Add(flat)
		}
	}
	out.Coverage, out.Width, out.Winkler, out.ConstantWinkler = coverage.Error(), width.Error(), winkler.Error(), constant.Error().Mean
	slices.SortStableFunc(all, func(a, b judged) int { return cmp.Compare(a.sigma, b.sigma) })
	out.Worst = 1
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

// residuals are those of a candidate over some parts, ascending; scaled by sigma or not.
func (f *fitting) residuals(parts []*part, c int, scaled bool) []float64 {
	var out []float64
	for _, p := range parts {
		labels, sigmas := p.of(c), p.sigmas(c)
		for j, i := range p.samples {
			r := f.Samples.Exact[i] - float64(labels[j])
			if scaled {
				r /= float64(sigmas[j])
			}
			out = append(out, r)
		}
	}
	slices.Sort(out)
	return out
}
