package forecast

import (
	"fmt"
	"math"
	"strings"

	"belsim/errmodel"
	"belsim/errmodel/observed"
	"belsim/theory"
)

// Labels are the real labels of a task, in label units: from Lo to Hi, uniform, or as a histogram
// counts them.
type Labels struct {
	Lo, Hi float64
	// Histogram counts labels in label units, which are uniform within half a unit around each
	// integer; nil for labels that are uniform.
	Histogram *theory.Histogram
	// Shares are those of equally wide levels, of which the first is around Lo and the last around
	// Hi, where there is no histogram; nil for labels that are uniform.
	Shares []float64
}

// Width is the width of a level, in label units, where there are so many: (Hi − Lo)/(L−1), so
// that Lo is level 1 and Hi is the last one.
func (l Labels) Width(levels int) float64 {
	return observed.Labels{Levels: levels, Real: true, Lo: l.Lo, Hi: l.Hi}.Width()
}

// DefaultMisfit is the misfit η of networks, in label units: a quarter of a level where there are
// 64, as in most of the networks that chose errmodel.DefaultMisfit. What a network cannot fit
// belongs to the network, so it is the same for every number of levels. (From the error of unary
// with 256 levels of diamonds, the errors of easy codes with 32 to 128 levels come out within 2 %
// so, and up to 5 % too large with the same misfit in levels.)
func (l Labels) DefaultMisfit() float64 { return errmodel.DefaultMisfit * l.Width(64) }

// Check refuses a range without a width, and counts of labels outside of it.
func (l Labels) Check() error {
	if d := l.Hi - l.Lo; !(d > 0) || math.IsInf(d, 0) {
		return fmt.Errorf("labels from %v to %v: want finite numbers, the first below the second", l.Lo, l.Hi)
	}
	if l.Histogram == nil {
		return nil
	}
	for i, n := range l.Histogram.Counts {
		if at := float64(l.Histogram.Lowest + i); n > 0 && (at < l.Lo || at > l.Hi) {
			return fmt.Errorf("label %v lies outside the range %v to %v; with a range, histograms count labels in label units", at, l.Lo, l.Hi)
		}
	}
	return nil
}

// piece is an interval over which labels are uniform, in levels, and its share of them.
type piece struct{ from, to, share float64 }

// pieces are the labels in levels, where there are so many.
func (l Labels) pieces(levels int) []piece {
	var out []piece
	width := l.Width(levels)
	add := func(at, half, share float64) {
		if share > 0 {
			out = append(out, piece{(max(at-half, l.Lo)-l.Lo)/width + 1, (min(at+half, l.Hi)-l.Lo)/width + 1, share})
		}
	}
	switch {
	case l.Histogram != nil:
		total := 0.0
		for _, n := range l.Histogram.Counts {
			total += n
		}
		for i, n := range l.Histogram.Counts {
			add(float64(l.Histogram.Lowest+i), 0.5, n/total)
		}
	case l.Shares != nil:
		own := l.Width(len(l.Shares))
		for i, share := range l.Shares {
			add(l.Lo+own*float64(i), own/2, share)
		}
	default:
		return []piece{{1, float64(levels), 1}}
	}
	return out
}

// prior is the share of each level, of so many: of the labels that are nearest to it.
func (l Labels) prior(levels int) []float64 {
	out := make([]float64, levels)
	for _, p := range l.pieces(levels) {
		first, last := nearest(p.from, levels), nearest(p.to, levels)
		for n := first; n <= last; n++ {
			out[n-1] += p.share * max(min(p.to, float64(n)+0.5)-max(p.from, float64(n)-0.5), 0) / (p.to - p.from)
		}
	}
	return out
}

// nearest is the level nearest to a label.
func nearest(y float64, levels int) int { return min(max(int(math.Round(y)), 1), levels) }

// quantization is the mean distance of a label from the nearest of so many levels, in levels: a
// quarter where the labels are uniform.
func (l Labels) quantization(levels int) float64 {
	sum := 0.0
	for _, p := range l.pieces(levels) {
		sum += p.share * (distances(p.to) - distances(p.from)) / (p.to - p.from)
	}
	return sum
}

// distances is an antiderivative of the distance of a number from the nearest integer.
func distances(y float64) float64 {
	n := math.Round(y)
	u := y - n
	return n/4 + u*math.Abs(u)/2
}

// between are the places of p with the real labels themselves instead of levels: label i is the
// quantile at (i + ½)/N.
func (p *Places) between(labels []piece) *Places {
	out := *p
	out.label = make([]float64, len(p.level))
	k, below := 0, 0.0
	for i := range out.label {
		at := (float64(i) + 0.5) / float64(len(out.label))
		for at > below+labels[k].share && k < len(labels)-1 {
			below += labels[k].share
			k++
		}
		q := labels[k]
		out.label[i] = q.from + (q.to-q.from)*min((at-below)/q.share, 1)
	}
	return &out
}

// NoiseAround is the noise around the real label, in label units, where s is the noise around its level, in
// levels of so many: 0 where s is no more than the spread of labels within a level.
func (l Labels) NoiseAround(levels int, s float64) float64 {
	return l.Width(levels) * math.Sqrt(max(s*s-withinLevel, 0))
}

// withinLevel is the variance of a label within its level, in levels².
const withinLevel = 1. / 12

// noisy is a learner whose perceived label has another noise.
type noisy struct {
	Learner
	s float64
}

// Noise implements Learner.
func (n noisy) Noise() float64 { return n.s }

// list writes numbers of levels for people.
func list(levels []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ", "), "[]")
}
