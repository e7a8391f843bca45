package forecast

import (
	"fmt"
	"math"
	"strings"

	"belsim/errmodel/observed"
	"belsim/errmodel/perceived"
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
	// OnLevels says that labels are those levels themselves, as whole numbers are whose range makes
	// each a level.
	OnLevels bool
}

// within is the variance of the labels within a level; 0 where labels are levels, as without any.
func (l *Labels) within() float64 {
	if l == nil || l.OnLevels {
		return 0
	}
	return perceived.WithinLevel
}

// width is the width of a level, in label units, where there are so many: (Hi − Lo)/(L−1), so
// that Lo is level 1 and Hi is the last one.
func (l Labels) width(levels int) float64 {
	return observed.Labels{Levels: levels, Real: true, Lo: l.Lo, Hi: l.Hi}.Width()
}

// DefaultMisfit is the misfit η of networks, in label units, for every number of levels: a quarter
// of a level where there are 64. Most of the networks that chose perceived.DefaultMisfit have 64.
// What a network cannot fit belongs to the network, and not to the levels. From the error of unary
// with 256 levels of diamonds, it forecasts easy codes with 32 to 128 levels within 2 %. The same
// misfit in levels makes these forecasts up to 5 % too large.
func (l Labels) DefaultMisfit() float64 { return perceived.DefaultMisfit * l.width(64) }

// LabelKind says what true labels are.
type LabelKind string

// The kinds of labels.
const (
	LevelLabels LabelKind = "levels"     // levels, from 1 to L
	RealLabels  LabelKind = "continuous" // real numbers
)

// Kind says what the labels are.
func (l Labels) Kind() LabelKind {
	if l.OnLevels {
		return LevelLabels
	}
	return RealLabels
}

// check refuses a range without a width, and counts of labels outside of it.
func (l Labels) check() error {
	if d := l.Hi - l.Lo; !(d > 0) || math.IsInf(d, 0) {
		return fmt.Errorf("labels from %v to %v: want finite numbers, the first below the second", l.Lo, l.Hi)
	}
	if l.Histogram == nil {
		return nil
	}
	for i, n := range l.Histogram.Counts {
		if at := float64(l.Histogram.Lowest + i); n > 0 && (at < l.Lo || at > l.Hi) {
			return fmt.Errorf("label %v lies outside the range %v to %v, the unit of histograms", at, l.Lo, l.Hi)
		}
	}
	return nil
}

// pieces are the labels in levels, where there are so many.
func (l Labels) pieces(levels int) []perceived.Uniform {
	var out []perceived.Uniform
	width := l.width(levels)
	add := func(at, half, share float64) {
		if share > 0 {
			out = append(out, perceived.Uniform{From: (max(at-half, l.Lo)-l.Lo)/width + 1,
				To: (min(at+half, l.Hi)-l.Lo)/width + 1, Share: share})
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
		own := l.width(len(l.Shares))
		half := own / 2
		if l.OnLevels {
			half = 0
		}
		for i, share := range l.Shares {
			add(l.Lo+own*float64(i), half, share)
		}
	default:
		return []perceived.Uniform{{From: 1, To: float64(levels), Share: 1}}
	}
	return out
}

// Prior is the share of the labels that are nearest to each of so many levels.
func (l Labels) Prior(levels int) []float64 {
	out := make([]float64, levels)
	for _, p := range l.pieces(levels) {
		first, last := nearest(p.From, levels), nearest(p.To, levels)
		if p.From == p.To {
			out[first-1] += p.Share
			continue
		}
		for n := first; n <= last; n++ {
			out[n-1] += p.Share * max(min(p.To, float64(n)+0.5)-max(p.From, float64(n)-0.5), 0) / (p.To - p.From)
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
		if p.From == p.To {
			sum += p.Share * math.Abs(p.From-math.Round(p.From))
			continue
		}
		sum += p.Share * (distances(p.To) - distances(p.From)) / (p.To - p.From)
	}
	return sum
}

// leastError is the smallest error of unary, in levels, that forecasts are made from. Of labels that
// are levels, smaller errors are so rare that the model's uncertainty spans the whole range.
const leastError = 0.05

// distances is an antiderivative of the distance of a number from the nearest integer.
func distances(y float64) float64 {
	n := math.Round(y)
	u := y - n
	return n/4 + u*math.Abs(u)/2
}

// list writes numbers of levels for people.
func list(levels []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(levels), " ", ", "), "[]")
}
